package ingest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/memory"
)

// sweepLimit bounds the logged messages compared with one page. It exceeds a page, because many may be deleted.
const sweepLimit = 1000

// nextSweep returns the next range to compare, if any. Channels that aren't remembered now wait, and so do unplaced
// ones, which may be known from imports only.
func (f *Filler) nextSweep(ctx context.Context) (memory.Gap, bool, error) {
	all, err := f.Memory.Gaps(ctx, memory.Everywhere, true)
	if err != nil {
		return memory.Gap{}, false, err
	}
	for _, g := range all {
		if f.isPostponed(g) {
			continue
		}
		guild, err := f.Filter.Guild(ctx, g.Guild)
		if err != nil {
			return memory.Gap{}, false, err
		}
		unplaced := slices.ContainsFunc(guild.Channels, func(c memory.Channel) bool {
			return c.ID == g.Channel && c.Unplaced
		})
		if !unplaced && f.Policy.Remembers(guild, g.Channel) {
			return g, true, nil
		}
	}
	return memory.Gap{}, false, nil
}

// comparePage compares the next page of a range. If Discord refuses for good, it finds the channel shut or deleted.
func (f *Filler) comparePage(ctx context.Context, g memory.Gap) (pageResult, error) {
	var heard memory.MessageID
	f.mu.Lock()
	v := f.plans[g.Guild]
	f.mu.Unlock()
	if v != nil && g.Until <= v.at {
		heard = f.missingAfter(v, g.Channel)
	}
	c, err := f.compare(ctx, f.convert, g, heard)
	if c.fetched {
		f.sweepAt = time.Now().Add(f.Timing.Sweep)
	}
	if err == nil {
		c.events = append(c.events, memory.GapFilled{Gap: g, Through: c.through})
		return c.pageResult, nil
	}
	if discord.Denied(err) && discord.Code(err) != discord.CodeUnknownChannel {
		err = cmp.Or(f.confirmReadable(ctx, g.Guild, g.Channel), err) // a single refusal may be about something else
	}
	switch {
	case errors.Is(err, discord.ErrUnreadable):
		return pageResult{events: []memory.Event{memory.ShutOut{Guild: g.Guild, Channel: g.Channel}}}, nil
	case discord.Code(err) == discord.CodeUnknownChannel:
		gone := memory.ChannelDeleted{
			Guild:   g.Guild,
			Channel: g.Channel,
			At:      f.Now(),
		}
		return pageResult{events: []memory.Event{gone, memory.GapFilled{Gap: g, Through: g.Until}},
			tally: tally{channels: 1}}, nil
	}
	return pageResult{}, err
}

// recheck compares a range with one page of Discord's and commits the differences. It returns how far it compared.
// Any goroutine may call it.
func (f *Filler) recheck(ctx context.Context, g memory.Gap) (through memory.MessageID, err error) {
	c, err := f.compare(ctx, f.converter(), g, 0)
	if err == nil && len(c.events) > 0 {
		err = f.Queue.Commit(ctx, c.events)
	}
	if err != nil {
		f.failed(ctx, err, "couldn't look up what is about to be used, so it isn't")
	}
	return c.through, err
}

// compared is the result of comparing a range with Discord.
type compared struct {
	pageResult
	through memory.MessageID // compared up to here
	fetched bool             // whether Discord was asked
}

// compare compares the beginning of a channel's range with one page of Discord's. A logged message that the page
// covers but lacks is deleted, unless an import gave it its id. After heard, unless that is 0, messages that only
// Discord has are added.
func (f *Filler) compare(ctx context.Context, convert *converter, g memory.Gap,
	heard memory.MessageID) (compared, error) {
	c := compared{through: g.Until}
	ours, err := f.Memory.Log(ctx, g.Channel, g.After, g.Until, sweepLimit)
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
	page, err := f.Client.Messages(ctx, g.Guild, g.Channel, max(from, 1))
	if err == nil && len(page) == 0 && len(ours) > 0 {
		err = f.confirmReadable(ctx, g.Guild, g.Channel)
	}
	if err != nil {
		return c, err
	}
	ids := map[memory.MessageID]bool{}
	theirs := map[memory.MessageID]*discord.Message{}
	for _, m := range ours {
		ids[m.ID] = true
	}
	for i := range page {
		theirs[memory.MessageID(page[i].ID)] = &page[i]
	}
	names, err := f.Memory.ExternalIDs(ctx, g.Channel, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return c, err
	}
	more := len(page) == discord.PageSize
	if len(page) > 0 {
		c.through = min(c.through, memory.MessageID(page[len(page)-1].ID))
	}
	if len(ours) == sweepLimit {
		c.through = min(c.through, ours[sweepLimit-1].ID)
	}
	gone := memory.Deleted{Guild: g.Guild, Channel: g.Channel}
	for _, m := range ours {
		w, there := theirs[m.ID]
		switch {
		case m.ID > c.through:
			more = true
		case !there && names[m.ID] != "":
		case !there || w.Flags&sourceDeleted != 0:
			gone.IDs = append(gone.IDs, m.ID)
		case w.Edited.UnixMilli() > m.Edited.UnixMilli() && m.Kind != memory.FromHark:
			c.add(f.Options, convert, w, false)
			c.edited++
		}
	}
	for i := range page {
		if id := memory.MessageID(page[i].ID); heard > 0 && id > heard && id <= c.through && !ids[id] {
			c.add(f.Options, convert, &page[i], true)
			c.messages++
		}
	}
	c.deleted = len(gone.IDs)
	if c.deleted > 0 {
		c.events = append(c.events, gone)
	}
	if !more {
		c.through = g.Until
	}
	return c, nil
}
