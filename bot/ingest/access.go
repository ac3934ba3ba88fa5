package ingest

import (
	"context"
	"errors"

	"hark/memory"
)

// noteAccessChanges records the channels that Hark lost or regained by committed events. Nothing of a regained
// one is used until all that is remembered there is compared with Discord.
func (w *Writer) noteAccessChanges(ctx context.Context, events []memory.Event) error {
	for guild := range w.guildsWithAccessChanges(events) {
		var found []memory.Event
		err := w.retry(ctx, func() (err error) {
			found, err = w.accessEvents(ctx, guild)
			return err
		})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			if err := w.commit(ctx, found); err != nil {
				return err
			}
			w.filler.Nudge()
		}
	}
	return nil
}

// guildsWithAccessChanges returns the guilds in which events may have changed what Hark can read.
func (w *Writer) guildsWithAccessChanges(events []memory.Event) map[memory.GuildID]bool {
	guilds := map[memory.GuildID]bool{}
	for _, s := range subjectsOf(events) {
		if s.Guild != memory.DirectGuild && (s.affectsAccess || s.person == w.convert.self) {
			guilds[s.Guild] = true
		}
	}
	return guilds
}

// accessEvents returns the channels of a guild that Hark lost or regained, as events.
func (w *Writer) accessEvents(ctx context.Context, guild memory.GuildID) ([]memory.Event, error) {
	g, err := w.Memory.Guild(ctx, guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	shut, err := ShutOut(ctx, w.Memory, g)
	if err != nil || shut == nil {
		return nil, err
	}
	unswept, err := w.Memory.Gaps(ctx, guild, true)
	if err != nil {
		return nil, err
	}
	waits := map[memory.ChannelID]bool{}
	for _, gap := range unswept {
		waits[gap.Channel] = true
	}
	heard, err := w.Memory.HeardUntil(ctx, guild)
	if err != nil {
		return nil, err
	}
	var events []memory.Event
	for _, c := range g.Channels {
		if c.Kind == memory.CategoryChannel || c.Unplaced {
			continue
		}
		switch {
		case shut[c.ID] && (!c.Shut || waits[c.ID]):
			events = append(events, memory.ShutOut{Guild: guild, Channel: c.ID})
		case !shut[c.ID] && c.Shut && !waits[c.ID]:
			events = append(events, memory.Absent{
				Guild:   guild,
				Channel: c.ID,
				At:      w.Now(),
			})
			v := &catchUpPlan{
				guild: guild,
				heard: heard,
				since: g.Since,
			}
			gap, missed := w.gap(v, channelSnapshot{c.ID, timeID(w.Now()), c.Kind.IsThread()})
			if missed && w.Policy.Remembers(g, c.ID) {
				events = append(events, memory.GapFound{Gap: gap})
			}
		}
	}
	return events, nil
}
