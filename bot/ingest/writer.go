package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"hark/internal/lease"
	"hark/internal/pace"
	"hark/memory"
)

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

// NewWriter returns a writer that isn't running yet. It calls ask with each question once that is committed.
func NewWriter(o *Options, f *Filler, ask func(*Question)) *Writer {
	return &Writer{Options: o, convert: o.converter(), filler: f, ask: ask,
		before: map[memory.GuildID]priorGuild{}}
}

// Failing reports whether writing the log fails.
func (w *Writer) Failing() bool { return w.failing.Load() }

// Settled reports whether the log has all that Discord told in this session, once Run has returned: another process
// can take the session up.
func (w *Writer) Settled() bool {
	return w.Queue.Len() == 0 && w.takenUp == nil && w.Guilds.settled() && len(w.convert.fetching) == 0 &&
		w.filler.Settled()
}

// Run writes until the queue is closed and empty, or ctx ends. It returns how many items are left.
func (w *Writer) Run(ctx context.Context) (left int) {
	for {
		batch := w.Queue.take(ctx)
		if batch == nil || w.write(ctx, batch) != nil {
			return w.Queue.Len()
		}
		w.Queue.done(len(batch))
		w.Progress()
		if len(batch) < batchItems { // else more may be waiting
			w.gather(ctx)
		}
	}
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

// write converts and commits a batch. It fails only when ctx ends or the leases are lost.
func (w *Writer) write(ctx context.Context, batch []Item) error {
	var out commit
	for _, it := range batch {
		if it.Raw == nil {
			out.events = append(out.events, it.Events...)
		} else if err := w.read(ctx, *it.Raw, &out); err != nil {
			return err
		}
		if it.Logged != nil {
			out.logged = append(out.logged, it.Logged)
		}
	}
	return w.flush(ctx, &out)
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

func (w *Writer) read(ctx context.Context, raw rawEvent, out *commit) error {
	if raw.kind == takenUp {
		return w.retry(ctx, func() error { return w.onTakenUp(ctx) })
	}
	c, err := w.convert.convert(raw)
	if err != nil {
		w.Log.Error().Err(err).Str("event", raw.kind).Int("bytes", len(raw.data)).Msg("passed over an event")
	}
	if c.merge != nil {
		if err := w.merge(ctx, *c.merge, out); err != nil {
			return err
		}
	}
	if c.update {
		if err := w.dropOld(ctx, &c, out); err != nil {
			return err
		}
	}
	if c.calendar != nil {
		if err := w.schedule(ctx, *c.calendar, out); err != nil {
			return err
		}
	}
	w.noteMembers(c)
	out.events = append(out.events, c.events...)
	out.seen = append(out.seen, c.seen...)
	for _, s := range subjectsOf(c.events) {
		out.dropWithdrawn(s)
	}
	out.incomplete = append(out.incomplete, c.incomplete...)
	// A later event of the same commit could undo a loss of access unnoticed.
	if len(w.guildsWithAccessChanges(c.events)) > 0 {
		if err := w.flush(ctx, out); err != nil {
			return err
		}
	}
	switch {
	case raw.kind == "READY":
		w.takenUp = nil
		w.Guilds.begin(c.guilds)
	case c.unavailable != 0:
		delete(w.takenUp, c.unavailable)
		w.Guilds.set(false, c.unavailable)
	case raw.kind == "RESUMED" && w.takenUp != nil:
		if err := w.flush(ctx, out); err != nil {
			return err
		}
		w.Guilds.set(true, slices.Collect(maps.Keys(w.takenUp))...)
		w.takenUp = nil
	}
	if c.ask != nil {
		out.asks = append(out.asks, c.ask)
		if !c.ask.Withdrawn {
			out.events = append(out.events, c.ask.Opened())
		}
	}
	if c.guilds != nil || c.unavailable != 0 || c.plan != nil {
		if err := w.lookForGaps(ctx, c, out); err != nil {
			return err
		}
	}
	if c.ready == 0 {
		return nil
	}
	err = w.flush(ctx, out) // also changes during an absence
	if err == nil {
		w.Guilds.set(true, c.ready)
	}
	return err
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

// dropOld drops an update of a message that isOld. Only a log with all earlier events can tell.
func (w *Writer) dropOld(ctx context.Context, c *converted, out *commit) error {
	for i, s := range subjectsOf(c.events) {
		if !s.filtered {
			continue
		}
		old := false
		ask := func() (err error) {
			old, err = w.Filter.isOld(ctx, s)
			return err
		}
		if err := w.retry(ctx, ask); err != nil || !old {
			return err
		}
		if err := w.flush(ctx, out); err != nil {
			return err
		}
		if err := w.retry(ctx, ask); err != nil || !old {
			return err
		}
		c.events = slices.Replace(c.events, i, i+1, editsOf(c.events[i])...)
		c.ask = nil
		return nil
	}
	return nil
}

// lookForGaps records missed messages before anything later is logged.
func (w *Writer) lookForGaps(ctx context.Context, c converted, out *commit) error {
	if err := w.flush(ctx, out); err != nil {
		return err
	}
	var found []memory.Event
	var seen *catchUpPlan
	err := w.retry(ctx, func() (err error) {
		switch {
		case c.guilds != nil:
			found, seen, err = w.onReady(ctx, c.guilds)
		case c.unavailable != 0:
			err = w.onUnavailable(ctx, c.unavailable)
		default:
			found, seen, err = w.planCatchUp(ctx, c.plan)
		}
		return err
	})
	if err != nil {
		return err
	}
	out.events = append(out.events, found...)
	if err := w.flush(ctx, out); err != nil {
		return err
	}
	if seen != nil {
		w.filler.put(*seen)
	}
	return nil
}

// merge adds a guild's logged channels to its update, after committing all earlier events.
func (w *Writer) merge(ctx context.Context, update memory.Guild, out *commit) error {
	if err := w.flush(ctx, out); err != nil {
		return err
	}
	return w.retry(ctx, func() error {
		stored, err := w.Memory.Guild(ctx, update.ID)
		if errors.Is(err, memory.ErrNotFound) {
			return nil // GUILD_CREATE follows
		}
		if err == nil {
			out.events = append(out.events, memory.GuildSeen{Guild: withChannelsOf(update, stored)})
		}
		return err
	})
}

// flush commits out, tells those who wait for it, and empties it.
func (w *Writer) flush(ctx context.Context, out *commit) error {
	refuted, err := w.refuted(ctx, out.seen)
	if err != nil {
		return err
	}
	out.events = append(out.events, refuted...)
	if len(out.events) > 0 {
		if err := w.commit(ctx, out.events); err != nil {
			return err
		}
		if err := w.noteAccessChanges(ctx, out.events); err != nil {
			return err
		}
		if err := w.refuteNew(ctx, out); err != nil {
			return err
		}
	}
	for _, a := range out.asks {
		w.ask(a)
	}
	for _, logged := range out.logged { // last: a shutdown waits for the earlier questions
		close(logged)
	}
	if len(out.incomplete) > 0 {
		w.filler.putIncomplete(out.incomplete)
	}
	*out = commit{}
	return nil
}

// commit logs events. It skips those that the log refuses for good, with those that can't be logged without them.
func (w *Writer) commit(ctx context.Context, events []memory.Event) error {
	refused := false
	err := w.retry(ctx, func() error {
		err := w.Filter.commit(ctx, events)
		if refused = errors.Is(err, memory.ErrRefused); refused {
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
