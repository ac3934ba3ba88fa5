package ingest

import (
	"testing"
	"time"

	"hark/bot/discord"
	"hark/memory"
)

// A pin and a preview come with the time of an edit that may be long ago.
func TestOldEditsAskNothing(t *testing.T) {
	t.Parallel()
	sent := memory.MessageID(1 << 40)
	text := "<@1> when?"
	for _, test := range []struct {
		edited, heard time.Duration
		asks          bool
	}{
		{time.Second, time.Second, true},
		{EditedWithin, 2 * EditedWithin, true}, // the clocks may differ, and the connection may have been away
		{EditedWithin, EditedWithin - time.Hour, true},
		{EditedWithin + time.Millisecond, 2 * EditedWithin, false},
		{time.Second, 2*EditedWithin + 2*time.Second, false},
		{time.Second, 24 * time.Hour, false},
	} {
		c := newConverter(1, false, func() time.Time { return sent.Time().Add(test.heard) })
		w := &discord.Message{ID: discord.Snowflake(sent), Channel: 3, Guild: 2, Content: &text,
			Edited: sent.Time().Add(test.edited)}
		if a := c.edited(w); (a != nil) != test.asks {
			t.Errorf("edited after %v, heard of after %v: %+v", test.edited, test.heard, a)
		}
	}
}

// What the answers to one question took is counted each by itself, when it is asked anew.
func TestAskingAnewIsCountedByItself(t *testing.T) {
	t.Parallel()
	first := &Question{ID: memory.FirstMessageID(time.UnixMilli(1_790_000_000_000)) + 7}
	anew := first.WithText(&Question{Text: "where?", At: first.When().Add(1500 * time.Millisecond)})
	if first.Account() != first.ID || anew.Account() == first.ID || !anew.Account().Time().Equal(anew.When()) {
		t.Errorf("counted under %d and %d, of %v", first.Account(), anew.Account(), anew.Account().Time())
	}
}
