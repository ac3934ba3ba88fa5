package reply

import (
	"testing"

	"hark/memory"
)

func TestSessionUnchanged(t *testing.T) {
	t.Parallel()
	m := func(id memory.MessageID, text string) memory.Message {
		return memory.Message{ID: id, Content: text}
	}
	was := []memory.Message{m(1, "one"), m(2, "two"), m(3, "three")}
	for name, tt := range map[string]struct {
		now  []memory.Message
		want bool
	}{
		"as it was":    {was, true},
		"grown":        {append(was[:3:3], m(4, "four")), true},
		"trimmed":      {was[1:], true},
		"deleted":      {[]memory.Message{was[0], was[2]}, false},
		"last deleted": {was[:2], false},
		"changed":      {[]memory.Message{was[0], m(2, "zwei"), was[2]}, false},
		"gone":         {nil, false},
	} {
		if got := sessionUnchanged(was, tt.now); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !sessionUnchanged(nil, was) {
		t.Error("nothing doesn't stand")
	}
}
