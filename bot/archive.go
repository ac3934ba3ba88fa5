package bot

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/memory"
)

// archiveList is a list of a channel's archived threads.
type archiveList struct {
	path string
	// byID says that the list is in order of ids rather than of when threads were archived.
	byID bool
}

var (
	publicArchive  = archiveList{path: "/threads/archived/public"}
	privateArchive = archiveList{path: "/threads/archived/private"}                       // for those who manage threads
	joinedArchive  = archiveList{path: "/users/@me/threads/archived/private", byID: true} // the private ones that Hark is in
)

// searchArchive finds what is missing of a channel's threads that are in the archive, as far back as anything is fetched.
func (f *filler) searchArchive(ctx context.Context, t task) error {
	err := f.searchList(ctx, t, publicArchive)
	if err == nil || denied(err) {
		if err = f.searchList(ctx, t, privateArchive); denied(err) {
			err = f.searchList(ctx, t, joinedArchive)
		}
	}
	if denied(err) {
		return nil
	}
	return err
}

func (f *filler) searchList(ctx context.Context, t task, list archiveList) error {
	bucket := discordgo.EndpointChannel(t.channel.String()) + list.path
	bound := f.bot.now().Add(-f.bot.cfg.CatchUp)
	for before := ""; ; {
		address := fmt.Sprintf("%s?limit=%d%s", bucket, pageSize, before)
		var page struct {
			Threads []*wireChannel `json:"threads"`
			More    bool           `json:"has_more"`
		}
		if err := f.bot.rest.call(ctx, http.MethodGet, address, bucket, nil, &page); err != nil {
			return fmt.Errorf("list the archived threads of channel %d: %w", t.channel, err)
		}
		if err := f.archived(ctx, t, page.Threads, bound); err != nil || !page.More || len(page.Threads) == 0 {
			return err
		}
		last := page.Threads[len(page.Threads)-1]
		if last == nil || last.Thread == nil || !list.byID && last.Thread.Archived.Before(bound) {
			return nil
		}
		next := "&before=" + url.QueryEscape(last.Thread.Archived.Format(time.RFC3339Nano))
		if list.byID {
			next = fmt.Sprintf("&before=%d", last.ID)
		}
		if next == before {
			return nil
		}
		before = next
	}
}

// archived keeps what is missing of archived threads.
func (f *filler) archived(ctx context.Context, t task, threads []*wireChannel, bound time.Time) error {
	var events []memory.Event
	for _, w := range threads {
		ch, ok := channelOf(w, t.visit.guild)
		if !ok || !ch.Kind.IsThread() || w.Last == 0 || w.Thread == nil || w.Thread.Archived.Before(bound) {
			continue
		}
		last := memory.MessageID(w.Last)
		if gap, missed := f.bot.pump.gaps.gap(t.visit, sighted{ch.ID, last, true}); missed {
			events = append(events, memory.ChannelSeen{Channel: ch}, memory.GapFound{Gap: gap})
		}
	}
	if len(events) == 0 {
		return nil
	}
	return f.bot.commit(ctx, events)
}
