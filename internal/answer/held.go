package answer

import (
	"context"
	"slices"

	"hark/memory"
)

const (
	// hits of a search of all that is remembered, the best, among which what was held back is counted
	heldAmong     = 10
	heldRelevance = 0.2 // from which on one counts as mattering
)

// countHeldBack notes in the trace of an answer how much of what matters to the question its readers may not
// read: of what a search of all that is remembered there finds best, the messages in channels that were
// closed to it. It is a number and no more, and that search gives no text to any server. Counting comes after
// the answer is written, and an answer is worth more than the count, so that a failure leaves it at 0.
func (e *Engine) countHeldBack(ctx context.Context, q Question, r *recalled, t *memory.Trace) {
	if len(r.closed) == 0 {
		return
	}
	query := e.query(q, r, r.asked, []memory.MessageID{q.ID})
	query.Scope.Channels = slices.Concat(query.Scope.Channels, r.closed)
	query.Local = true
	result, err := e.search.Search(ctx, query)
	if err == nil {
		result, err = r.consents.of(ctx, result)
	}
	if err != nil {
		return
	}
	for _, hit := range result.Hits[:min(heldAmong, len(result.Hits))] {
		if hit.Relevance >= heldRelevance && slices.Contains(r.closed, hit.Message.Channel) {
			t.HeldBack++
		}
	}
}
