package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// WithThreads are a channel of g, by its id, and its threads, as far as they are known.
func (g *Guild) WithThreads(id ChannelID) []Channel {
	var all []Channel
	for _, c := range g.Channels {
		if c.ID == id || c.Kind.IsThread() && c.Parent == id {
			all = append(all, c)
		}
	}
	return all
}

// PastOf are the gaps on the list that were asked for, of a channel and its threads.
func PastOf(ctx context.Context, store Store, g *Guild, id ChannelID) ([]Gap, error) {
	gaps, err := store.Gaps(ctx, g.ID, false)
	if err != nil {
		return nil, err
	}
	all := g.WithThreads(id)
	return slices.DeleteFunc(gaps, func(gap Gap) bool {
		return !gap.Past || !slices.ContainsFunc(all, func(c Channel) bool { return c.ID == gap.Channel })
	}), nil
}

// Unheard are the pasts of a channel and its threads that aren't on the list and that may be fetched, from
// after on, and until when they last; begun is zero where there is nothing that may.
func Unheard(ctx context.Context, store Store, g *Guild, id ChannelID, after MessageID, now time.Time,
	may func(Channel) bool) (gaps []Gap, begun time.Time, err error) {
	listed, err := PastOf(ctx, store, g, id)
	if err != nil {
		return nil, begun, err
	}
	for _, c := range g.WithThreads(id) {
		there := slices.ContainsFunc(listed, func(gap Gap) bool { return gap.Channel == c.ID })
		if there || c.Kind == ForumChannel || !may(c) { // a forum holds nothing but threads
			continue
		}
		gap := Gap{Guild: g.ID, Channel: c.ID, After: after, Past: true}
		if gap.Until, err = pastEnd(ctx, store, g, c, now); err != nil {
			return nil, begun, err
		}
		if until := gap.Until.Time(); begun.Before(until) {
			begun = until
		}
		if gap.After < gap.Until {
			gaps = append(gaps, gap)
		}
	}
	return gaps, begun, nil
}

// pastEnd is the last message that may have been said before Hark began to listen in a channel: before the
// oldest that it has, or, where older ones were imported, before it came to the guild, or up to where its
// past was being fetched when that was stopped.
func pastEnd(ctx context.Context, store Store, g *Guild, c Channel, now time.Time) (MessageID, error) {
	until := FirstMessageID(now)
	oldest, err := store.Log(ctx, c.ID, 0, until, 1)
	if err != nil || len(oldest) == 0 {
		return until, err
	}
	stopped, _ := strconv.ParseInt(c.Settings[SettingPast], 10, 64)
	return max(oldest[0].ID-1, g.Since, MessageID(stopped)), nil
}

// NewPast has all that was said so far in the channels of g that begin to be remembered by a choice be their
// past, so that it can be asked for also where older messages are known.
func NewPast(p Policy, g *Guild, chose Chose, at time.Time) []Event {
	then := *g
	then.Channels = slices.Clone(g.Channels)
	for i := range then.Channels {
		if c := &then.Channels[i]; c.ID == chose.Channel {
			c.Choice = chose.Choice
		}
	}
	var events []Event
	for _, c := range g.Channels {
		if c.Kind != CategoryChannel && !p.Remembers(g, c.ID) && p.Remembers(&then, c.ID) {
			events = append(events, SettingChosen{Guild: g.ID, Channel: c.ID, Key: SettingPast,
				Value: fmt.Sprint(int64(FirstMessageID(at) - 1)), At: at})
		}
	}
	return events
}

// BeginPast puts gaps on the list of what is to be fetched.
func BeginPast(gaps []Gap, at time.Time) []Event {
	var events []Event
	for _, gap := range gaps {
		events = append(events, GapFound{Gap: gap}, SettingChosen{Guild: gap.Guild, Channel: gap.Channel,
			Key: SettingPast, At: at})
	}
	return events
}

// StopPast takes gaps off the list. It is kept up to where they went, so that what wasn't fetched can be
// asked for again.
func StopPast(gaps []Gap, at time.Time) []Event {
	var events []Event
	for _, gap := range gaps {
		events = append(events, GapFilled{Gap: gap, Through: gap.Until},
			SettingChosen{Guild: gap.Guild, Channel: gap.Channel, Key: SettingPast,
				Value: fmt.Sprint(int64(gap.Until)), At: at})
	}
	return events
}
