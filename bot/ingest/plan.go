package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// What was missed while there was no connection is found in the order of events, so that what is told of live
// can't hide what came before it.

// known is what was known of a guild.
type priorGuild struct {
	heard  lastSeen
	placed []memory.Channel // that Discord had told of
}

// reached is the newest message of each channel that needn't be fetched.
type lastSeen map[memory.ChannelID]memory.MessageID

// visit is how far channels have come by Discord's account, and what follows from it: what was missed, and what is
// to be done after a time away beyond the gaps that are known.
type catchUpPlan struct {
	guild memory.GuildID
	// whole says that it is all of the guild, after a time in which Hark wasn't told of it.
	whole    bool
	listed   map[memory.ChannelID]bool // all that Discord tells of, if it is whole
	channels []channelSnapshot
	parents  []memory.ChannelID // that may have threads in the archive, which the guild doesn't tell

	at    memory.MessageID // nothing that was said later is missing
	heard lastSeen
	since memory.MessageID // for channels that weren't known
	// missing are the channels that Discord doesn't tell of any more: deleted, in the archive, or out of sight.
	missing []memory.ChannelID
}

// sighted is a channel in which something was said.
type channelSnapshot struct {
	id     memory.ChannelID
	last   memory.MessageID // newest that was ever written there
	thread bool
}

// greet begins a connection: it is what follows for the log, and what is to be done. Guilds that Discord
// doesn't name any more have removed Hark.
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

// remember keeps how far a guild was heard, and where.
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

// direct is what may be missing of direct messages, of which Discord doesn't tell how far they have come.
func (w *Writer) planDirect(ctx context.Context) ([]memory.Event, *catchUpPlan, error) {
	if !w.Policy.Direct {
		return nil, nil, nil
	}
	until, err := w.Memory.HeardUntil(ctx, memory.DirectGuild)
	if err != nil {
		return nil, nil, err
	}
	v := &catchUpPlan{guild: memory.DirectGuild, whole: true, heard: until}
	for _, id := range slices.Sorted(maps.Keys(until)) {
		v.channels = append(v.channels, channelSnapshot{id, timeID(w.Now()), false})
	}
	return w.findGaps(&memory.Guild{ID: memory.DirectGuild}, nil, v), v, nil
}

// arrive compares how far a guild's channels have come with how far they were heard.
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
		if was.heard, err = w.Memory.HeardUntil(ctx, v.guild); err != nil {
			return nil, nil, err
		}
	}
	v.heard, v.since = was.heard, stored.Since
	if v.whole {
		delete(w.before, v.guild)
		v.missing = w.missing(was, v)
	}
	return w.findGaps(stored, shut, v), v, nil
}

// missing are the channels of which Discord told before, and doesn't any more. Of threads, which are many,
// only those in which something was said lately.
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

// compare is what a visit tells the log. It leaves out where Hark is shut out.
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
	if v.at = timeID(w.Now()); v.whole && w.Reconcile {
		found = append(found, memory.Absent{Guild: v.guild, At: w.Now()})
	}
	return found
}

// timeID is a message id that stands for all until now, where Discord doesn't tell which message is the newest.
func timeID(now time.Time) memory.MessageID {
	return memory.FirstMessageID(now.Add(time.Millisecond))
}

// isTimeID tells such an id from a message's, whose last bits are hardly ever all zero.
func isTimeID(id memory.MessageID) bool { return id&(1<<22-1) == 0 }

// after is the message of a channel after which something may be missing; 0 if nothing is known of when Hark
// began to listen there, or nothing is to be fetched.
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

// gap is what is missing of a channel.
func (o *Options) gap(v *catchUpPlan, c channelSnapshot) (memory.Gap, bool) {
	after := o.missingAfter(v, c.id)
	if after == 0 {
		return memory.Gap{}, false
	}
	if c.thread {
		after = max(after, memory.MessageID(c.id)-1) // a thread has its id from when it began
	}
	return memory.Gap{Guild: v.guild, Channel: c.id, After: after, Until: c.last}, c.last > after
}
