package answer

import (
	"testing"
	"time"

	"hark/memory"
)

// answered logs an answer of Hark's in the lobby that was made from sources.
func (w *world) answered(ago time.Duration, text string, sources ...memory.TraceHit) memory.MessageID {
	w.t.Helper()
	id := w.says(ago, lobby, oracle, text)
	if err := w.store.KeepTrace(w.t.Context(), memory.Trace{Guild: guild, Channel: lobby, Answer: id, Asker: ann, Recalled: sources}); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func source(channel memory.ChannelID, id memory.MessageID) memory.TraceHit {
	return memory.TraceHit{Channel: channel, Message: id, Context: true}
}

func TestAllPartsOfALongAnswerAreJudgedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tt := range []struct {
		channel memory.ChannelID
		words   string
	}{{harbor, "open"}, {vault, "closed"}} {
		from := w.says(day, tt.channel, ben, "talk")
		first, more := w.says(3*time.Minute, lobby, oracle, tt.words+" begin"), w.says(2*time.Minute, lobby, oracle, tt.words+" end")
		trace := memory.Trace{Guild: guild, Channel: lobby, Answer: first, Parts: []memory.MessageID{more}, Recalled: []memory.TraceHit{source(tt.channel, from)}}
		if err := w.store.KeepTrace(t.Context(), trace); err != nil {
			t.Fatal(err)
		}
	}
	p := w.prompt(w.asks(lobby, "So?"))
	has(t, p, "open begin", "open end")
	hasNot(t, p, "closed begin", "closed end")
}
