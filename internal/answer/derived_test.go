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
	if err := w.store.KeepTrace(w.t.Context(), memory.Trace{Guild: guild, Channel: lobby, Answer: id, Asker: ann, Sources: sources}); err != nil {
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
		first, more := w.says(3*time.Minute, lobby, oracle, tt.words+" begin"), w.says(2*time.Minute, lobby, oracle, tt.words+" end")
		trace := memory.Trace{Guild: guild, Channel: lobby, Answer: first, Parts: []memory.MessageID{more}, Sources: []memory.Source{source(tt.channel, from)}}
		if err := w.store.KeepTrace(t.Context(), trace); err != nil {
			t.Fatal(err)
		}
	}
	p := w.prompt(w.asks(lobby, "So?"))
	has(t, p, "open begin", "open end")
	hasNot(t, p, "closed begin", "closed end")
}

func TestForgottenMessagesLeaveAnswersMadeFromThem(t *testing.T) {
	t.Parallel()
	changes := map[string]func(id memory.MessageID, channel memory.ChannelID) memory.Event{
		"deleted": func(id memory.MessageID, channel memory.ChannelID) memory.Event {
			return memory.Deleted{Guild: guild, Channel: channel, IDs: []memory.MessageID{id}}
		},
		"edited": func(id memory.MessageID, channel memory.ChannelID) memory.Event {
			return memory.Edited{Guild: guild, Channel: channel, ID: id, Content: "Nothing to see", At: noon.Add(time.Minute)}
		},
	}
	for change, event := range changes {
		for _, kind := range []string{"hit", "neighbour", "session", "reply", "question"} {
			t.Run(change+" "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, &scripted{pieces: []string{"It is swordfish [1]."}})
				ids := map[string]memory.MessageID{}
				channels := map[string]memory.ChannelID{"hit": harbor, "neighbour": harbor, "session": lobby, "reply": lobby, "question": lobby}
				ids["hit"] = w.says(day, harbor, ben, "The lighthouse password is swordfish")
				ids["neighbour"] = w.says(day-time.Minute, harbor, cleo, "swordfish rhymes with gourdish")
				ids["reply"] = w.says(20*day, lobby, cleo, "swordfish are big")
				ids["session"] = w.says(time.Minute, lobby, ben, "something with swordfish")
				q := w.asks(lobby, "What is the lighthouse password, swordfish?")
				q.ReplyTo = ids["reply"]
				ids["question"] = q.ID
				first := w.gives(q, -time.Minute)
				next := w.asks(lobby, "And now?")
				next.ID, next.Now = memory.FirstMessageID(noon.Add(2*time.Minute)), noon.Add(2*time.Minute)
				has(t, w.prompt(next), "It is swordfish (1).")
				w.apply(event(ids[kind], channels[kind]))
				hasNot(t, w.prompt(next), "It is swordfish (1).")
				if left, err := w.store.Messages(t.Context(), lobby, []memory.MessageID{first}); err != nil || len(left) > 0 {
					t.Errorf("the answer is still there: %v, %v", left, err)
				}
			})
		}
	}
}

func TestEditsAndDeletesAreInTheNextContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	edited := w.says(day, harbor, ben, "The lighthouse password is swordfish")
	deleted := w.says(2*day, harbor, cleo, "The lighthouse password was marlin")
	q := w.asks(lobby, "What is the lighthouse password?")
	has(t, w.whole(q), "swordfish", "marlin")
	w.apply(memory.Edited{Guild: guild, Channel: harbor, ID: edited, Content: "The lighthouse password is tuna", At: noon},
		memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{deleted}})
	all := w.whole(q)
	has(t, all, "tuna")
	hasNot(t, all, "swordfish", "marlin", deleted.String())
}
