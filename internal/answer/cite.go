package answer

import (
	"context"

	"hark/internal/answer/manifest"
	"hark/memory"
)

// cite returns the answer with this text, and its citations of what was shown.
func (e *Engine) cite(ctx context.Context, q Question, r *recalled, text string) Answer {
	text, cited := manifest.Citations(text, func(n int) bool { _, known := r.shown.Hit(n); return known })
	a := Answer{Text: text, Unranked: r.result.RerankFailed, Trace: e.trace(q, r)}
	for _, n := range cited {
		hit, _ := r.shown.Hit(n)
		a.Sources = append(a.Sources, r.source(n, hit.Message))
	}
	e.trackSources(ctx, q, r, &a, &r.shown)
	return a
}

// trace returns what is known of an answer before it is written.
func (e *Engine) trace(q Question, r *recalled) memory.Trace {
	return memory.Trace{
		Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker,
		Mode: string(r.mode.Is), Search: r.search, Total: r.elapsed(), TextOnly: r.result.TextOnly,
	}
}
