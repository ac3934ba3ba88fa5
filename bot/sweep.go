package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

// sweepMost is how many messages of the log are compared with one page at most: more than a page, of which many may be deleted.
const sweepMost = 1000

// sweep compares the next page of what may have changed unheard, if it is time for one, and reports whether there is more to
// be compared. If alone, it waits until it is time, or until there is something else to do.
func (f *filler) sweep(ctx context.Context, alone bool) (bool, error) {
	g, ok, err := f.unswept(ctx)
	if !ok || err != nil {
		return false, err
	}
	if wait := time.Until(f.next); wait > 0 {
		if alone {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-f.wake:
			case <-ctx.Done():
			}
		}
		return true, nil
	}
	f.asked = nil
	var heard memory.MessageID
	f.mu.Lock()
	v := f.visits[g.Guild]
	f.mu.Unlock()
	if v != nil && g.Until <= v.at {
		heard = v.after(g.Channel, f.bot.cfg.CatchUp, f.bot.now())
	}
	c, err := f.bot.compare(ctx, f.convert, g, heard)
	if c.fetched {
		f.next = time.Now().Add(f.bot.timing.sweep)
	}
	if err == nil {
		for i := range c.missed {
			f.ask(&c.missed[i])
		}
		err = f.commit(ctx, append(c.events, memory.GapFilled{Gap: g, Through: c.through}))
	}
	if denied(err) && code(err) != discordgo.ErrCodeUnknownChannel {
		err = cmp.Or(f.confirm(ctx, g.Guild, g.Channel), err) // a single refusal may be about something else
	}
	switch {
	case errors.Is(err, errUnreadable):
		err = f.bot.commit(ctx, []memory.Event{memory.ShutOut{Guild: g.Guild, Channel: g.Channel}})
	case code(err) == discordgo.ErrCodeUnknownChannel:
		f.tally.channels++
		err = f.bot.commit(ctx, []memory.Event{memory.ChannelDeleted{Guild: g.Guild, Channel: g.Channel, At: f.bot.now()}, memory.GapFilled{Gap: g, Through: g.Until}})
	}
	if err != nil {
		f.failed(ctx, err, "couldn't compare a channel with Discord's yet")
		f.later[keyOf(g)] = f.bot.now().Add(f.bot.timing.aside)
		return true, nil
	}
	f.tally.edited, f.tally.deleted, f.tally.messages = f.tally.edited+c.edited, f.tally.deleted+c.deleted, f.tally.messages+len(c.missed)
	return true, nil
}

// unswept is what is to be compared next. What isn't remembered any more waits until it is, and so do channels of which Discord
// doesn't tell: they may be known by imports only.
func (f *filler) unswept(ctx context.Context) (memory.Gap, bool, error) {
	all, err := f.bot.memory.Gaps(ctx, memory.Everywhere, true)
	if err != nil {
		return memory.Gap{}, false, err
	}
	for _, g := range all {
		if f.bot.now().Before(f.later[keyOf(g)]) {
			continue
		}
		guild, err := f.bot.admit.guild(ctx, g.Guild)
		if err != nil {
			return memory.Gap{}, false, err
		}
		unplaced := slices.ContainsFunc(guild.Channels, func(c memory.Channel) bool { return c.ID == g.Channel && c.Unplaced })
		if !unplaced && f.bot.cfg.Policy.Remembers(guild, g.Channel) {
			return g, true, nil
		}
	}
	return memory.Gap{}, false, nil
}

// compared is what follows from comparing a stretch with Discord's.
type compared struct {
	events          []memory.Event
	through         memory.MessageID // up to where it was compared
	fetched         bool             // whether Discord was asked
	edited, deleted int
	missed          []wireMessage // that the log never heard of
}

// compare compares the beginning of a stretch of a channel with one page of Discord's. What the log had before Discord was
// asked, and Discord's answer covers without it, is deleted, unless an import gave it its id. Of what comes after heard, if that isn't 0, what Discord has and the
// log doesn't is added.
func (b *Bot) compare(ctx context.Context, convert *converter, g memory.Gap, heard memory.MessageID) (compared, error) {
	c := compared{through: g.Until}
	ours, err := b.memory.Log(ctx, g.Channel, g.After, g.Until, sweepMost)
	if err != nil {
		return c, err
	}
	from := max(g.After, heard)
	switch {
	case len(ours) > 0:
		from = ours[0].ID - 1
	case heard == 0 || heard >= g.Until:
		return c, nil
	}
	c.fetched = true
	page, err := b.filler.fetch(ctx, g.Guild, g.Channel, "after", max(from, 1))
	if err == nil && len(page) == 0 && len(ours) > 0 {
		err = b.filler.confirm(ctx, g.Guild, g.Channel)
	}
	if err != nil {
		return c, err
	}
	names, err := b.memory.NameOf(ctx, g.Channel, messageIDs(ours))
	if err != nil {
		return c, err
	}
	c.read(convert, g, heard, ours, page, names)
	return c, nil
}

func messageIDs(messages []memory.Message) []memory.MessageID {
	ids := make([]memory.MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

func (c *compared) read(convert *converter, g memory.Gap, heard memory.MessageID, ours []memory.Message, page []wireMessage, names map[memory.MessageID]string) {
	if len(page) > 0 {
		c.through = min(c.through, memory.MessageID(page[len(page)-1].ID))
	}
	if len(ours) == sweepMost {
		c.through = min(c.through, ours[sweepMost-1].ID)
	}
	theirs := map[memory.MessageID]*wireMessage{}
	for i := range page {
		theirs[memory.MessageID(page[i].ID)] = &page[i]
	}
	gone, more := memory.Deleted{Guild: g.Guild, Channel: g.Channel}, len(page) == pageSize
	known := map[memory.MessageID]bool{}
	for _, m := range ours {
		w, there := theirs[m.ID]
		known[m.ID] = true
		switch {
		case m.ID > c.through:
			more = true
		case !there && names[m.ID] != "":
		case !there || w.Flags&sourceDeleted != 0:
			gone.IDs = append(gone.IDs, m.ID)
		case w.Edited.UnixMilli() > m.Edited.UnixMilli() && m.Kind != memory.FromHark:
			c.events = tell(convert, c.events, w)
			c.edited++
		}
	}
	for i := range page {
		if id := memory.MessageID(page[i].ID); heard > 0 && id > heard && id <= c.through && !known[id] {
			c.events = tell(convert, c.events, &page[i])
			c.missed = append(c.missed, page[i])
		}
	}
	if c.deleted = len(gone.IDs); c.deleted > 0 {
		c.events = append(c.events, gone)
	}
	if !more {
		c.through = g.Until
	}
}
