package answer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// What a session goes back to: the chain of replies that the question ends, those that end in the session,
// and what a thread began from.
const (
	chainDepth   = 8   // replies that are followed, one to the other
	chainMost    = 12  // messages of all chains
	starterShown = 600 // graphemes of what a thread began from
)

// olderThan are the messages that those shown go back to, oldest first. What was said before the session may
// be read again only where its channel's past may be.
func (e *Engine) olderThan(ctx context.Context, q Question, now reach, t dialogue,
	shown []memory.Message) ([]memory.Message, error) {
	if !now.here {
		return nil, nil
	}
	older, err := e.chains(ctx, q, now, t, shown)
	if err != nil {
		return nil, err
	}
	starter, err := e.starter(ctx, q, now, t, slices.Concat(older, shown))
	return append(starter, older...), err
}

// chains are the messages that the question is a reply to, one after the other, and then, as far as there is
// room, those that the messages shown reply to, the newest first. What the session's summary tells of is
// looked up for the question only.
func (e *Engine) chains(ctx context.Context, q Question, now reach, t dialogue,
	shown []memory.Message) ([]memory.Message, error) {
	known := map[memory.MessageID]bool{}
	for _, m := range shown {
		known[m.ID] = true
	}
	past := slices.Contains(now.scope.Channels, q.Channel)
	var found []memory.Message
	follow := func(from []memory.MessageID) error {
		for range chainDepth {
			from = slices.DeleteFunc(from, func(id memory.MessageID) bool {
				return id == 0 || known[id] || id < t.from && !past
			})
			from = from[:min(len(from), chainMost-len(found))]
			if len(from) == 0 {
				return nil
			}
			messages, err := e.log.Around(ctx, q.Channel, from, 0, 0)
			if err != nil {
				return err
			}
			for _, id := range from {
				known[id] = true
			}
			from = nil
			for _, m := range messages {
				found, from = append(found, m), append(from, m.ReplyTo)
			}
		}
		return nil
	}
	if err := follow([]memory.MessageID{q.ReplyTo}); err != nil {
		return nil, err
	}
	var rest []memory.MessageID
	for _, m := range slices.Backward(shown) {
		if m.ReplyTo < t.from {
			rest = append(rest, m.ReplyTo)
		}
	}
	if err := follow(slices.Compact(rest)); err != nil {
		return nil, err
	}
	return now.derivation(q.Channel, t.from).usable(ctx, inOrder(found))
}

// usable are those of the channel's messages, which are in order, that somebody said who agrees, and that may be
// said again.
func (d *derivation) usable(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	messages = slices.DeleteFunc(messages, func(m memory.Message) bool { return m.Kind == memory.FromSystem })
	messages, err := d.consents.given(ctx, messages)
	if err != nil {
		return nil, err
	}
	return d.allowed(ctx, messages)
}

// starter is the message that a thread began from, if it isn't shown: one of the parent channel that may be
// read there, or, of a forum's post, the first of the thread itself. Both have the thread's id.
func (e *Engine) starter(ctx context.Context, q Question, now reach, t dialogue,
	shown []memory.Message) ([]memory.Message, error) {
	thread, id := now.channels[q.Channel], memory.MessageID(q.Channel)
	if !thread.Kind.IsThread() {
		return nil, nil
	}
	if digest.Has(shown, id) || digest.Has(t.sources, id) {
		return nil, nil
	}
	for _, channel := range []memory.ChannelID{thread.Parent, thread.ID} {
		if !slices.Contains(now.scope.Channels, channel) {
			continue
		}
		found, err := e.log.Around(ctx, channel, []memory.MessageID{id}, 0, 0)
		if err == nil {
			found, err = now.derivation(channel, math.MaxInt64).usable(ctx, found)
		}
		if len(found) > 0 || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// unloggedChain is the chain of replies that the question ends, of what is known of before where nothing is logged.
func (e *Engine) unloggedChain(q Question, before, shown []memory.Message) (chain []memory.Message) {
	id := q.ReplyTo
	for range chainDepth {
		i := slices.IndexFunc(before, func(m memory.Message) bool { return m.ID == id })
		if i < 0 || digest.Has(shown, id) || digest.Has(chain, id) {
			break
		}
		chain, id = append(chain, before[i]), before[i].ReplyTo
	}
	return inOrder(chain)
}

// maxEarlier bounds the summaries that are looked at for one prompt, which has hardly room for more.
const maxEarlier = 8

// earlier are the summaries of the channel's earlier sessions that may be used in an answer there, best first. They are
// told in their own channel only, and not where the session alone may be.
func (e *Engine) earlier(ctx context.Context, q Question, r *recalled,
	shown []memory.Message) ([]search.SummaryHit, error) {
	if e.options.NoSummaries || q.Session != nil || !r.here || len(r.asked.Authors) > 0 ||
		!slices.Contains(r.asked.Channels, q.Channel) {
		return nil, nil
	}
	all, err := e.log.Summaries(ctx, q.Channel)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(q.Filter.Summaries.SummariesOf(all)), func(s memory.Summary) bool {
		unseen := func(source memory.SummarySource) bool { return !digest.Has(shown, source.Message) }
		before, after := s.From().Before(r.asked.Since), !r.asked.Until.IsZero() && !s.To().Before(r.asked.Until)
		return before || after || !slices.ContainsFunc(s.Sources, unseen) // the session itself is shown
	})
	hits := search.RankSummaries(r.sought, q.Now.In(r.settings.Zone), all)
	return hits[:min(len(hits), maxEarlier)], nil
}

// asEarlier are the summaries as the builder takes them, oldest first.
func asEarlier(hits []search.SummaryHit) []builder.Earlier {
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

// quotedLeast is how many bytes of a message repeat it where something else has them word for word.
const (
	quotedLeast = 20
	quotedMost  = 150 // characters of a message that are compared
	quotedHits  = 5   // so many have room in any prompt
)

// sayOnce leaves out of what was found whatever has the same words as a better message, and the summaries and the lore
// that quote one: the plain layout has no room to say it twice.
func (r *recalled) sayOnce() {
	var said []string
	r.result.Hits = slices.DeleteFunc(slices.Clone(r.result.Hits), func(h search.Hit) bool {
		words := oneLine(h.Message.Text(), quotedMost)
		twice := len(words) >= quotedLeast && slices.Contains(said, words)
		said = append(said, words)
		return twice
	})
	quotes := func(s string) bool {
		s = strings.Join(strings.Fields(s), " ")
		return slices.ContainsFunc(said[:min(len(said), quotedHits)], func(words string) bool {
			return len(words) >= quotedLeast && strings.Contains(s, words)
		})
	}
	r.summaries = slices.DeleteFunc(slices.Clone(r.summaries), func(h search.SummaryHit) bool {
		return quotes(h.Summary.Text)
	})
	r.result.Lore = slices.DeleteFunc(slices.Clone(r.result.Lore), func(h search.LoreHit) bool {
		return quotes(h.Lore.Text)
	})
}

// agreed reports whether all agree still who are mentioned in what a summary is from.
func (r *recalled) agreed(ctx context.Context, now consents, s memory.Summary) (bool, error) {
	return now.agree(ctx, s.Guild, digest.Each(manifest.OfSummary(s).From, func(at memory.Spot) memory.Message { return r.said[at] }))
}

// holdsEarlier reports whether all of the summaries in the prompt may still be used, and are as they were.
func (e *Engine) holdsEarlier(ctx context.Context, now *reach, channel memory.ChannelID, r *recalled) (bool, error) {
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
