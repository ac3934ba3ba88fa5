package discord

import (
	"testing"

	"hark/internal/golden"
	"hark/memory"
)

func TestInviteURL(t *testing.T) {
	t.Parallel()
	for _, link := range []string{InviteURL("5", 0), GrantURL("5", 0, memory.Connect), InviteURL("5", 7)} {
		golden.Seen(t, link)
	}
	if link := new(Grants).Link(5, 0); link != "" {
		t.Errorf("before Discord has told who Hark is, the link is %q", link)
	}
}
