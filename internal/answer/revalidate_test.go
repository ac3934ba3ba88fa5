package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

func TestPartsOfAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		for _, failed := range []error{errors.New("down"), context.Canceled} {
			ctx, stop := context.WithCancel(t.Context())
			w := newWorld(t, nil)
			w.says(day, harbor, ben, "The lighthouse password is swordfish")
			w.engine.model = &scripted{err: failed, pieces: []string{"It is swordfish"}}
			a, err := w.engine.Answer(ctx, w.asks(lobby, "What is the lighthouse password?"), func(string) {
				if closed {
					w.structure(memory.ViewChannel)
				}
				if failed == context.Canceled {
					stop()
				}
			})
			if (a.Text == withdrawn) != closed || (a.Text == "It is swordfish") == closed ||
				(err == nil) != closed || closed && !errors.Is(a.ModelError, failed) {
				t.Errorf("closed: %v, %v: answered %q, %v, %v", closed, failed, a.Text, a.ModelError, err)
			}
		}
	}
}

// Those present have seen the session, also where the channel's past isn't readable.
func TestTheSessionOfAClosedPastHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.says(time.Minute, kiosk, ben, "The lighthouse password is swordfish")
	model := &scripted{pieces: []string{"It is swordfish [1]."}}
	a, q := w.alter(model, Options{}), w.asks(kiosk, "What is the lighthouse password?")
	has(t, w.answer(q).Text, "It is swordfish")
	model.before = func() { a.guild = choose(kiosk, memory.Ignore) }
	if got := w.answer(q).Text; got != withdrawn {
		t.Errorf("where nothing is remembered any more: %q", got)
	}
}

// Messages are looked up before use: what is gone isn't used, what was edited is used as it is now.
func TestWhatIsUsedIsLookedUpFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	gone := w.says(2*day, harbor, ben, "The lighthouse password is swordfish")
	edited := w.says(day, harbor, cleo, "The lighthouse password will be changed")
	session := w.says(time.Minute, lobby, cleo, "who knows about swordfish?")
	model := talks("small")
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
	w.engine.LookUpBy(func(ctx context.Context, messages []memory.Message, _ time.Duration) ([]memory.Message, error) {
		if ctx.Value(lookUpLeft{}) == nil {
			t.Error("look-ups of one answer don't share their time")
		}
		var now []memory.Message
		for _, m := range messages {
			switch m.ID {
			case gone, session:
				continue
			case edited:
				m.Content = "The lighthouse password is a haddock"
			}
			now = append(now, m)
		}
		return now, nil
	})
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	sent := fmt.Sprint(model.got[len(model.got)-1].Messages)
	if strings.Contains(sent, "swordfish") || !strings.Contains(sent, "haddock") {
		t.Errorf("the model was sent %q", sent)
	}
	if slices.ContainsFunc(a.Trace.Recalled, func(h memory.TraceHit) bool { return h.Message == gone }) {
		t.Error("what is gone was recalled")
	}
	if found := w.finds(w.asks(lobby, "lighthouse password")); slices.Contains(found, gone) {
		t.Errorf("found %d", found)
	}
}

func TestLookUpsOfOneAnswerShareTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var given []time.Duration
		slow := &upstream{func(_ context.Context, messages []memory.Message,
			patience time.Duration) ([]memory.Message, error) {
			given = append(given, patience)
			time.Sleep(5 * time.Second)
			return messages, nil
		}}
		ctx := withLookUps(t.Context())
		for range 3 {
			if _, err := slow.current(ctx, make([]memory.Message, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if want := []time.Duration{lookUpTime, lookUpTime - 5*time.Second, 0}; !slices.Equal(given, want) {
			t.Errorf("look-ups were given %v, not %v", given, want)
		}
	})
}

// If the model fails, the answer quotes. What was found, and didn't fit the prompt, may be gone by then.
func TestNothingGoneIsQuotedWhenTheModelFails(t *testing.T) {
	t.Parallel()
	model := &scripted{err: errors.New("away")}
	w := newWorld(t, nil)
	w.engine = w.over(w.store, model, builder.Options{Citations: true, MaxTokens: 300}, Options{})
	m := w.says(3*day, harbor, ben, "The lighthouse password is tuna "+strings.Repeat("and so on ", 100))
	q := w.asks(lobby, "What is the lighthouse password?")
	has(t, w.answer(q).Text, "tuna")
	model.before = func() { w.deletes(harbor, m) }
	hasNot(t, w.answer(q).Text, "tuna")
}

// The message of a fact in the prompt is a source, also if it was found as well and didn't fit.
func TestSourceOfAFactIsInTheTraceThoughItWasFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.engine = w.over(w.store, &scripted{pieces: []string{"Ben has a canoe."}},
		builder.Options{Citations: true, MaxTokens: 1000}, Options{})
	said := w.says(90*day, harbor, cleo, "zebra canoe of bark")
	for i := range 9 {
		w.says(time.Duration(i+1)*day, lobby, ben, fmt.Sprintf("my canoe race number %d was fine. %s", i,
			strings.Repeat("really long ", 90)))
	}
	w.apply(memory.FactTold{Guild: guild, User: ben, Fact: memory.Fact{ID: 5, Text: "has a canoe", By: cleo,
		Channel: harbor, Message: said}})
	q := w.asks(lobby, "which canoe race of Ben was fine?")
	r := w.recall(q)
	for _, shown := range r.Prompt.Shown {
		if shown.Message == said {
			t.Fatal("the source is shown, which proves nothing")
		}
	}
	trace := w.engine.cite(t.Context(), q, r, "Race number 3.").Trace
	at := slices.IndexFunc(trace.Recalled, func(h memory.TraceHit) bool { return h.Message == said })
	if len(trace.IDsOf(memory.SourceFact)) != 1 || at < 0 || trace.Recalled[at].Relevance == 0 ||
		!trace.Recalled[at].Context {
		t.Errorf("made from %v; the source is %+v", trace.Sources, trace.Recalled[max(at, 0)])
	}
}

// A reply that stands beside what was found, with others between, is a source like any other.
func TestRepliesAreSources(t *testing.T) {
	t.Parallel()
	for _, model := range []*scripted{nil, {pieces: []string{"Slide it."}}} {
		w := newWorld(t, nil)
		asked := w.says(3*day, harbor, cleo, "my webcam shows only black")
		for i := range 6 {
			w.says(3*day-time.Duration(i+1)*time.Minute, harbor, ann, fmt.Sprint("lunch is ready, take ", i))
		}
		reply := w.replies(3*day-8*time.Minute, harbor, ben, "slide the swordfish open", asked)
		if model != nil {
			w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{})
		}
		q := w.asks(lobby, "webcam black")
		a := w.answer(q)
		if !slices.ContainsFunc(a.Trace.Sources, func(s memory.Source) bool { return s.ID == int64(reply) }) {
			t.Errorf("the reply isn't among %v", a.Trace.Sources)
		}
		if model != nil {
			has(t, sent(model.got), "swordfish")
			model.before = func() { w.deletes(harbor, reply) }
			has(t, w.answer(q).Text, withdrawn)
			continue
		}
		has(t, a.Text, "swordfish")
		w.deletes(harbor, reply)
		hasNot(t, w.answer(q).Text, "swordfish")
	}
}

func TestCountingWhatIsHeldBackGivesNothingAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var read []string
	w.engine.search.(*search.Engine).WithReranker(given(func(texts []string) { read = append(read, texts...) }))
	w.says(2*day, lobby, ben, "The lighthouse password is tuna")
	w.says(3*day, harbor, ben, "The lighthouse is tall")
	w.says(day, vault, ben, "The lighthouse password is secretly eel")
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if len(read) == 0 || strings.Contains(strings.Join(read, "\n"), "eel") || a.Trace.HeldBack != 1 {
		t.Errorf("the reranker read %q, and %d were held back", read, a.Trace.HeldBack)
	}
	for i := range 30 {
		w.says(time.Duration(i+4)*day, vault, cleo, strings.Repeat("soup ", i+1)+"and the weather")
	}
	if a := w.answer(w.asks(lobby, "What is the lighthouse password?")); a.Trace.HeldBack != 1 {
		t.Errorf("%d were held back, of which one matters", a.Trace.HeldBack)
	}
	w.engine.log = checkedLog{&altered{Store: w.store, out: map[memory.UserID]bool{ben: true}}, w.engine.upstream}
	if a := w.answer(w.asks(lobby, "What is the lighthouse password?")); a.Trace.HeldBack != 0 {
		t.Errorf("%d of somebody who has opted out were counted", a.Trace.HeldBack)
	}
}
