package answer

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hark/builder"
	"hark/memory"
)

// The trace says how an answer came about: what it counts as quoted is what the answer shows and the trace marks as
// cited, and nothing else is said where something is quoted.
func TestTheTraceSaysHowItCameAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 20 {
		w.says(time.Duration(i+2)*day, harbor, []memory.UserID{ann, ben, cleo}[i%3],
			fmt.Sprintf("Hi all, thanks for the good boat ride number %d", i))
	}
	w.says(30*day, harbor, ann, "Who knows what Greta's dog is called?")
	w.says(30*day-time.Minute, harbor, ben, "Rufus, like the old sailor")
	w.tells(1, "Regatta", "is in July", ben, 0)
	quoting := w.engine
	failing := w.over(w.store, &scripted{err: errors.New("on fire")}, builder.Options{Citations: true}, Options{})
	silent := w.over(w.store, &scripted{}, builder.Options{Citations: true}, Options{})
	writing := w.over(w.store, &scripted{pieces: []string{"Yes [1]."}}, builder.Options{Citations: true}, Options{})
	const (
		dog      = "what is Greta's dog called?"
		zeppelin = "what did the zeppelin captain order for lunch?"
	)
	for _, c := range []struct {
		what, question string
		engine         *Engine
		noTokens       bool
		want           memory.Origin
	}{
		{"no model", dog, quoting, false, memory.Origin{Writer: memory.NoModel, Found: memory.FoundEnough, Messages: 2}},
		{"lore", "Regatta", quoting, false, memory.Origin{Writer: memory.NoModel, Found: memory.FoundEnough, Lore: 1}},
		{"a failure", dog, failing, false, memory.Origin{Writer: memory.ModelFailed, Found: memory.FoundEnough, Messages: 2}},
		{"an empty answer", dog, silent, false,
			memory.Origin{Writer: memory.ModelEmpty, Found: memory.FoundEnough, Messages: 2}},
		{"no tokens", dog, writing, true, memory.Origin{Writer: memory.NoTokens, Found: memory.FoundEnough, Messages: 2}},
		{"declined", zeppelin, quoting, false, memory.Origin{Writer: memory.NoModel, Found: memory.FoundLittle}},
		{"declined, failed", zeppelin, failing, false, memory.Origin{Writer: memory.ModelFailed, Found: memory.FoundLittle}},
		{"small talk", "thanks!", quoting, false, memory.Origin{Writer: memory.NoModel, Found: memory.FoundSmallTalk}},
		{"a model", dog, writing, false, memory.Origin{Writer: memory.WrittenByModel, Found: memory.FoundEnough}},
		{"a model, declined", zeppelin, writing, false,
			memory.Origin{Writer: memory.WrittenByModel, Found: memory.FoundLittle}},
	} {
		q := w.asks(lobby, c.question)
		q.NoModel = c.noTokens
		a, err := c.engine.Answer(t.Context(), q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Trace.Origin != c.want {
			t.Errorf("%s: came about as %+v, not %+v; answered %q", c.what, a.Trace.Origin, c.want, a.Text)
		}
		checkOrigin(t, c.what, a)
	}
}

// checkOrigin reports where an answer's trace, its text and its records contradict each other.
func checkOrigin(t *testing.T, what string, a Answer) {
	t.Helper()
	cited := 0
	for _, h := range a.Trace.Recalled {
		if h.Cited && h.Number == 0 {
			t.Errorf("%s: a message is cited without a number", what)
		}
		if h.Cited {
			cited++
		}
	}
	o := a.Trace.Origin
	written := o.Writer == memory.WrittenByModel
	if written != (a.Model != "") || cited != len(a.Sources) || !written && o.Messages != cited {
		t.Errorf("%s: %+v, with %d messages marked as cited of %d sources", what, o, cited, len(a.Sources))
	}
	if o.Quotes() && o.Found != memory.FoundEnough {
		t.Errorf("%s: it quotes though it declines: %+v", what, o)
	}
	if quoted := a.Records[len(a.Records)-1].Outcome == "quoted nothing"; quoted != (!written && !o.Quotes()) {
		t.Errorf("%s: recorded %+v", what, outcomesOf(a.Records))
	}
}

// Where nothing at all is remembered, nothing was found, and the gate had nothing to decline.
func TestTheTraceSaysThatNothingWasFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.answer(w.asks(lobby, "what did the zeppelin captain order for lunch?"))
	if want := (memory.Origin{Writer: memory.NoModel, Found: memory.FoundNothing}); a.Trace.Origin != want {
		t.Errorf("came about as %+v", a.Trace.Origin)
	}
	checkOrigin(t, "empty", a)
}

// An answer that was taken back is recorded as such in each language.
func TestTheTraceSaysThatItWasTakenBack(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"", "de", "ja"} {
		w := newWorld(t, nil)
		id := w.says(9*day, harbor, ben, "The lighthouse password is swordfish")
		model := &scripted{pieces: []string{"swordfish [1]"}, before: func() { w.deletes(harbor, id) }}
		e := w.over(w.store, model, builder.Options{Citations: true}, Options{Language: language})
		a, err := e.Answer(t.Context(), w.asks(lobby, "What is the lighthouse password?"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Trace.Origin.Writer != memory.TakenBack || a.Records[len(a.Records)-1].Outcome != "taken back" {
			t.Errorf("%q: %+v, recorded %v", language, a.Trace.Origin, outcomesOf(a.Records))
		}
	}
}
