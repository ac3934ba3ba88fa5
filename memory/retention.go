package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RetentionForever is the value of SettingRetention where messages are remembered as long as the operator allows.
const RetentionForever = "forever"

// Bounds of what can be set as a retention.
const (
	// so that a slip such as "6m" for six months empties nothing; memory.retention has it too
	MinRetention = 24 * time.Hour
	MaxRetention = 36500 * 24 * time.Hour
)

// ParseRetention reads how long messages are to be remembered: days, such as "90" or "90d", or RetentionForever,
// which is 0. The error says what can be given.
func ParseRetention(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == RetentionForever {
		return 0, nil
	}
	const day = 24 * time.Hour
	n, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	if err != nil || n < int(MinRetention/day) || n > int(MaxRetention/day) {
		return 0, fmt.Errorf("%q is no time to remember for: write days, such as 90d, from 1d to 36500d, or %s",
			text, RetentionForever)
	}
	return time.Duration(n) * day, nil
}

// FormatRetention is what ParseRetention reads as keep. What isn't whole days, as the operator can set it, is
// in hours, rounded up.
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

// Retention is how long what is said in a channel of g is remembered, where the operator keeps nothing for
// longer than most, and where that was set: in the channel, or, with the place 0, in the guild; set is
// whether it was. Of either time 0 means without end. A thread is remembered as long as its channel. What
// can't be read as a retention counts as not set.
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

// keeper is the channel whose retention c has.
func (g *Guild) keeper(c *Channel) *Channel {
	if parent := g.Channel(c.Parent); c.Kind.IsThread() && parent != nil {
		return parent
	}
	return c
}

// shorter is the shorter of two retentions, of which 0 is without end.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return max(a, b, 0)
	}
	return min(a, b)
}

// longer is the longer of two retentions.
func longer(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return 0
	}
	return max(a, b)
}

// KeptSince is the time before which nothing is remembered at now, where it is for keep: up to a day more
// than keep ago, so that an active guild isn't gone through every hour, but less where a day matters. Zero if
// keep is.
func KeptSince(now time.Time, keep time.Duration) time.Time {
	if keep <= 0 {
		return time.Time{}
	}
	return now.Add(-keep).Truncate(step(keep))
}

// step is how far apart the ends of what is too old lie.
func step(retention time.Duration) time.Duration {
	const day = 24 * time.Hour
	if retention <= 0 {
		return day
	}
	return min(max(retention/24, time.Minute), day)
}

// Outdated are the forgettings, of WhyAge, by which nothing stays in g at now that is older than it may be,
// where the operator keeps nothing for longer than most: one for all of the guild if everything is kept
// equally long. Else that is for what is too old wherever it is, and further ones, by channel, are for those
// where less is kept. Lore of the whole guild they may leave: a House sees to it.
func (g *Guild) Outdated(now time.Time, most time.Duration) []Forgetting {
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
		all = append(all, Forgetting{Guild: g.ID, Before: KeptSince(now, longest), Why: WhyAge, At: now})
	}
	for id, keep := range shortened {
		if keep != longest {
			all = append(all, Forgetting{Guild: g.ID, Channel: id, Before: KeptSince(now, keep), Why: WhyAge, At: now})
		}
	}
	slices.SortFunc(all, func(a, b Forgetting) int { return cmp.Compare(a.Channel, b.Channel) })
	return all
}
