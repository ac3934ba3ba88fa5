package answer

import (
	"context"
	"math"
	"slices"

	"hark/internal/digest"
	"hark/memory"
)

// what condensed was made from
func (e *Engine) olderThan(ctx context.Context, q Question, now readableScope, t dialogue,
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

// chains returns the replies that the question ends, and then, if there is room, those that the messages shown end,
// newest first. Condensed messages are looked up for the question only.
func (e *Engine) chains(ctx context.Context, q Question, now readableScope, t dialogue,
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
				found = append(found, m)
				from = append(from, m.ReplyTo)
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
	return now.audienceIn(q.Channel, t.from).usable(ctx, sortByID(found))
}

// usable keeps the channel's messages that have consent and may be repeated.
func (d *answerAudience) usable(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	messages = slices.DeleteFunc(messages, func(m memory.Message) bool { return m.Kind == memory.FromSystem })
	messages, err := d.consents.withConsent(ctx, messages)
	if err != nil {
		return nil, err
	}
	return d.repeatable(ctx, messages)
}

// starter returns the message that a thread began from, unless it is shown: one of the parent channel, or a forum
// post's first. Both have the thread's id.
func (e *Engine) starter(ctx context.Context, q Question, now readableScope, t dialogue,
	shown []memory.Message) ([]memory.Message, error) {
	thread := now.names.channels[q.Channel]
	id := memory.MessageID(q.Channel)
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
			found, err = now.audienceIn(channel, math.MaxInt64).usable(ctx, found)
		}
		if len(found) > 0 || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// unloggedChain is chains without a log, from before.
func (e *Engine) unloggedChain(q Question, before, shown []memory.Message) (chain []memory.Message) {
	id := q.ReplyTo
	for range chainDepth {
		i := slices.IndexFunc(before, func(m memory.Message) bool { return m.ID == id })
		if i < 0 || digest.Has(shown, id) || digest.Has(chain, id) {
			break
		}
		chain = append(chain, before[i])
		id = before[i].ReplyTo
	}
	return sortByID(chain)
}
