package answer

import (
	"context"
	"maps"
	"slices"

	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// consents checks consent again before use, although the store drops what opted-out members write.
type consents struct {
	log Log
	in  map[memory.Membership]bool // who hasn't opted out, as far as asked
}

// agrees reports whether somebody hasn't opted out in a guild.
func (c consents) agrees(ctx context.Context, guild memory.GuildID, user memory.UserID) (bool, error) {
	who := memory.Membership{Guild: guild, User: user}
	if in, known := c.in[who]; known {
		return in, nil
	}
	out, err := memory.HasOptedOut(ctx, c.log, guild, user)
	if err != nil {
		return false, err
	}
	c.in[who] = !out
	return !out, nil
}

func (c consents) mentionsAgree(ctx context.Context, guild memory.GuildID, messages []memory.Message) (bool, error) {
	for _, m := range messages {
		for _, who := range m.Mentions {
			if ok, err := c.agrees(ctx, guild, who); !ok || err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// withConsent keeps the messages whose authors haven't opted out.
func (c consents) withConsent(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	return digest.Keep(messages, func(m memory.Message) (bool, error) { return c.agrees(ctx, m.Guild, m.Author) })
}

// messages returns a channel's messages that exist, with consent.
func (c consents) messages(ctx context.Context, channel memory.ChannelID,
	ids []memory.MessageID) ([]memory.Message, error) {
	found, err := c.log.Around(ctx, channel, ids, 0, 0)
	if err != nil {
		return nil, err
	}
	return c.withConsent(ctx, found)
}

// existing returns messages that still exist, as they are now.
func (c consents) existing(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	wanted := messageSet{}
	for _, m := range messages {
		wanted.add(memory.MessageRef{Channel: m.Channel, Message: m.ID})
	}
	there, err := c.lookUp(ctx, wanted, nil)
	return slices.Collect(maps.Values(there)), err
}

// lookUp returns the wanted messages that exist, with consent. allowed, if not nil, filters them.
func (c consents) lookUp(ctx context.Context, wanted messageSet,
	allowed func(memory.ChannelID, []memory.Message) ([]memory.Message, error)) (map[memory.MessageRef]memory.Message,
	error) {
	there := map[memory.MessageRef]memory.Message{}
	for channel, ids := range wanted {
		messages, err := c.messages(ctx, channel, ids)
		if err == nil && allowed != nil {
			messages, err = allowed(channel, messages)
		}
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			there[memory.MessageRef{Channel: channel, Message: m.ID}] = m
		}
	}
	return there, nil
}

func (c consents) filter(ctx context.Context, result search.Result) (search.Result, error) {
	var err error
	result.Hits, err = keepHits(ctx, result.Hits, c.withConsent)
	if err != nil {
		return search.Result{}, err
	}
	result.People, err = digest.Keep(result.People, func(p search.Participant) (bool, error) {
		return c.agrees(ctx, p.Person.Guild, p.Person.ID)
	})
	return result, err
}

// keepHits returns hits with the messages that keep returns.
func keepHits(ctx context.Context, hits []search.Hit,
	leave func(context.Context, []memory.Message) ([]memory.Message, error)) (kept []search.Hit, err error) {
	var all []memory.Message
	for _, hit := range hits {
		all = append(append(all, hit.Message), hit.Excerpt...)
	}
	left, err := leave(ctx, all)
	is := map[memory.MessageRef]memory.Message{}
	for _, m := range left {
		is[memory.MessageRef{Channel: m.Channel, Message: m.ID}] = m
	}
	for _, hit := range hits {
		m, there := is[memory.MessageRef{Channel: hit.Message.Channel, Message: hit.Message.ID}]
		if !there {
			continue
		}
		var excerpt []memory.Message
		for _, e := range hit.Excerpt {
			if e, there := is[memory.MessageRef{Channel: e.Channel, Message: e.ID}]; there {
				excerpt = append(excerpt, e)
			}
		}
		if m.Text() != hit.Message.Text() { // it was edited since
			hit.From = 0
			hit.To = 0
		}
		hit.Message = m
		hit.Excerpt = excerpt
		kept = append(kept, hit)
	}
	return kept, err
}

// messageSet is messages by channel, each once.
type messageSet map[memory.ChannelID][]memory.MessageID

func (p messageSet) add(spots ...memory.MessageRef) {
	for _, at := range spots {
		if at.Message != 0 && !slices.Contains(p[at.Channel], at.Message) {
			p[at.Channel] = append(p[at.Channel], at.Message)
		}
	}
}
