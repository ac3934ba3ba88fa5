package discord

import (
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/memory"
)

func TestInvitationAsksForWhatTheLinkGives(t *testing.T) {
	t.Parallel()
	if link := InviteURL("1", 0); !strings.Contains(link, "&permissions=274878008320") { // of the README
		t.Errorf("the link is %s", link)
	}
	var g Grants
	if link := g.Link(5, 0); link != "" {
		t.Errorf("before Discord has told who Hark is, the link is %q", link)
	}
}

func TestInviteURL(t *testing.T) {
	t.Parallel()
	for _, link := range []string{InviteURL("5", 0), GrantURL("5", 0, memory.Connect), InviteURL("5", 7)} {
		golden.Seen(t, link)
	}
}
