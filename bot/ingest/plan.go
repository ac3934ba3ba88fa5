package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"

	"hark/memory"
)

// Gaps are found in the order of events, so that no live message hides what came before it.

// onReady begins a connection. It returns events and a plan. Guilds that READY doesn't list have removed Hark.
func (w *Writer) onReady(ctx context.Context, present []memory.GuildID) ([]memory.Event, *catchUpPlan, error) {
	known, err := w.Memory.Guilds(ctx)
	if err != nil {
		return nil, nil, err
	}
	clear(w.before)
	var events []memory.Event
	for _, id := range known {
		if id == memory.LocalGuild || id == memory.DirectGuild {
			continue
		}
		if err := w.onUnavailable(ctx, id); err != nil {
			return nil, nil, err
		}
		stored, err := w.Filter.Guild(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if stored.Left.IsZero() && !slices.Contains(present, id) {
			events = append(events, memory.GuildLeft{Guild: id, At: w.Now()})
		}
	}
	direct, seen, err := w.planDirect(ctx)
	return append(events, direct...), seen, err
}

// onTakenUp begins with a session that another process had. Discord won't describe the guilds again: they are as the
// log has them, once Discord has sent what happened since.
func (w *Writer) onTakenUp(ctx context.Context) error {
	known, err := w.Memory.Guilds(ctx)
	if err != nil {
		return err
	}
	taken := map[memory.GuildID]bool{}
	for _, id := range known {
		if id == memory.LocalGuild || id == memory.DirectGuild {
			continue
		}
		g, err := w.Memory.Guild(ctx, id)
		if err != nil {
			return err
		}
		heard, err := w.Memory.HeardUntil(ctx, id)
		if err != nil {
			return err
		}
		if !g.Left.IsZero() {
			continue
		}
		taken[id] = true
		seen := []memory.Event{memory.GuildSeen{Guild: *g, At: w.Now()}}
		w.Attendance.Observe(seen)
		w.MemberRoles.Open(id)
		w.Filter.committed(subjectsOf(seen))
		// Its gaps are in the log already, except in channels that were shut.
		w.filler.put(catchUpPlan{
			guild: id,
			whole: true,
			at:    timeID(w.Now()),
			heard: heard,
			since: g.Since,
		})
	}
	w.takenUp = taken
	w.Guilds.begin(slices.AppendSeq([]memory.GuildID{}, maps.Keys(taken)))
	return nil
}

// onUnavailable keeps a guild's state before an absence.
func (w *Writer) onUnavailable(ctx context.Context, id memory.GuildID) error {
	if _, ok := w.before[id]; ok {
		return nil
	}
	until, err := w.Memory.HeardUntil(ctx, id)
	if err != nil {
		return err
	}
	stored, err := w.Filter.Guild(ctx, id)
	if err != nil {
		return err
	}
	placed := slices.DeleteFunc(slices.Clone(stored.Channels), func(c memory.Channel) bool {
		return c.Unplaced || c.Kind == memory.CategoryChannel
	})
	w.before[id] = priorGuild{heard: until, placed: placed}
	return nil
}

// planDirect finds gaps in direct messages. Discord doesn't tell their newest messages, so each may have one.
func (w *Writer) planDirect(ctx context.Context) ([]memory.Event, *catchUpPlan, error) {
	if !w.Policy.Direct || !w.Shard.Has(memory.DirectGuild) {
		return nil, nil, nil
	}
	until, err := w.Memory.HeardUntil(ctx, memory.DirectGuild)
	if err != nil {
		return nil, nil, err
	}
	v := &catchUpPlan{
		guild: memory.DirectGuild,
		whole: true,
		heard: until,
	}
	for _, id := range slices.Sorted(maps.Keys(until)) {
		v.channels = append(v.channels, channelSnapshot{id, timeID(w.Now()), false})
	}
	return w.findGaps(&memory.Guild{ID: memory.DirectGuild}, nil, v), v, nil
}

// planCatchUp compares the newest messages of a guild's channels with the log.
func (w *Writer) planCatchUp(ctx context.Context, v *catchUpPlan) ([]memory.Event, *catchUpPlan, error) {
	stored, err := w.Memory.Guild(ctx, v.guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	shut, err := ShutOut(ctx, w.Memory, stored)
	if err != nil {
		return nil, nil, err
	}
	was, ok := w.before[v.guild]
	if !ok {
		was.heard, err = w.Memory.HeardUntil(ctx, v.guild)
		if err != nil {
			return nil, nil, err
		}
	}
	v.heard = was.heard
	v.since = stored.Since
	if v.whole {
		delete(w.before, v.guild)
		v.missing = w.missing(was, v)
	}
	return w.findGaps(stored, shut, v), v, nil
}

// missing returns the channels that Discord listed before and doesn't any more. Threads, which are many,
// count only if they were active within CatchUp.
func (w *Writer) missing(was priorGuild, v *catchUpPlan) []memory.ChannelID {
	var missing []memory.ChannelID
	lately := memory.FirstMessageID(w.Now().Add(-w.CatchUp))
	for _, c := range was.placed {
		if !v.listed[c.ID] && (!c.Kind.IsThread() || was.heard[c.ID] >= lately) {
			missing = append(missing, c.ID)
		}
	}
	return missing
}

// findGaps returns the gaps of a plan as events, except in channels Hark can't read.
func (w *Writer) findGaps(stored *memory.Guild, shut map[memory.ChannelID]bool, v *catchUpPlan) []memory.Event {
	var found []memory.Event
	v.parents = slices.DeleteFunc(v.parents, func(id memory.ChannelID) bool { return shut[id] })
	for _, c := range v.channels {
		if shut[c.id] || !w.Policy.Remembers(stored, c.id) {
			continue
		}
		if gap, ok := w.gap(v, c); ok {
			found = append(found, memory.GapFound{Gap: gap})
		}
	}
	v.at = timeID(w.Now())
	if v.whole && w.Reconcile {
		found = append(found, memory.Absent{Guild: v.guild, At: w.Now()})
	}
	return found
}

// missingAfter returns the message after which a channel may have gaps; 0 if Hark's first message there is
// unknown, or nothing is fetched.
func (o *Options) missingAfter(v *catchUpPlan, id memory.ChannelID) memory.MessageID {
	after, known := v.heard[id]
	if !known {
		after = v.since
	}
	if after == 0 || o.CatchUp <= 0 {
		return 0
	}
	return max(after, memory.FirstMessageID(o.Now().Add(-o.CatchUp)))
}

// gap returns what is missing of a channel.
func (o *Options) gap(v *catchUpPlan, c channelSnapshot) (memory.Gap, bool) {
	after := o.missingAfter(v, c.id)
	if after == 0 {
		return memory.Gap{}, false
	}
	if c.thread {
		after = max(after, memory.MessageID(c.id)-1) // a thread's id is its creation time
	}
	return memory.Gap{
		Guild:   v.guild,
		Channel: c.id,
		After:   after,
		Until:   c.last,
	}, c.last > after
}
