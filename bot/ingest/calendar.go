package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/memory"
)

// scheduled reads an event that was made or changed.
func (c *converter) scheduled(e *discord.ScheduledEvent, out *converted) {
	guild := memory.GuildID(e.Guild)
	if e.ID == 0 || guild == 0 {
		return
	}
	if e.IsOver() {
		c.unscheduled(e, out)
		return
	}
	out.calendar = &calendar{guild: guild, shown: c.shown(guild, []discord.ScheduledEvent{*e})}
}

// unscheduled reads an event that was deleted.
func (c *converter) unscheduled(e *discord.ScheduledEvent, out *converted) {
	if e.ID != 0 && e.Guild != 0 {
		out.calendar = &calendar{guild: memory.GuildID(e.Guild), over: []int64{int64(e.ID)}}
	}
}

// shown returns the lore of those events that aren't over.
func (c *converter) shown(guild memory.GuildID, events []discord.ScheduledEvent) []memory.Lore {
	var shown []memory.Lore
	for _, e := range events {
		if e.ID != 0 && !e.IsOver() {
			shown = append(shown, loreOf(guild, e, c.now()))
		}
	}
	return shown
}

// loreOf returns what is kept of a scheduled event. Its time and place are Discord's tags, which each reader sees in
// their own way.
func loreOf(guild memory.GuildID, e discord.ScheduledEvent, now time.Time) memory.Lore {
	lines := []string{strings.Join(slices.DeleteFunc([]string{
		spanOf(e.Start, e.End),
		placeOf(e),
	}, func(s string) bool { return s == "" }), ", ")}
	if e.Description != "" {
		lines = append(lines, e.Description)
	}
	return memory.Lore{
		ID:        int64(e.ID),
		Guild:     guild,
		Name:      cmp.Or(e.Name, "event"),
		Text:      cmp.Or(strings.TrimSpace(strings.Join(lines, "\n")), "scheduled"),
		By:        memory.UserID(e.Creator),
		Channel:   memory.ChannelID(e.Channel),
		At:        now.Truncate(time.Millisecond),
		Scheduled: true,
	}
}

// spanOf returns the time from start to end; "" if start is unknown.
func spanOf(start, end time.Time) string {
	switch {
	case start.IsZero():
		return ""
	case end.IsZero():
		return fmt.Sprintf("<t:%d:F>", start.Unix())
	}
	return fmt.Sprintf("<t:%d:F> – <t:%d:F>", start.Unix(), end.Unix())
}

// placeOf returns where an event takes place; "" if that is unknown.
func placeOf(e discord.ScheduledEvent) string {
	if e.Channel != 0 {
		return fmt.Sprintf("<#%d>", e.Channel)
	}
	return strings.Join(strings.Fields(e.Entity.Location), " ")
}

// remembered returns those shown events that may be kept.
func (w *Writer) remembered(ctx context.Context, c calendar) ([]memory.Lore, error) {
	g, err := w.Filter.Guild(ctx, c.guild)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(c.shown), func(l memory.Lore) bool {
		if l.Channel == 0 {
			return !w.Policy.RemembersGuild(g)
		}
		return !w.Policy.Remembers(g, l.Channel)
	}), nil
}

// changes returns what turns the kept lore of a guild into what may be kept of its calendar.
func (c calendar) changes(kept, may []memory.Lore) []memory.Event {
	before := map[int64]memory.Lore{}
	for _, l := range kept {
		if l.Scheduled {
			before[l.ID] = l
		}
	}
	var events []memory.Event
	for _, l := range may {
		old := before[l.ID]
		if isSame(old, l) {
			continue
		}
		if !l.At.After(old.At) { // the later version holds
			l.At = old.At.Add(time.Millisecond)
		}
		events = append(events, memory.LoreTold{Lore: l})
	}
	over := map[int64]bool{}
	for _, id := range c.over {
		over[id] = true
	}
	for id := range before {
		is := func(l memory.Lore) bool { return l.ID == id }
		isShown := slices.ContainsFunc(c.shown, is)
		mayStay := slices.ContainsFunc(may, is)
		if isShown && !mayStay || c.whole && !isShown { // it moved to where nothing is remembered, or it is over
			over[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(over)) {
		events = append(events, memory.LoreGone{Guild: c.guild, ID: id})
	}
	return events
}

// isSame reports whether nothing of a scheduled event has changed but when Hark heard of it.
func isSame(before, now memory.Lore) bool {
	now, err := now.Checked()
	return err == nil && before.Name == now.Name && before.Text == now.Text && before.Channel == now.Channel
}
