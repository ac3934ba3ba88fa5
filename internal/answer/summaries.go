package answer

import (
	"cmp"
	"context"
	"slices"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// maxSummaries bounds the summaries looked at for a prompt, which has hardly room for more.
const maxSummaries = 8

// earlierSummaries returns the channel's earlier summaries, best first. They are shown in their own channel
// only, and only if its past may be.
func (e *Engine) earlierSummaries(ctx context.Context, q Question, r *recalled,
	shown []memory.Message) ([]search.SummaryHit, error) {
	if e.options.NoSummaries || q.Session != nil || !r.here || len(r.narrowed.Authors) > 0 ||
		!slices.Contains(r.narrowed.Channels, q.Channel) {
		return nil, nil
	}
	all, err := e.log.Summaries(ctx, q.Channel)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(q.Filter.Summaries.SummariesOf(all)), func(s memory.Summary) bool {
		unseen := func(source memory.SummarySource) bool { return !digest.Has(shown, source.Message) }
		before, after := s.From().Before(r.narrowed.Since), !r.narrowed.Until.IsZero() &&
			!s.To().Before(r.narrowed.Until)
		return before || after || !slices.ContainsFunc(s.Sources, unseen) // the session itself is shown
	})
	hits := search.RankSummaries(r.searchText, q.Now.In(r.settings.Zone), all)
	return hits[:min(len(hits), maxSummaries)], nil
}

// asPreviousContext returns summaries as the builder takes them, oldest first.
func asPreviousContext(hits []search.SummaryHit) []builder.Earlier {
	in := make([]builder.Earlier, len(hits))
	order := make([]int, len(hits))
	for rank := range hits {
		order[rank] = rank
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hits[a].Summary.ID, hits[b].Summary.ID) })
	for i, rank := range order {
		s := hits[rank].Summary
		in[i] = builder.Earlier{Text: s.Text, Time: s.To(), Relevance: float64(len(hits) - rank)}
	}
	return in
}

// agreed reports whether nobody mentioned in a summary's sources has opted out.
func (r *recalled) agreed(ctx context.Context, now consents, s memory.Summary) (bool, error) {
	return now.mentionsAgree(ctx, s.Guild, digest.Each(manifest.OfSummary(s).From,
		func(at memory.MessageRef) memory.Message { return r.said[at] }))
}

// sameSummaries reports whether all summaries in the prompt may be used and are unchanged.
func (e *Engine) sameSummaries(ctx context.Context, now *readableScope, channel memory.ChannelID,
	r *recalled) (bool, error) {
	summaries := r.shown.Summaries
	if len(summaries) == 0 {
		return true, nil
	}
	if !now.here || !slices.Contains(now.scope.Channels, channel) {
		return false, nil
	}
	for _, s := range summaries {
		if ok, err := r.agreed(ctx, now.consents, s); !ok || err != nil {
			return false, err
		}
	}
	all, err := e.log.Summaries(ctx, channel)
	return !slices.ContainsFunc(summaries, func(s memory.Summary) bool {
		return !slices.ContainsFunc(all, func(known memory.Summary) bool {
			return known.ID == s.ID && known.Made.Equal(s.Made)
		})
	}), err
}
