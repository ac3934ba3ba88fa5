package answer

import (
	"testing"
	"time"

	"hark/memory"
)

// answered logs an answer of Hark's in the lobby that was made from sources.
func (w *world) answered(ago time.Duration, text string, sources ...memory.Source) memory.MessageID {
	w.t.Helper()
	id := w.says(ago, lobby, oracle, text)
	if err := w.store.Apply(w.t.Context(),
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: lobby, Answer: id, Asker: ann,
			Sources: sources}}); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func source(channel memory.ChannelID, id memory.MessageID) memory.Source {
	return memory.Message{Channel: channel, ID: id}.AsSource(true)
}

func TestAllPartsOfALongAnswerAreJudgedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tt := range []struct {
		channel memory.ChannelID
		words   string
	}{{harbor, "open"}, {vault, "closed"}} {
		from := w.says(day, tt.channel, ben, "talk")
		first, more := w.says(3*time.Minute, lobby, oracle, tt.words+" begin"),
			w.says(2*time.Minute, lobby, oracle, tt.words+" end")
		trace := memory.Trace{Guild: guild, Channel: lobby, Answer: first, Parts: []memory.MessageID{more},
			Sources: []memory.Source{source(tt.channel, from)}}
		if err := w.store.Apply(t.Context(), memory.Answered{Trace: trace}); err != nil {
			t.Fatal(err)
		}
	}
	p := w.prompt(w.asks(lobby, "So?"))
	has(t, p, "open begin", "open end")
	hasNot(t, p, "closed begin", "closed end")
}

// What was answered in the parent channel carries its audience into the answers of a thread that begins from it.
func TestAnswersFromAnAnswerElsewhereCarryItsAudience(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &scripted{pieces: []string{"As said above, VAULT."}})
	w.noise()
	first := w.answered(2*time.Hour, "As they say, vaultmark",
		source(harbor, w.says(60*day, harbor, ben, "zebras eat oats")))
	thread := memory.ChannelID(first)
	w.apply(memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: lobby,
		Kind: memory.PublicThread, Name: "pw"}})
	w.gives(w.asks(thread, "So?"), time.Minute)
	next := w.asks(thread, "And now?")
	next.ID, next.Now = memory.FirstMessageID(noon.Add(2*time.Minute)), noon.Add(2*time.Minute)
	has(t, w.prompt(next), "As said above")
	w.structure(memory.ViewChannel)
	hasNot(t, w.prompt(next), "vaultmark", "As said above")
}
