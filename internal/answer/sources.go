package answer

import (
	"context"
	"math"
	"slices"

	"hark/internal/answer/manifest"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// Facts, lore and summaries come from messages, whose audience and fate they share.

// verifySources reads the messages that facts, lore and summaries were made from. It removes those that lost
// one, and lore that may not be used.
func (e *Engine) verifySources(ctx context.Context, r *recalled) error {
	wanted := messageSet{}
	for _, made := range manifest.SourcesOf(r.result.People, loreOf(r.result.Lore), summariesOf(r.summaries)) {
		wanted.add(made.From...)
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

// readSources reads messages. Hark's own are judged by what they were made from, wherever they are.
func (e *Engine) readSources(ctx context.Context, r *recalled, wanted messageSet) (err error) {
	r.said, err = r.consents.lookUp(ctx, wanted, func(channel memory.ChannelID,
		messages []memory.Message) ([]memory.Message, error) {
		return r.audienceIn(channel, math.MaxInt64).repeatable(ctx, sortByID(messages))
	})
	return err
}

// sameLore reports whether all of the lore may be used and is unchanged.
func (now *readableScope) sameLore(lore []memory.Lore) bool {
	return !slices.ContainsFunc(lore, func(l memory.Lore) bool { return !now.usable(l) })
}
