package answer

import (
	"context"
	"errors"
	"testing"

	"hark/search"
)

var errUnranked = errors.New("the reranker is down")

// unranked is a searcher whose reranker fails.
type unranked struct{ Searcher }

func (u unranked) Search(ctx context.Context, q search.Query) (search.Result, error) {
	r, err := u.Searcher.Search(ctx, q)
	r.RerankFailed = errUnranked
	return r, err
}

func TestAnswersTellWhyTheyAreUnranked(t *testing.T) {
	t.Parallel()
	for name, model := range map[string]Model{"quoted": nil, "written": &scripted{pieces: []string{"swordfish [1]"}}} {
		w := newWorld(t, model)
		w.says(day, harbor, ben, "The lighthouse password is swordfish")
		q := w.asks(lobby, "What is the lighthouse password?")
		if a, err := w.engine.Answer(t.Context(), q, nil); err != nil || a.Unranked != nil {
			t.Errorf("%s: %v, %v without a reranker", name, a.Unranked, err)
		}
		w.engine.search = unranked{w.engine.search}
		a, err := w.engine.Answer(t.Context(), q, nil)
		if err != nil || !errors.Is(a.Unranked, errUnranked) || len(a.Sources) != 1 {
			t.Errorf("%s: %v, %v, %v", name, a.Unranked, a.Sources, err)
		}
	}
}
