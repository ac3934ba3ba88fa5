package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// PastOf returns the requested gaps of a channel and its threads that are still to fetch.
func PastOf(ctx context.Context, store WorkReader, g *Guild, id ChannelID) ([]Gap, error) {
	gaps, err := store.Gaps(ctx, g.ID, false)
	if err != nil {
		return nil, err
	}
	all := g.WithThreads(id)
	return slices.DeleteFunc(gaps, func(gap Gap) bool {
		return !gap.Past || !slices.ContainsFunc(all, func(c Channel) bool { return c.ID == gap.Channel })
	}), nil
}

// PastReader is the part of a Store that knows what of a channel's past there is.
type PastReader interface {
	MessageReader
	WorkReader
}

// PastGaps returns the gaps to request for the past of a channel and its threads from after on: those that
// may allows and that aren't requested yet. begun is their latest end, including empty ones; zero if there
// are none.
func PastGaps(ctx context.Context, store PastReader, g *Guild, id ChannelID, after MessageID, now time.Time,
	may func(Channel) bool) (gaps []Gap, begun time.Time, err error) {
	listed, err := PastOf(ctx, store, g, id)
	if err != nil {
		return nil, begun, err
	}
	for _, c := range g.WithThreads(id) {
		there := slices.ContainsFunc(listed, func(gap Gap) bool { return gap.Channel == c.ID })
		if there || c.Kind == ForumChannel || !may(c) { // a forum holds only threads
			continue
		}
		gap := Gap{
			Guild:   g.ID,
			Channel: c.ID,
			After:   after,
			Past:    true,
		}
		gap.Until, err = pastEnd(ctx, store, g, c, now)
		if err != nil {
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

// pastEnd returns the last message that may be from before Hark listened in a channel: before its oldest
// message; or, if older ones were imported, before Hark came to the guild, or where fetching stopped.
func pastEnd(ctx context.Context, store MessageReader, g *Guild, c Channel, now time.Time) (MessageID, error) {
	until := FirstMessageID(now)
	oldest, err := store.Log(ctx, c.ID, 0, until, 1)
	if err != nil || len(oldest) == 0 {
		return until, err
	}
	stopped, _ := strconv.ParseInt(c.Settings[SettingPast], 10, 64)
	return max(oldest[0].ID-1, g.Since, MessageID(stopped)), nil
}

// NewPast returns the events that make all messages so far the past of the channels of g that a choice newly
// allows, so that they can be fetched even if older messages are known.
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
			events = append(events, SettingChosen{
				Guild:   g.ID,
				Channel: c.ID,
				Key:     SettingPast,
				Value:   fmt.Sprint(int64(FirstMessageID(at) - 1)),
				At:      at,
			})
		}
	}
	return events
}

// BeginPast returns the events that request gaps.
func BeginPast(gaps []Gap, at time.Time) []Event {
	var events []Event
	for _, gap := range gaps {
		events = append(events, GapFound{Gap: gap}, SettingChosen{
			Guild:   gap.Guild,
			Channel: gap.Channel,
			Key:     SettingPast,
			At:      at,
		})
	}
	return events
}

// StopPast returns the events that withdraw requested gaps. They keep where each stopped, so that the rest
// can be requested again.
func StopPast(gaps []Gap, at time.Time) []Event {
	var events []Event
	for _, gap := range gaps {
		events = append(events, GapFilled{Gap: gap, Through: gap.Until},
			SettingChosen{
				Guild:   gap.Guild,
				Channel: gap.Channel,
				Key:     SettingPast,
				Value:   fmt.Sprint(int64(gap.Until)),
				At:      at,
			})
	}
	return events
}
