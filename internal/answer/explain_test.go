package answer

import (
	"errors"
	"slices"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/golden"
	"hark/memory"
)

// explainedTo is how an answer came about, for somebody of those roles.
func (w *world) explainedTo(channel memory.ChannelID, id memory.MessageID, who memory.UserID,
	roles ...memory.RoleID) Explanation {
	w.t.Helper()
	if roles == nil {
		roles = []memory.RoleID{}
	}
	x, err := w.engine.Explain(w.t.Context(), Question{Guild: guild, Channel: channel, Asker: who, Roles: roles}, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

func textsIn(x Explanation) []string {
	texts := []string{}
	for _, r := range x.Recalled {
		texts = append(texts, r.Text)
	}
	slices.Sort(texts)
	return texts
}

func TestExplanationsTellWhatTheirViewerMayRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &scripted{pieces: []string{"It is tuna [1]."}})
	w.says(3*day, harbor, ben, "The lighthouse password is tuna")
	w.says(2*day, vault, cleo, "The lighthouse password is cod")
	q := w.asks(vault, "What is the lighthouse password?")
	q.Asker, q.Name = cleo, "Cleo"
	answer := w.gives(q, -time.Second)

	x := w.explainedTo(vault, answer, cleo, keepers)
	if got := textsIn(x); !slices.Equal(got, []string{"The lighthouse password is cod",
		"The lighthouse password is tuna"}) {
		t.Fatalf("a keeper is told %q", got)
	}
	if x.Trace.Model != "parrot-1" || x.Trace.Asker != cleo || x.Trace.Recalled != nil ||
		x.Trace.Sources != nil || x.Trace.Named != nil || len(x.Trace.Sections) == 0 {
		t.Errorf("told %+v", x.Trace)
	}
	cited := 0
	for _, r := range x.Recalled {
		if r.Source.Author == "" || r.Source.Place == "" || r.Source.Message != r.Message ||
			r.Source.Guild != guild || r.Changed {
			t.Errorf("told %+v", r)
		}
		if r.Cited {
			cited++
		}
		if r.Relevance <= 0 || len(r.Why) == 0 || r.Number == 0 {
			t.Errorf("how it mattered: %+v", r.TraceHit)
		}
	}
	if cited != 1 {
		t.Errorf("%d are cited", cited)
	}
	// Somebody who isn't a keeper any more.
	if got := textsIn(w.explainedTo(vault, answer, cleo)); !slices.Equal(got,
		[]string{"The lighthouse password is tuna"}) {
		t.Errorf("others are told %q", got)
	}
	w.structure(memory.ViewChannel)
	if got := textsIn(w.explainedTo(vault, answer, cleo)); len(got) != 0 {
		t.Errorf("who lost access is told %q", got)
	}
	w.structure(0)
	w.optsOut(ben)
	if x, err := w.engine.Explain(t.Context(), Question{Guild: guild, Channel: vault, Asker: cleo,
		Roles: []memory.RoleID{keepers}}, answer); !errors.Is(err, ErrNoTrace) {
		t.Errorf("once a source is forgotten: %+v, %v", x, err)
	}
}

func TestExplanationsShowWhatIsThereNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	dropped := w.says(3*day, harbor, ben, "The blue canoe leaks")
	w.says(2*day, harbor, ben, "The canoe is blue")
	a := w.answer(w.asks(lobby, "What of the blue canoe?"))
	a.Trace.Answer = w.posts(-time.Second, memory.Message{Guild: guild, Channel: lobby, Author: oracle,
		Kind: memory.FromHark, Content: a.Text})
	a.Trace.Parts = []memory.MessageID{w.posts(-2*time.Second, memory.Message{Guild: guild, Channel: lobby,
		Author: oracle, Kind: memory.FromHark, Content: "more"})}
	for i, hit := range a.Trace.Recalled { // as if there had been no room for it
		if hit.Message == dropped {
			a.Trace.Recalled[i].Number, a.Trace.Recalled[i].Context = 0, false
		}
	}
	a.Trace.Sources = slices.DeleteFunc(a.Trace.Sources, func(s memory.Source) bool { return s.ID == int64(dropped) })
	w.apply(memory.Answered{Trace: a.Trace})
	w.apply(memory.Edited{Guild: guild, Channel: harbor, ID: dropped, Content: "The canoe is mended", At: noon})
	x := w.explainedTo(lobby, a.Trace.Parts[0], ann)
	if got := textsIn(x); !slices.Equal(got, []string{"The canoe is blue", "The canoe is mended"}) {
		t.Errorf("told %q", got)
	}
	for _, r := range x.Recalled {
		if r.Changed != (r.Message == dropped) {
			t.Errorf("%q counts as changed: %t", r.Text, r.Changed)
		}
	}
	w.deletes(harbor, dropped)
	if got := textsIn(w.explainedTo(lobby, a.Trace.Answer, ann)); !slices.Equal(got, []string{"The canoe is blue"}) {
		t.Errorf("told %q of what was deleted", got)
	}
}

func TestExplanationsForTheOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(3*day, harbor, ben, "The lighthouse password is tuna")
	w.says(2*day, attic, cleo, "The lighthouse password is cod")
	w.says(2*day, bensDM, ben, "The lighthouse password is eel")
	q := w.asks(lobby, "What is the lighthouse password?")
	q.Operator, q.Everywhere = true, true
	a := w.gives(q, -time.Second)
	x, err := w.engine.Explain(t.Context(), Question{Guild: guild, Channel: lobby, Operator: true, Everywhere: true}, a)
	if err != nil {
		t.Fatal(err)
	}
	if got := textsIn(x); !slices.Equal(got, []string{"The lighthouse password is cod",
		"The lighthouse password is tuna"}) {
		t.Errorf("told %q", got)
	}
	if got := textsIn(w.explainedTo(lobby, a, ann)); slices.Contains(got, "The lighthouse password is cod") {
		t.Errorf("a member is told %q", got)
	}
}

func TestExplanationsThatThereAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(time.Hour, lobby, ben, "The canoe is blue")
	bare := w.posts(-time.Second, memory.Message{Guild: guild, Channel: lobby, Author: oracle, Kind: memory.FromHark})
	w.apply(memory.Answered{Trace: memory.Trace{Guild: guild, Channel: lobby, Answer: bare,
		Sources: []memory.Source{source(lobby, said)}}})
	sentence := ""
	for name, q := range map[string]Question{
		"of nothing":               {Guild: guild, Channel: lobby, Asker: ann},
		"elsewhere":                {Guild: guild, Channel: harbor, Asker: ann},
		"of what isn't logged":     {Guild: guild, Channel: lobby, Asker: ann, ID: bare},
		"as if in another channel": {Guild: memory.DirectGuild, Channel: lobby, Asker: ann, ID: bare},
	} {
		id := q.ID
		if id == 0 {
			id = said
		}
		_, err := w.engine.Explain(t.Context(), q, id)
		var told interface{ Sentence() string }
		if !errors.Is(err, ErrNoTrace) || !errors.As(err, &told) {
			t.Fatalf("%s: %v", name, err)
		}
		sentence = told.Sentence()
	}
	golden.Seen(t, sentence)
}

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

// An answer carries its audience into a thread that begins from it.
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
	next := w.asksAt(2*time.Minute, thread, "And now?")
	has(t, w.prompt(next), "As said above")
	w.structure(memory.ViewChannel)
	hasNot(t, w.prompt(next), "vaultmark", "As said above")
}

// What was made from an answer isn't repeated once that is rewritten.
func TestNothingRepeatsWhatWasWrittenAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.engine = w.over(w.store, nil, builder.Options{Citations: true}, Options{Long: w.notice})
	said := w.says(day, harbor, ben, "zebras eat oats")
	begun := w.says(9*time.Minute, lobby, ann, "fodder?")
	own := w.answered(8*time.Minute, "In the vaultmark", source(harbor, said))
	w.answered(7*time.Minute, "As I said, in the vaultmark", source(lobby, own))
	w.tells(1, "So", "is the vaultmark", ben, 0, memory.MessageRef{Channel: lobby, Message: own})
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

// A question's record counts nothing that was found, since nothing says who may know of it.
func TestRecordsOfQuestionsCountNothing(t *testing.T) {
	t.Parallel()
	asked := []memory.Record{{CallID: "c", Speaker: memory.SpeakerUser, Method: MethodAsk,
		Outcome: "40 messages recalled"}}
	for _, records := range [][]memory.Record{asked, nil} {
		events := Recorded(records, memory.Trace{Guild: guild, Channel: lobby, Question: 7, Asker: ann}, noon)
		if len(events) != 1 || events[0].(memory.Recorded).Record.Outcome != "not answered" {
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
