package command

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hark/bot/reply"
	"hark/memory"
)

// What a button says of its answer is read as it was written, and is short enough for Discord.
func TestButtonIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Int64Range(1, 1<<63-1)
		o := reply.Owned{Asker: memory.UserID(id.Draw(t, "asker")), Question: memory.MessageID(id.Draw(t, "question"))}
		for n, first := rapid.IntRange(0, 20).Draw(t, "messages"),
			rapid.Int64Range(1, 1<<62).Draw(t, "first"); len(o.Before) < n; {
			o.Before = append(o.Before, memory.MessageID(first))
			first += rapid.Int64Range(1, 600_000<<22).Draw(t, "later")
		}
		text := o.ID(reply.ButtonSources)
		x := &interaction{}
		x.Data.CustomID = text
		got := ownedBy(x)
		if len(text) > 100 || got.Asker != o.Asker || got.Question != o.Question ||
			len(got.Before) > len(o.Before) || len(got.Before) < min(4, len(o.Before)) ||
			!slices.Equal(got.Before, o.Before[:len(got.Before)]) {
			t.Fatalf("%+v became %q and then %+v", o, text, got)
		}
	})
	for _, id := range []string{"stop", "stop:1", "stop:!:1", "stop:1:", ""} {
		x := &interaction{}
		x.Data.CustomID = id
		if got := ownedBy(x); got.Asker != 0 {
			t.Errorf("%q is %+v", id, got)
		}
	}
}
