package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RetentionForever is SettingRetention's value for as long as the operator allows.
const RetentionForever = "forever"

// Bounds of a retention setting.
const (
	// so that "6m" for six months deletes nothing; memory.retention has the same bound
	MinRetention = day
	MaxRetention = 36500 * day
)

// ParseRetention reads a retention: days, such as "90" or "90d", or RetentionForever, which is 0. The error
// says what is allowed.
func ParseRetention(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == RetentionForever {
		return 0, nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	if err != nil || n < int(MinRetention/day) || n > int(MaxRetention/day) {
		return 0, fmt.Errorf("%q is no time to remember for: write days, such as 90d, from 1d to 36500d, or %s",
			text, RetentionForever)
	}
	return time.Duration(n) * day, nil
}

// FormatRetention returns keep in the form that ParseRetention reads. Parts of days, which only the operator
// can set, give hours, rounded up.
func FormatRetention(keep time.Duration) string {
	switch hours := (keep + time.Hour - 1) / time.Hour; {
	case keep <= 0:
		return RetentionForever
	case hours%24 == 0:
		return fmt.Sprintf("%dd", hours/24)
	default:
		return fmt.Sprintf("%dh", hours)
	}
}

// Retention returns how long messages in a channel of g are remembered, at most most, and where that was set:
// in the channel or, with at 0, in the guild; set is false if nowhere. For both times 0 means no limit. A
// thread has its parent's retention. An invalid value counts as not set.
func (g *Guild) Retention(id ChannelID, most time.Duration) (keep time.Duration, at ChannelID, set bool) {
	if c := g.Channel(id); c != nil {
		c = g.keeper(c)
		if keep, err := ParseRetention(c.Settings[SettingRetention]); err == nil {
			return shorter(keep, most), c.ID, true
		}
	}
	if keep, err := ParseRetention(g.Settings[SettingRetention]); err == nil {
		return shorter(keep, most), 0, true
	}
	return most, 0, false
}

func (g *Guild) keeper(c *Channel) *Channel {
	if parent := g.Channel(c.Parent); c.Kind.IsThread() && parent != nil {
		return parent
	}
	return c
}

func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return max(a, b, 0)
	}
	return min(a, b)
}

func longer(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return 0
	}
	return max(a, b)
}

// KeptSince returns the time before which nothing is remembered at now; zero if keep is. It is up to a day
// further back than keep (less for a short retention), so that an active guild isn't searched every hour.
func KeptSince(now time.Time, keep time.Duration) time.Time {
	if keep <= 0 {
		return time.Time{}
	}
	return now.Add(-keep).Truncate(step(keep))
}

func step(retention time.Duration) time.Duration {
	if retention <= 0 {
		return day
	}
	return min(max(retention/24, time.Minute), day)
}

// Expired returns the forgettings, of WhyAge, that remove everything expired from g at now, if the operator
// allows at most most. The first covers the whole guild with its longest retention; the others cover channels
// with a shorter one. They may leave lore of the whole guild, which a Janitor deletes.
func (g *Guild) Expired(now time.Time, most time.Duration) []Forgetting {
	longest, _, _ := g.Retention(0, most)
	shortened := map[ChannelID]time.Duration{}
	for i := range g.Channels {
		c := &g.Channels[i]
		if c.Kind == CategoryChannel || g.keeper(c) != c {
			continue
		}
		keep, _, _ := g.Retention(c.ID, most)
		longest = longer(longest, keep)
		shortened[c.ID] = keep
	}
	var all []Forgetting
	if longest > 0 {
		all = append(all, Forgetting{
			Guild:  g.ID,
			Before: KeptSince(now, longest),
			Why:    WhyAge,
			At:     now,
		})
	}
	for id, keep := range shortened {
		if keep != longest {
			all = append(all, Forgetting{
				Guild:   g.ID,
				Channel: id,
				Before:  KeptSince(now, keep),
				Why:     WhyAge,
				At:      now,
			})
		}
	}
	slices.SortFunc(all, func(a, b Forgetting) int { return cmp.Compare(a.Channel, b.Channel) })
	return all
}

// Shortening is the effect of setting a shorter retention.
type Shortening struct {
	Keep  time.Duration
	Since time.Time // earlier messages go at once
	Goes  DryRun
}

// Shortens returns the effect of setting the retention of a channel, or with id 0 of the guild, to value, if
// the operator allows at most most; nil if no retention becomes shorter. It counts what is in within; see
// DryRunQuery.Within.
func (g *Guild) Shortens(ctx context.Context, store Forgetter, within []ChannelID, id ChannelID, value string,
	most time.Duration, now time.Time) (*Shortening, error) {
	was, _, _ := g.Retention(id, most)
	keep, _, _ := g.withRetention(id, value).Retention(id, most)
	if keep == 0 || was > 0 && keep >= was {
		return nil, nil
	}
	s := &Shortening{Keep: keep, Since: KeptSince(now, keep)}
	q := DryRunQuery{Forgetting: Forgetting{
		Guild:   g.ID,
		Channel: id,
		Before:  s.Since,
		Why:     WhyAge,
		At:      now,
	},
		Within: within}
	var err error
	s.Goes, err = store.DryRun(ctx, q)
	if err != nil || id != 0 {
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
		changed := map[Setting]string{}
		maps.Copy(changed, settings)
		changed[SettingRetention] = value
		return changed
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
