package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hark/memory"
)

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

// NewWriter returns a writer that isn't running yet. It calls ask with each question once that is committed.
func NewWriter(o *Options, f *Filler, ask func(*Question)) *Writer {
	return &Writer{
		Options: o,
		convert: o.converter(),
		filler:  f,
		ask:     ask,
		before:  map[memory.GuildID]priorGuild{},
	}
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

// schedule adds to out what is new of a calendar, after committing all earlier events.
func (w *Writer) schedule(ctx context.Context, c calendar, out *commit) error {
	err := w.flush(ctx, out)
	if err != nil {
		return err
	}
	return w.retry(ctx, func() error {
		kept, err := w.Memory.Lore(ctx, c.guild)
		if err != nil {
			return err
		}
		remembered, err := w.remembered(ctx, c)
		if err == nil {
			out.events = append(out.events, c.changes(kept, remembered)...)
		}
		return err
	})
}
