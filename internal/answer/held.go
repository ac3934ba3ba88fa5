package answer

import (
	"context"
	"slices"

	"hark/memory"
)

// countHeldBack notes in the trace of an answer how much of what matters most to the question its readers may not read: of
// what a search of all that is remembered there finds first, the messages in channels that were closed to it. It is a number
// and no more. Counting comes after the answer is written, and an answer is worth more than the count, so that a failure
// leaves it at 0.
func (e *Engine) countHeldBack(ctx context.Context, q Question, r *recalled, t *memory.Trace) {
	if len(r.closed) == 0 {
		return
	}
	all := r.asked
	all.Channels = slices.Concat(all.Channels, r.closed)
	result, err := e.search.Search(ctx, e.query(q, r, all, []memory.MessageID{q.ID}))
	if err != nil {
		return
	}
	for _, hit := range result.Hits {
		if slices.Contains(r.closed, hit.Message.Channel) {
			t.HeldBack++
		}
	}
}
