package answer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hark/memory"
)

// forwards has Ann forward what Ben said in a channel to the lobby.
func (w *world) forwards(from memory.ChannelID, text string) (original, copied memory.MessageID) {
	w.t.Helper()
	original = w.says(9*day, from, ben, text)
	copied = w.posts(8*day, memory.Message{
		Guild: guild, Channel: lobby, Author: ann, Content: "[forwarded] " + text,
		Original: memory.Original{Guild: guild, Channel: from, Message: original},
	})
	return original, copied
}

func TestForwardsAreCitedByTheirOriginalWhereAllMayReadIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		from   memory.ChannelID
		asked  memory.ChannelID
		cites  string
		prompt string
	}{
		{"a source that all can read", harbor, lobby, "Ben, #harbor, 2024-06-06", "[forwarded, written by Ben in #harbor] the"},
		{"a private source", vault, lobby, "forwarded by Ann, #lobby, 2024-06-07", ": [forwarded] the"},
		{"a private source, among those who can read it", vault, vault, "Ben, #vault, 2024-06-06",
			"[forwarded, written by Ben in #vault] the"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			original, copied := w.forwards(c.from, "the lighthouse password is swordfish")
			q := w.asks(c.asked, "What is the lighthouse password?")
			has(t, w.prompt(q), c.prompt)
			a := w.answer(q)
			var cited string
			for _, s := range a.Sources {
				if s.Message == copied {
					cited = fmt.Sprintf("%s, #%s, %s", s.By(), s.Place, s.Time.Format(time.DateOnly))
					isOriginal := s.JumpTo() == memory.MessageRef{Channel: c.from, Message: original}
					if isOriginal == s.Forwarded {
						t.Errorf("links to %+v", s.JumpTo())
					}
				}
			}
			if cited != c.cites {
				t.Errorf("cites %q; want %q\n%s", cited, c.cites, a.Text)
			}
			name, _, _ := strings.Cut(c.cites, ",")
			has(t, a.Text, strings.ReplaceAll(name, "by ", "by **"))
			sources := fmt.Sprint(a.Trace.Sources)
			if told := strings.Contains(sources, original.String()); told == strings.HasPrefix(c.cites, "forwarded") {
				t.Errorf("the original is a source: %v", told)
			}
			if strings.HasPrefix(c.cites, "forwarded") {
				hasNot(t, w.whole(q), "vault", original.String())
			}
		})
	}
}

func TestAnAnswerThatNamesAnOriginalIsTakenBackOnceItIsClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.forwards(harbor, "the lighthouse password is swordfish")
	w.engine.model = &scripted{pieces: []string{"It is swordfish [1] [2]."}, before: func() { w.structure(memory.ViewChannel) }}
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	hasNot(t, a.Text+fmt.Sprint(a.Sources), "Ben", "harbor", "swordfish")
}
