package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/embed"
	"hark/memory"
	"hark/search"
)

// A model that fails leaves the answer to quotes, and what was found before it was asked and had no room in
// the prompt may be gone by then.
func TestNothingGoneIsQuotedWhenTheModelFails(t *testing.T) {
	t.Parallel()
	model := &scripted{err: errors.New("away")}
	w := newWorld(t, nil)
	w.engine = w.over(w.store, model, builder.Options{Citations: true, MaxTokens: 300}, Options{})
	m := w.says(3*day, harbor, ben, "The lighthouse password is tuna "+strings.Repeat("and so on ", 100))
	q := w.asks(lobby, "What is the lighthouse password?")
	has(t, w.answer(q).Text, "tuna")
	model.before = func() { w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{m}}) }
	hasNot(t, w.answer(q).Text, "tuna")
}

// What a fact in the prompt was said in is a source of the answer, also if it was found as well and had no room.
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
	r, err := w.engine.recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
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

// reader is a reranker that keeps what it is given.
type reader struct{ read []string }

func (r *reader) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	r.read = append(r.read, texts...)
	return make([]float64, len(texts)), nil
}

func TestCountingWhatIsHeldBackGivesNothingAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	r := &reader{}
	w.engine.search = search.New(w.store, w.store, embed.Builtin{}).WithReranker(r)
	w.says(2*day, lobby, ben, "The lighthouse password is tuna")
	w.says(3*day, harbor, ben, "The lighthouse is tall")
	w.says(day, vault, ben, "The lighthouse password is secretly eel")
	a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
	if len(r.read) == 0 || strings.Contains(strings.Join(r.read, "\n"), "eel") || a.Trace.HeldBack != 1 {
		t.Errorf("the reranker read %q, and %d were held back", r.read, a.Trace.HeldBack)
	}
	for i := range 30 {
		w.says(time.Duration(i+4)*day, vault, cleo, strings.Repeat("soup ", i+1)+"and the weather")
	}
	if a := w.answer(w.asks(lobby, "What is the lighthouse password?")); a.Trace.HeldBack != 1 {
		t.Errorf("%d were held back, of which one matters", a.Trace.HeldBack)
	}
}
