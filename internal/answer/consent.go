package answer

import (
	"context"

	"hark/internal/digest"
	"hark/memory"
	"hark/search"
)

// consents asks again, before anything is used, for what was asked before it was logged: the store drops what nobody
// agreed to, and this is the second lock on the same door.
type consents struct {
	log Log
	out map[member]bool // who has opted out, as far as it was asked
}

type member struct {
	guild memory.GuildID
	user  memory.UserID
}

func (e *Engine) newConsents() consents { return consents{log: e.log, out: map[member]bool{}} }

// isOut reports whether somebody has opted out in a guild.
func (c consents) isOut(ctx context.Context, guild memory.GuildID, user memory.UserID) (bool, error) {
	who := member{guild, user}
	if out, known := c.out[who]; known {
		return out, nil
	}
	out, err := c.log.OptedOut(ctx, guild, user)
	if err == nil {
		c.out[who] = out
	}
	return out, err
}

// given are those of messages whose authors haven't opted out.
func (c consents) given(ctx context.Context, messages []memory.Message) ([]memory.Message, error) {
	var kept []memory.Message
	for _, m := range messages {
		out, err := c.isOut(ctx, m.Guild, m.Author)
		if err != nil {
			return nil, err
		}
		if !out {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// messages are those of a channel that are there, and whose authors haven't opted out.
func (c consents) messages(ctx context.Context, channel memory.ChannelID,
	ids []memory.MessageID) ([]memory.Message, error) {
	found, err := c.log.Around(ctx, channel, ids, 0, 0)
	if err != nil {
		return nil, err
	}
	return c.given(ctx, found)
}

// of is what is left of a result without those who have opted out.
func (c consents) of(ctx context.Context, result search.Result) (search.Result, error) {
	var hits []search.Hit
	for _, hit := range result.Hits {
		left, err := c.given(ctx, append([]memory.Message{hit.Message}, hit.Excerpt...))
		if err != nil {
			return search.Result{}, err
		}
		if len(left) > 0 && left[0].ID == hit.Message.ID {
			hit.Excerpt = left[1:]
			hits = append(hits, hit)
		}
	}
	var people []search.Participant
	for _, p := range result.People {
		out, err := c.isOut(ctx, p.Person.Guild, p.Person.ID)
		if err != nil {
			return search.Result{}, err
		}
		if !out {
			people = append(people, p)
		}
	}
	result.Hits, result.People = hits, people
	return result, nil
}

// remembered reports whether what was logged of c may be recalled for q. What was imported of a guild that was never
// asked is the operator's own, as long as nobody has decided otherwise. channels are g's.
func (e *Engine) remembered(q Question, g *memory.Guild, c *memory.Channel,
	channels map[memory.ChannelID]*memory.Channel) bool {
	policy := e.options.Policy
	if c != nil && q.Operator && c.Unplaced && !g.Asked {
		policy.Ask = false
	}
	return digest.Remembers(policy, g, c, channels)
}
