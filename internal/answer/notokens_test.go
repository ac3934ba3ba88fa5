package answer

import (
	"errors"
	"testing"
	"time"

	"hark/builder"
)

// Without tokens the model is asked nothing, neither for the answer nor to rewrite the question.
func TestWithoutTokensTheModelIsntAsked(t *testing.T) {
	t.Parallel()
	model := &rewriter{text: "Where does the second bell hang?"}
	w := newWorld(t, nil)
	w.engine = w.over(w.store, model, builder.Options{Citations: true}, Options{Rewrite: true})
	w.says(2*time.Minute, lobby, ben, "The second bell hangs in the tower.")
	q := w.asks(lobby, "What about the second one, the bell that hangs?")
	if a := w.answer(q); a.Model != "rewriter" {
		t.Errorf("with them it is %+v", a)
	}
	asked := len(model.tasks)
	q.NoModel = true
	a := w.answer(q)
	has(t, a.Text, noTokens)
	hasNot(t, a.Text, noModel)
	if a.Model != "" || a.Trace.Model != "" || a.Away != nil || asked != 1 || len(model.tasks) != asked {
		t.Errorf("by %q, away %v, asked %d and then %d times to rewrite", a.Model, a.Away, asked, len(model.tasks))
	}
}

// What rewriting took is told where nothing is answered, and where nothing can be.
func TestRewritingIsNeverForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	model := &rewriter{text: "Where does the second bell hang?"}
	w.says(2*time.Minute, lobby, ben, "The second bell hangs in the tower.")
	q := w.asks(lobby, "What about the second one?")
	w.engine = w.over(w.store, model, builder.Options{}, Options{Rewrite: true})
	r, err := w.engine.Recall(t.Context(), q)
	if err != nil || r.Usage.Calls != 1 || r.Usage.Prompt < 50 || r.Usage.Completion < 5 {
		t.Errorf("recalled with %+v, %v", r.Usage, err)
	}
	q.NoModel = true
	if r, err := w.engine.Recall(t.Context(), q); err != nil || r.Usage != (Usage{}) {
		t.Errorf("without tokens: %+v, %v", r.Usage, err)
	}
	q.NoModel = false
	searches := &faultySearch{Searcher: w.engine.search, n: 1}
	w.engine.search = searches
	again, err := w.engine.Recall(t.Context(), q)
	if !errors.Is(err, errDisk) || again.Usage != r.Usage {
		t.Errorf("recall failed with %+v, %v, want %+v", again.Usage, err, r.Usage)
	}
	searches.n = 1
	a, err := w.engine.Answer(t.Context(), q, nil)
	if !errors.Is(err, errDisk) || !errors.Is(err, ErrRecall) || a.Usage != r.Usage {
		t.Errorf("the answer failed with %+v, %v, want %+v", a.Usage, err, r.Usage)
	}
}
