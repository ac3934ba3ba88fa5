package bot

import (
	"context"
	"maps"
	"slices"

	"hark/memory"
)

// compare brings the newest messages of a channel that are in the log to what Discord has of them: edits and deletions
// may have been missed. What the log had before Discord was asked, and Discord's answer covers without it, is deleted. What
// Discord has and the log never heard of is added.
func (f *filler) compare(ctx context.Context, t task) error {
	ours, err := f.bot.memory.Around(ctx, t.channel, []memory.MessageID{t.until}, f.bot.cfg.Reconcile, 0)
	if err != nil || len(ours) == 0 {
		return err
	}
	theirs, from, err := f.newest(ctx, t, ours[0].ID)
	if denied(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.asked = nil
	var events []memory.Event
	gone := memory.Deleted{Guild: t.visit.guild, Channel: t.channel}
	for _, m := range ours {
		w, there := theirs[m.ID]
		switch {
		case m.ID < from:
		case !there || w.Flags&sourceDeleted != 0:
			gone.IDs = append(gone.IDs, m.ID)
		case w.Edited.UnixMilli() > m.Edited.UnixMilli() && m.Kind != memory.FromHark:
			events = f.tell(events, &w)
			f.tally.edited++
		}
	}
	after := t.visit.after(t.channel, f.bot.cfg.CatchUp, f.bot.now())
	for _, id := range slices.Sorted(maps.Keys(theirs)) {
		known := slices.ContainsFunc(ours, func(m memory.Message) bool { return m.ID == id })
		if w := theirs[id]; after > 0 && id > after && !known {
			events = f.tell(events, &w)
			f.ask(&w)
			f.tally.messages++
		}
	}
	if len(gone.IDs) > 0 {
		events = append(events, gone)
		f.tally.deleted += len(gone.IDs)
	}
	if len(events) == 0 {
		return nil
	}
	return f.commit(ctx, events)
}

// newest are Discord's newest messages of a channel, down to one or as many as are to be compared. All that there are
// with an id of at least from are among them.
func (f *filler) newest(ctx context.Context, t task, oldest memory.MessageID) (found map[memory.MessageID]wireMessage, from memory.MessageID, err error) {
	found = map[memory.MessageID]wireMessage{}
	for before := memory.MessageID(0); ; before = from {
		page, err := f.fetch(ctx, t.visit.guild, t.channel, "before", before)
		if err != nil {
			return nil, 0, err
		}
		if len(page) == 0 {
			// It is the channel's beginning, unless what seems empty is merely closed.
			return found, 0, f.confirm(ctx, t.visit.guild, t.channel)
		}
		for _, w := range page {
			found[memory.MessageID(w.ID)] = w
		}
		from = memory.MessageID(page[0].ID)
		if from <= oldest || len(found) >= f.bot.cfg.Reconcile+pageSize {
			return found, from, nil
		}
	}
}
