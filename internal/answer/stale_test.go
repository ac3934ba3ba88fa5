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

// A model that fails leaves the answer to quotes, and what was found before it was asked may be gone by then, also what had
// no room in the prompt.
func TestNothingGoneIsQuotedWhenTheModelFails(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(w *world, m memory.MessageID){
		"a message deleted": func(w *world, m memory.MessageID) {
			w.apply(memory.Deleted{Guild: guild, Channel: harbor, IDs: []memory.MessageID{m}})
		},
		"a channel closed": func(w *world, _ memory.MessageID) { w.structure(memory.ViewChannel) },
		"lore removed":     func(w *world, _ memory.MessageID) { w.apply(memory.LoreGone{Guild: guild, ID: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &scripted{err: errors.New("away")}
			w := newWorld(t, nil)
			w.engine = w.over(w.store, model, builder.Options{Citations: true, MaxTokens: 300}, Options{})
			w.tells(1, "Lighthouse password", "is swordfish", ben, harbor)
			m := w.says(3*day, harbor, ben, "The lighthouse password is tuna "+strings.Repeat("and so on ", 100))
			model.before = func() { gone(w, m) }
			a := w.answer(w.asks(lobby, "What is the lighthouse password?"))
			if name != "lore removed" {
				hasNot(t, a.Text, "tuna")
			}
			if name != "a message deleted" {
				hasNot(t, a.Text, "swordfish")
			}
			for _, s := range a.Sources {
				if name != "lore removed" && s.Message == m {
					t.Errorf("cites %+v", s)
				}
			}
		})
	}
}

// Lore that is changed between the answer and its trace takes the answer with it.
func TestAnswerGoesWithLoreChangedBeforeItsTrace(t *testing.T) {
	t.Parallel()
	for _, model := range []Model{nil, &scripted{pieces: []string{"It is blue."}}} {
		for _, changed := range []bool{false, true} {
			w := newWorld(t, model)
			l := w.tells(1, "Project X", "is blue", ben, harbor)
			a := w.answer(w.asks(lobby, "Project X?"))
			if changed {
				l.At, l.Text = noon, "is red"
				w.apply(memory.LoreTold{Lore: l})
			}
			a.Trace.Answer = w.says(-time.Minute, lobby, oracle, a.Text)
			if err := w.store.KeepTrace(t.Context(), a.Trace); err != nil {
				t.Fatal(err)
			}
			left, err := w.store.Messages(t.Context(), lobby, []memory.MessageID{a.Trace.Answer})
			if err != nil || (len(left) == 1) == changed {
				t.Errorf("lore changed: %v, and the log has %d answers, %v", changed, len(left), err)
			}
		}
	}
}

// What a fact in the prompt was said in is a source of the answer, also if it was found as well and had no room.
func TestSourceOfAFactIsInTheTraceThoughItWasFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.engine = w.over(w.store, &scripted{pieces: []string{"Ben has a canoe."}}, builder.Options{Citations: true, MaxTokens: 1000}, Options{})
	said := w.says(90*day, harbor, cleo, "zebra canoe of bark")
	for i := range 9 {
		w.says(time.Duration(i+1)*day, lobby, ben, fmt.Sprintf("my canoe race number %d was fine. %s", i, strings.Repeat("really long ", 90)))
	}
	w.apply(memory.FactTold{Guild: guild, User: ben, Fact: memory.Fact{ID: 5, Text: "has a canoe", By: cleo, Channel: harbor, Message: said}})
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
	if len(trace.IDsOf(memory.SourceFact)) != 1 || at < 0 || trace.Recalled[at].Relevance == 0 || !trace.Recalled[at].Context {
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

func TestFailureToRecallAnewIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &scripted{err: errors.New("away")})
	w.says(2*day, lobby, ben, "The lighthouse password is tuna")
	w.engine.search = &faultySearch{Searcher: w.engine.search, n: 2}
	if a, err := w.engine.Answer(t.Context(), w.asks(lobby, "What is the lighthouse password?"), nil); !errors.Is(err, errDisk) || a.Text != "" {
		t.Errorf("%q, %v", a.Text, err)
	}
}
