package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"hark/internal/lease"
	"hark/internal/pace"
	"hark/memory"
)

// Failing reports whether writing the log fails.
func (w *Writer) Failing() bool { return w.failing.Load() }

// Settled reports whether the log has all that Discord told in this session, once Run has returned: another process
// can take the session up.
func (w *Writer) Settled() bool {
	return w.Queue.Len() == 0 && w.takenUp == nil && w.Guilds.settled() && len(w.convert.fetching) == 0 &&
		w.filler.Settled()
}

// gather waits, so that more events share the next commit. It returns early once somebody waits for an event.
func (w *Writer) gather(ctx context.Context) {
	pause := time.NewTimer(w.Timing.Gather)
	defer pause.Stop()
	seen := 0
	for {
		items, closed := w.Queue.after(seen)
		if closed || slices.ContainsFunc(items, w.isAwaited) {
			return
		}
		seen += len(items)
		select {
		case <-w.Queue.wake:
		case <-pause.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// isAwaited reports whether somebody in Discord waits for an item: it asks Hark something, or is the use of a command.
func (w *Writer) isAwaited(it Item) bool {
	if it.Raw == nil {
		return false
	}
	return it.Logged != nil || w.convert.asks(it.Raw)
}

// dropWithdrawn drops questions that are gone before they were asked.
func (c *commit) dropWithdrawn(s Subject) {
	c.asks = slices.DeleteFunc(c.asks, func(a *Question) bool {
		gone := s.Ends(a.Guild, a.Channel, 0) || s.Channel == a.Channel && slices.Contains(s.Deleted, a.ID)
		if gone {
			c.events = append(c.events, a.Closed())
		}
		return gone
	})
}

// noteMembers records who may read what from now on, and who has which roles.
func (w *Writer) noteMembers(c converted) {
	if c.members != nil {
		c.members(w.MemberRoles)
	}
	w.Attendance.Advance(c.heard)
	if c.plan != nil {
		for _, s := range c.plan.channels {
			w.Attendance.Advance(s.last)
		}
	}
	if c.merge != nil {
		w.Attendance.Observe([]memory.Event{memory.GuildSeen{Guild: *c.merge}})
	}
	w.Attendance.Observe(c.events)
	for _, m := range c.met {
		w.Attendance.SawMember(m.person, m.joined, c.heard != 0)
		if c.heard != 0 {
			w.MemberRoles.Check(m.person)
		}
	}
}

// commit logs events. It skips those that the log refuses for good, with those that can't be logged without them.
func (w *Writer) commit(ctx context.Context, events []memory.Event) error {
	refused := false
	err := w.retry(ctx, func() error {
		err := w.Filter.commit(ctx, events)
		refused = errors.Is(err, memory.ErrRefused)
		if refused {
			return nil
		}
		return err
	})
	if err != nil || !refused {
		return err
	}
	parts := splitIndependent(events)
	if len(parts) == 1 {
		w.Log.Error().Str("event", fmt.Sprintf("%T", events[0])).Int64("message",
			int64(subjectOf(events[0]).message)).Msg("the log refuses an event; passed it over")
		return nil
	}
	for _, part := range parts {
		if err := w.commit(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// splitIndependent splits events into parts that can be logged alone. An answer stays with its trace.
func splitIndependent(events []memory.Event) [][]memory.Event {
	var parts [][]memory.Event
	begin := 0
	for i := 1; i < len(events); i++ {
		_, trace := events[i].(memory.Answered)
		if trace || subjectOf(events[i-1]).fromHark && subjectOf(events[i]).fromHark {
			continue
		}
		parts = append(parts, events[begin:i])
		begin = i
	}
	return append(parts, events[begin:])
}

// retry repeats do until it succeeds, ctx ends or the leases are lost: then another process writes.
func (w *Writer) retry(ctx context.Context, do func() error) error {
	for wait := w.Timing.Retry; ; wait = min(2*wait, longestRetry) {
		err := do()
		if errors.Is(err, lease.ErrLost) {
			return err
		}
		w.setFailing(err)
		if err == nil {
			return nil
		}
		if err := pace.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// setFailing records whether writing the log fails, and logs changes. Only one goroutine calls it.
func (w *Writer) setFailing(err error) {
	if w.failing.Swap(err != nil) == (err != nil) {
		return
	}
	if err != nil {
		w.Log.Error().Err(err).Int("waiting", w.Queue.Len()).Msg("the log can't be written; trying on")
	} else {
		w.Log.Info().Int("waiting", w.Queue.Len()).Msg("the log can be written again")
	}
	w.Progress()
}

// Writer is the ingest writer: one goroutine writes the queue to the log, so events stay in order.
type Writer struct {
	*Options
	convert *converter
	filler  *Filler
	ask     func(*Question)               // called once a question is committed
	before  map[memory.GuildID]priorGuild // state of guilds that Discord is about to describe again
	takenUp map[memory.GuildID]bool       // of another process's session, until Discord has sent what happened since

	failing atomic.Bool // whether the log can't be written
}

// commit is a set of events to commit together, and what waits for it.
type commit struct {
	events []memory.Event
	seen   []memory.Person // members whose roles the events had
	asks   []*Question
	logged []chan<- struct{}
	// incomplete is to be fetched after the commit.
	incomplete []incomplete
}

// priorGuild is a guild as the log had it before an absence.
type priorGuild struct {
	heard  lastSeen
	placed []memory.Channel // that Discord had described
}
