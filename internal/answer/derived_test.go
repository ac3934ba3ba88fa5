package answer

import (
	"slices"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// answered logs an answer of Hark's in the lobby that was made from sources.
func (w *world) answered(ago time.Duration, text string, sources ...memory.Source) memory.MessageID {
	w.t.Helper()
	id := w.says(ago, lobby, oracle, text)
	w.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: lobby, Answer: id, Asker: ann,
		Sources: sources}})
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
		w.apply(memory.Answered{Trace: trace})
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

// What was made from an answer isn't repeated once that is written anew, whatever it is made from then.
func TestNothingRepeatsWhatWasWrittenAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.engine = w.over(w.store, nil, builder.Options{Citations: true}, Options{Long: w.notice})
	said := w.says(day, harbor, ben, "zebras eat oats")
	begun := w.says(9*time.Minute, lobby, ann, "fodder?")
	own := w.answered(8*time.Minute, "In the vaultmark", source(harbor, said))
	w.answered(7*time.Minute, "As I said, in the vaultmark", source(lobby, own))
	w.tells(1, "So", "is the vaultmark", ben, 0, memory.Spot{Channel: lobby, Message: own})
	w.apply(memory.SessionCondensed{Condensed: memory.Condensed{Guild: guild, Channel: lobby, Until: own,
		Text: "They spoke of the vaultmark.", Made: noon, Model: "m",
		Sources: []memory.SummarySource{{Message: begun}, {Message: own}}}})
	q := w.asks(lobby, "So?")
	has(t, w.prompt(q), "They spoke of the vaultmark.", "As I said", "is the vaultmark")
	w.structure(memory.ViewChannel)
	hasNot(t, w.whole(q), "vaultmark")
	w.apply(memory.Rewritten{Guild: guild, Channel: lobby, IDs: []memory.MessageID{own}},
		memory.Posted{Message: memory.Message{ID: own, Guild: guild, Channel: lobby, Author: oracle,
			Kind: memory.FromHark, Content: "I don't know.", Edited: noon}},
		memory.Answered{Trace: memory.Trace{Guild: guild, Channel: lobby, Answer: own, Asker: ann}})
	has(t, w.prompt(q), "I don't know.")
	hasNot(t, w.whole(q), "vaultmark")
}

// Nothing tells whom what was found for a question may be told to, so that its record doesn't count it.
func TestRecordsOfQuestionsCountNothing(t *testing.T) {
	t.Parallel()
	asked := []memory.Record{{CallID: "c", Speaker: memory.SpeakerUser, Method: MethodAsk,
		Outcome: "40 messages recalled"}}
	for _, records := range [][]memory.Record{asked, nil} {
		events := Called(records, memory.Trace{Guild: guild, Channel: lobby, Question: 7, Asker: ann}, noon)
		if len(events) != 1 || events[0].(memory.Called).Record.Outcome != "not answered" {
			t.Errorf("recorded %+v", events)
		}
	}
	w := newWorld(t, nil)
	w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if !slices.Equal(outcomesOf(a.Records), []string{"", "quoted, 1 source"}) {
		t.Errorf("recorded %+v", a.Records)
	}
}
