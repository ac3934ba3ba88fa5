package bot

import (
	"context"
	"errors"

	"hark/memory"
)

// admission decides what of all that Discord tells is logged.
type admission struct {
	log    Log
	policy memory.Policy
}

// pass is what of events is to be logged: in the place of a message that isn't remembered stands that it was
// heard. The log must know by now what was told before events.
func (a *admission) pass(ctx context.Context, events []memory.Event) ([]memory.Event, error) {
	passed := make([]memory.Event, 0, len(events))
	for _, e := range events {
		var guild memory.GuildID
		var channel memory.ChannelID
		switch v := e.(type) {
		case memory.Posted:
			guild, channel = v.Message.Guild, v.Message.Channel
		case memory.Edited:
			guild, channel = v.Guild, v.Channel
		default:
			passed = append(passed, e)
			continue
		}
		remembered, err := a.remembers(ctx, guild, channel)
		if err != nil {
			return nil, err
		}
		if remembered {
			passed = append(passed, e)
		} else if v, ok := e.(memory.Posted); ok && v.Live {
			passed = append(passed, memory.Heard{Guild: guild, Channel: channel, ID: v.Message.ID})
		}
	}
	return passed, nil
}

// remembers reports whether what is said in a channel is to be logged.
func (a *admission) remembers(ctx context.Context, guild memory.GuildID, channel memory.ChannelID) (bool, error) {
	g, err := a.log.Guild(ctx, guild)
	if errors.Is(err, memory.ErrNotFound) {
		g, err = &memory.Guild{ID: guild}, nil
	}
	return err == nil && a.policy.Remembers(g, channel), err
}
