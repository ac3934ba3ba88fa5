package answer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// Facts, lore and summaries come from messages: they share their audience, and go with them.

// verifySources reads the messages that facts, lore and summaries were made from. It removes those that lost one,
// and lore that may not be used. It reads more besides.
func (e *Engine) verifySources(ctx context.Context, r *recalled, more ...memory.MessageRef) error {
	wanted := messageSet{}
	wanted.add(more...)
	for _, made := range manifest.SourcesOf(r.result.People, loreOf(r.result.Lore), summariesOf(r.summaries)) {
		wanted.add(made.From...)
	}
	for _, hit := range r.result.Hits {
		r.wantOriginals(wanted, hit.Excerpt)
	}
	if err := e.readSources(ctx, r, wanted); err != nil {
		return err
	}
	lost := func(made manifest.Source) bool {
		return slices.ContainsFunc(made.From, func(at memory.MessageRef) bool {
			_, there := r.said[at]
			return !there
		})
	}
	for i := range r.result.People {
		facts := &r.result.People[i].Person.Facts
		*facts = slices.DeleteFunc(slices.Clone(*facts), func(f memory.Fact) bool { return lost(manifest.OfFact(f)) })
	}
	r.result.Lore = slices.DeleteFunc(r.result.Lore, func(hit search.LoreHit) bool {
		return !r.usable(hit.Lore) || lost(manifest.OfLore(hit.Lore))
	})
	var err error
	r.summaries, err = digest.Keep(r.summaries, func(hit search.SummaryHit) (bool, error) {
		ok, err := r.agreed(ctx, r.consents, hit.Summary)
		return ok && !lost(manifest.OfSummary(hit.Summary)), err
	})
	return err
}

// readSources reads messages. Hark's own are judged by their sources, wherever they are.
func (e *Engine) readSources(ctx context.Context, r *recalled, wanted messageSet) (err error) {
	r.said, err = r.consents.lookUp(ctx, wanted, func(channel memory.ChannelID,
		messages []memory.Message) ([]memory.Message, error) {
		return r.audienceIn(channel, math.MaxInt64).repeatable(ctx, sortByID(messages))
	})
	return err
}

// Lore returns the lore of q's guild that readers of an answer to q may know, by name.
func (e *Engine) Lore(ctx context.Context, q Question) ([]memory.Lore, error) {
	ctx = withLookUps(ctx)
	now, err := e.readScope(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read lore: %w", err)
	}
	here := slices.DeleteFunc(slices.Collect(maps.Values(now.lore)), func(l memory.Lore) bool {
		return l.Guild != q.Guild
	})
	told, _, err := e.verifyLore(ctx, now, here)
	return told, err
}

// verifyLore returns the lore whose sources may all be used, by name, and the sources.
func (e *Engine) verifyLore(ctx context.Context, now readableScope, lore []memory.Lore) ([]memory.Lore,
	map[memory.MessageRef]memory.Message, error) {
	r := &recalled{readableScope: now}
	r.result.Lore = digest.Each(lore, func(l memory.Lore) search.LoreHit { return search.LoreHit{Lore: l} })
	if err := e.verifySources(ctx, r); err != nil {
		return nil, nil, fmt.Errorf("read what lore is from: %w", err)
	}
	told := loreOf(r.result.Lore)
	slices.SortFunc(told, func(a, b memory.Lore) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.ID, b.ID))
	})
	return told, r.said, nil
}

// maxSummaries bounds the summaries considered for a prompt, which hardly has room for more.
const maxSummaries = 8

// earlierSummaries returns the channel's earlier summaries, best first. They are shown only in their channel, and
// only if its past may be read.
func (e *Engine) earlierSummaries(ctx context.Context, q Question, r *recalled,
	shown []memory.Message) ([]search.SummaryHit, error) {
	if e.options.NoSummaries || q.Session != nil || !r.here || len(r.narrowed.Authors) > 0 ||
		r.asked.elsewhere(q.Channel) || !slices.Contains(r.narrowed.Channels, q.Channel) {
		return nil, nil
	}
	all, err := e.log.Summaries(ctx, q.Channel)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(q.Filter.Summaries.SummariesOf(all)), func(s memory.Summary) bool {
		unseen := func(source memory.SummarySource) bool { return !digest.Has(shown, source.Message) }
		before := s.From().Before(r.narrowed.Since)
		after := !r.narrowed.Until.IsZero() &&
			!s.To().Before(r.narrowed.Until)
		return before || after || !slices.ContainsFunc(s.Sources, unseen) // the session itself is shown
	})
	hits := search.RankSummaries(r.searchText, q.Now.In(r.settings.Zone), all)
	return hits[:min(len(hits), maxSummaries)], nil
}

// asPreviousContext returns summaries as the builder takes them, oldest first.
func asPreviousContext(hits []search.SummaryHit) []builder.Earlier {
	in := make([]builder.Earlier, len(hits))
	for i, hit := range slices.SortedFunc(slices.Values(hits), oldestFirst) {
		rank := slices.IndexFunc(hits, func(h search.SummaryHit) bool { return h.Summary.ID == hit.Summary.ID })
		in[i] = builder.Earlier{
			Text:      hit.Summary.Text,
			Time:      hit.Summary.To(),
			Relevance: float64(len(hits) - rank),
		}
	}
	return in
}

func oldestFirst(a, b search.SummaryHit) int { return cmp.Compare(a.Summary.ID, b.Summary.ID) }

// agreed reports whether nobody mentioned in a summary's sources has opted out.
func (r *recalled) agreed(ctx context.Context, now consents, s memory.Summary) (bool, error) {
	return now.mentionsAgree(ctx, s.Guild, digest.Each(manifest.OfSummary(s).From,
		func(at memory.MessageRef) memory.Message { return r.said[at] }))
}

// sameSummaries reports whether all summaries in the prompt are unchanged and may be used.
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
