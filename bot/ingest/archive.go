package ingest

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"hark/bot/discord"
	"hark/memory"
)

// The lists of archived threads.
const (
	publicArchive  = "/threads/archived/public"
	privateArchive = "/threads/archived/private"           // for those who manage threads
	joinedArchive  = "/users/@me/threads/archived/private" // the private ones that Hark is in, in order of their ids
)

// searchArchive finds gaps in a channel's archived threads, as far back as CatchUp.
func (f *Filler) searchArchive(ctx context.Context, v *catchUpPlan, channel memory.ChannelID) error {
	remembered, err := f.Filter.Remembers(ctx, v.guild, channel)
	if err != nil || !remembered {
		return err
	}
	err = f.searchArchiveList(ctx, v, channel, publicArchive)
	if err == nil || discord.Denied(err) {
		err = f.searchArchiveList(ctx, v, channel, privateArchive)
		if discord.Denied(err) {
			err = f.searchArchiveList(ctx, v, channel, joinedArchive)
		}
	}
	if discord.Denied(err) {
		return nil
	}
	return err
}

func (f *Filler) searchArchiveList(ctx context.Context, v *catchUpPlan, channel memory.ChannelID, list string) error {
	bound := f.Now().Add(-f.CatchUp)
	for before := ""; ; {
		page, err := f.Client.ArchivedThreads(ctx, channel, list, before)
		if err != nil {
			return err
		}
		if err := f.gapsInThreads(ctx, v, page.Threads, bound); err != nil || !page.More || len(page.Threads) == 0 {
			return err
		}
		last := page.Threads[len(page.Threads)-1]
		if last == nil || last.Thread == nil || list != joinedArchive && last.Thread.Archived.Before(bound) {
			return nil
		}
		next := "&before=" + url.QueryEscape(last.Thread.Archived.Format(time.RFC3339Nano))
		if list == joinedArchive {
			next = fmt.Sprintf("&before=%d", last.ID)
		}
		if next == before {
			return nil
		}
		before = next
	}
}

// gapsInThreads records the gaps of archived threads.
func (f *Filler) gapsInThreads(ctx context.Context, v *catchUpPlan, threads []*discord.Channel,
	bound time.Time) error {
	var events []memory.Event
	for _, w := range threads {
		ch, ok := discord.ChannelOf(w, v.guild)
		if !ok || !ch.Kind.IsThread() || w.Last == 0 || w.Thread == nil || w.Thread.Archived.Before(bound) {
			continue
		}
		if gap, missed := f.gap(v, channelSnapshot{ch.ID, memory.MessageID(w.Last), true}); missed {
			events = append(events, memory.ChannelSeen{Channel: ch}, memory.GapFound{Gap: gap})
		}
	}
	if len(events) == 0 {
		return nil
	}
	return f.Queue.Commit(ctx, events)
}
