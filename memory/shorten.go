package memory

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Shortening is the effect of setting a shorter retention.
type Shortening struct {
	Keep  time.Duration
	Since time.Time // earlier messages go at once
	Goes  DryRun
}

// Shortens returns the effect of setting the retention of a channel, or with id 0 of the guild, to value,
// if the operator allows at most most; nil if no retention becomes shorter. It counts what is in within;
// see DryRunQuery.Within and SettingRetention.
func (g *Guild) Shortens(ctx context.Context, store Store, within []ChannelID, id ChannelID, value string,
	most time.Duration, now time.Time) (*Shortening, error) {
	was, _, _ := g.Retention(id, most)
	keep, _, _ := g.withRetention(id, value).Retention(id, most)
	if keep == 0 || was > 0 && keep >= was {
		return nil, nil
	}
	s := &Shortening{Keep: keep, Since: KeptSince(now, keep)}
	q := DryRunQuery{Forgetting: Forgetting{Guild: g.ID, Channel: id, Before: s.Since, Why: WhyAge, At: now},
		Within: within}
	var err error
	if s.Goes, err = store.DryRun(ctx, q); err != nil || id != 0 {
		return s, err
	}
	for _, own := range g.Channels { // has its own retention
		if _, at, set := g.Retention(own.ID, 0); !set || at != own.ID {
			continue
		}
		q.Channel = own.ID
		stays, err := store.DryRun(ctx, q)
		if err != nil {
			return s, err
		}
		s.Goes = s.Goes.without(stays)
	}
	return s, nil
}

func (g *Guild) withRetention(id ChannelID, value string) *Guild {
	set := func(settings map[Setting]string) map[Setting]string {
		settings = maps.Clone(settings)
		if settings == nil {
			settings = map[Setting]string{}
		}
		settings[SettingRetention] = value
		return settings
	}
	changed := *g
	changed.Channels = slices.Clone(g.Channels)
	if id == 0 {
		changed.Settings = set(g.Settings)
	}
	for i := range changed.Channels {
		if c := &changed.Channels[i]; c.ID == id {
			c.Settings = set(c.Settings)
		}
	}
	return &changed
}
