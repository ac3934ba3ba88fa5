package answer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

func TestTheModelLearnsWhatAQuestionRepliesTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	said := w.says(5*day, lobby, ben, "The regatta moves to <#902>, "+strings.Repeat("lorem ", 50)+"END")
	for range 3 {
		w.says(day, lobby, cleo, "Pancakes at nine")
	}
	q := w.asks(lobby, "is that certain?")
	q.ReplyTo = said
	has(t, w.prompt(q), "replying to Ben: \"The regatta moves to <#902> (#harbor), lorem",
		"…\"\n[2024-06-15 12:00] <@21> (Ann)")
	for _, layout := range []builder.Layout{builder.LayoutPlain, builder.LayoutChat} {
		w.engine = w.over(w.store, nil, builder.Options{Layout: layout}, Options{})
		has(t, w.prompt(q), "replying to Ben: \"The regatta moves to")
	}
	q.ReplyTo = 0
	hasNot(t, w.prompt(q), "replying to")
	q.ReplyTo = said
	w.optsOut(ben)
	hasNot(t, w.prompt(q), "replying to", "regatta")
}

// What the question replies to is a source, however small the prompt is.
func TestTheMessageRepliedToIsASource(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"Yes, to the eighth."}}
	w := newWorld(t, model)
	said := w.says(5*day, lobby, ben, "The regatta moves to the eighth")
	q := w.asks(lobby, "is that certain?")
	q.ReplyTo = said
	model.before = func() { w.deletes(lobby, said) }
	if got := w.answer(q).Text; got == "Yes, to the eighth." {
		t.Error("the answer stands although what it replies to is gone")
	}
}

func TestRepliesAmongMembersAreMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := w.says(40*day, harbor, ben, "Who paints the lighthouse?")
	for range 5 {
		w.says(39*day, harbor, ann, "Pancakes")
	}
	w.replies(30*day, harbor, cleo, "The lighthouse is painted by my brother", first)
	now := w.says(5*time.Minute, lobby, ben, "Who brings soup?")
	w.replies(4*time.Minute, lobby, cleo, "I bring the soup", now)
	w.replies(3*time.Minute, lobby, ben, "to nothing known", 12345)
	q := w.asks(lobby, "Who paints the lighthouse?")
	p := w.prompt(q)
	has(t, p, "<@23> ↩ Ben: The lighthouse is painted", "<@23> (Cleo) ↩ Ben: I bring the soup",
		"<@22> (Ben): to nothing known")
	w.keeping(&scripted{pieces: []string{"Her brother."}}, builder.Options{})
	w.optsOut(ben)
	hasNot(t, w.prompt(q), "↩")
}

// Whoever is named only by the sign of a reply is among the people of a kept prompt.
func TestWhoIsRepliedToIsNamedInTheTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.keeping(&scripted{pieces: []string{"Your brother."}}, builder.Options{})
	const dora memory.UserID = 31
	w.apply(memory.PersonSeen{Person: memory.Person{ID: dora, Guild: guild, Name: "Dora"}})
	first := w.says(40*day, harbor, dora, "Pancakes at nine?")
	for range 20 {
		w.says(39*day, harbor, ann, "Pancakes")
	}
	w.replies(30*day, harbor, cleo, "The lighthouse is painted by my brother", first)
	a := w.answer(w.asks(lobby, "Who paints the lighthouse?"))
	prompt := ""
	for _, m := range a.Trace.Prompt.Messages {
		prompt += m.Content
	}
	has(t, prompt, "↩ Dora:")
	for _, id := range a.Trace.Named {
		if id == dora {
			return
		}
	}
	t.Errorf("Dora isn't among %v", a.Trace.Named)
}

func TestAMentionAloneBelowAMessageAsksWhatThatSays(t *testing.T) {
	t.Parallel()
	model := &scripted{pieces: []string{"At seven."}}
	w := newWorld(t, model)
	w.says(9*day, harbor, cleo, "The ferry to the island leaves at seven")
	said := w.says(3*day, lobby, ben, "<@29> when does the ferry to the island leave?")
	q := w.asks(lobby, "")
	q.ReplyTo = said
	a := w.answer(q)
	has(t, sent(model.got), "replying to Ben: \"", "<@21> (Ann): when does the ferry to the island leave?",
		"The ferry to the island leaves at seven")
	if a.Text != "At seven." || a.Trace.Asker != ann {
		t.Errorf("got %q for %d", a.Text, a.Trace.Asker)
	}
	w.optsOut(ben)
	if _, err := w.engine.Answer(t.Context(), q, nil); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("the words of somebody who opted out: %v", err)
	}
	q.ReplyTo = 12345
	if _, err := w.engine.Answer(t.Context(), q, nil); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("without the message: %v", err)
	}
}

// Words of the message replied to count as that message's, not as the asker's.
func TestAMentionAlonePutsNoWordsIntoTheAskersMouth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &scripted{pieces: []string{"The zanzibar ferry leaves at seven."}})
	said := w.says(3*day, lobby, ben, "when does the zanzibar ferry leave?")
	q := w.asks(lobby, "")
	q.ReplyTo = said
	for _, s := range w.answer(q).Trace.Sources {
		if s.ID == int64(said) && s.Repeats {
			return
		}
	}
	t.Error("the answer isn't said to repeat the message replied to")
}

func TestAMentionAloneAsksWhatAMessageSays(t *testing.T) {
	t.Parallel()
	file := memory.File{Name: "a.png"}
	voice := memory.File{Name: "voice.ogg", Kind: memory.VoiceFile, Told: "when does the ferry leave?"}
	for _, c := range []struct {
		m    memory.Message
		want string
	}{
		{memory.Message{Content: "<@29> so when?", Files: []memory.File{file}}, "so when?"},
		{memory.Message{Files: []memory.File{file}}, ""},
		{memory.Message{Files: []memory.File{file, voice}}, voice.Told},
		{memory.Message{Content: "an answer", Kind: memory.FromHark}, ""},
	} {
		c.m.ID = 7
		r := &recalled{readableScope: readableScope{names: newNames()}}
		r.names.people = memory.People{{{ID: oracle, Bot: true, Name: "Hark"}}}
		r.session = []memory.Message{c.m}
		if got := r.withQuestion(Question{ReplyTo: 7}).Text; got != c.want {
			t.Errorf("%+v asks %q, want %q", c.m, got, c.want)
		}
	}
}

// The summaries of the channel asked in say nothing of another that the question names.
func TestSummariesOfHereStayAwayFromAChannelNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(3*time.Hour, lobby, ben, "We decided that the pancakes are at nine on Sunday")
	w.says(3*time.Hour-time.Minute, lobby, cleo, "I agree to the pancakes at nine")
	w.says(2*time.Hour, harbor, ben, "The keel is laid")
	w.sumsUpAt(noon)
	has(t, previous(w.prompt(w.asks(lobby, "when are the pancakes?"))), "pancakes")
	hasNot(t, previous(w.prompt(w.asks(lobby, "when are the pancakes in #harbor?"))), "pancakes")
}
