package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"hark/memory"
)

// gaps finds what was missed while there was no connection. It is used by one goroutine, in the order of events, so that
// what is told of live can't hide what came before it.
type gaps struct {
	log       Log
	policy    memory.Policy
	catchUp   time.Duration
	reconcile bool
	now       func() time.Time
	before    map[memory.GuildID]known // when Hark was told last of guilds that it is about to be told of again
}

// known is what was known of a guild.
type known struct {
	heard  reached
	placed []memory.Channel // that Discord had told of
}

// reached is the newest message of each channel that needn't be fetched.
type reached map[memory.ChannelID]memory.MessageID

func newGaps(log Log, cfg Config, now func() time.Time) *gaps {
	return &gaps{log: log, policy: cfg.Policy, catchUp: cfg.CatchUp, reconcile: cfg.Reconcile, now: now, before: map[memory.GuildID]known{}}
}

// visit is what is to be done about a guild after a time away, beyond the gaps that are known.
type visit struct {
	guild memory.GuildID
	whole bool             // whether it is about all of the guild
	at    memory.MessageID // nothing that was said later is missing
	heard reached
	since memory.MessageID // for channels that weren't known
	// parents are to be searched for threads in the archive, in which something may be missing.
	parents []memory.ChannelID
	// missing are the channels that Discord doesn't tell of any more: deleted, in the archive, or out of sight.
	missing []memory.ChannelID
}

// look is what follows from an event for the log, and what is to be done.
func (g *gaps) look(ctx context.Context, c converted) ([]memory.Event, *visit, error) {
	switch {
	case c.present != nil:
		return g.greet(ctx, c.present)
	case c.away != 0:
		return nil, nil, g.remember(ctx, c.away)
	}
	return g.arrive(ctx, c.sighting)
}

// greet begins a connection. Guilds that Discord doesn't name any more have removed Hark.
func (g *gaps) greet(ctx context.Context, present []memory.GuildID) ([]memory.Event, *visit, error) {
	known, err := g.log.Guilds(ctx)
	if err != nil {
		return nil, nil, err
	}
	clear(g.before)
	var events []memory.Event
	for _, id := range known {
		if id == memory.LocalGuild || id == memory.DirectGuild {
			continue
		}
		if err := g.remember(ctx, id); err != nil {
			return nil, nil, err
		}
		if slices.Contains(present, id) {
			continue
		}
		stored, err := g.log.Guild(ctx, id)
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return nil, nil, err
		}
		if err == nil && stored.Left.IsZero() {
			events = append(events, memory.GuildLeft{Guild: id, At: g.now()})
		}
	}
	direct, seen, err := g.direct(ctx)
	return append(events, direct...), seen, err
}

// remember keeps how far a guild was heard, and where.
func (g *gaps) remember(ctx context.Context, id memory.GuildID) error {
	if _, ok := g.before[id]; ok {
		return nil
	}
	until, err := g.log.HeardUntil(ctx, id)
	if err != nil {
		return err
	}
	was := known{heard: until}
	stored, err := g.log.Guild(ctx, id)
	switch {
	case errors.Is(err, memory.ErrNotFound):
	case err != nil:
		return err
	default:
		was.placed = slices.Clone(stored.Channels)
		was.placed = slices.DeleteFunc(was.placed, func(c memory.Channel) bool { return c.Unplaced || c.Kind == memory.CategoryChannel })
	}
	g.before[id] = was
	return nil
}

// direct is what may be missing of direct messages, of which Discord doesn't tell how far they have come.
func (g *gaps) direct(ctx context.Context) ([]memory.Event, *visit, error) {
	if !g.policy.Direct {
		return nil, nil, nil
	}
	until, err := g.log.HeardUntil(ctx, memory.DirectGuild)
	if err != nil {
		return nil, nil, err
	}
	s := &sighting{guild: memory.DirectGuild, whole: true}
	now := momentID(g.now())
	for _, id := range slices.Sorted(maps.Keys(until)) {
		s.channels = append(s.channels, sighted{id, now, false})
	}
	found, seen := g.compare(&memory.Guild{ID: memory.DirectGuild}, until, s)
	return found, seen, nil
}

// arrive compares how far a guild's channels have come with how far they were heard.
func (g *gaps) arrive(ctx context.Context, s *sighting) ([]memory.Event, *visit, error) {
	stored, err := g.log.Guild(ctx, s.guild)
	if errors.Is(err, memory.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	was, ok := g.before[s.guild]
	if !ok {
		if was.heard, err = g.log.HeardUntil(ctx, s.guild); err != nil {
			return nil, nil, err
		}
	}
	found, seen := g.compare(stored, was.heard, s)
	if s.whole {
		delete(g.before, s.guild)
		seen.missing = g.missing(was, s)
	}
	return found, seen, nil
}

// missing are the channels of which Discord told before, and doesn't any more. Of threads, which are many, only those in
// which something was said lately.
func (g *gaps) missing(was known, s *sighting) []memory.ChannelID {
	var missing []memory.ChannelID
	lately := memory.FirstMessageID(g.now().Add(-g.catchUp))
	for _, c := range was.placed {
		if !s.listed[c.ID] && (!c.Kind.IsThread() || was.heard[c.ID] >= lately) {
			missing = append(missing, c.ID)
		}
	}
	return missing
}

func (g *gaps) compare(stored *memory.Guild, until reached, s *sighting) ([]memory.Event, *visit) {
	v := &visit{guild: s.guild, heard: until, since: stored.Since}
	var found []memory.Event
	for _, c := range s.channels {
		if !g.policy.Remembers(stored, c.id) {
			continue
		}
		if gap, ok := g.gap(v, c); ok {
			found = append(found, memory.GapFound{Gap: gap})
		}
	}
	if !s.whole {
		return found, v
	}
	for _, id := range s.parents {
		if g.catchUp > 0 && g.policy.Remembers(stored, id) {
			v.parents = append(v.parents, id)
		}
	}
	if v.whole, v.at = true, momentID(g.now()); g.reconcile {
		found = append(found, memory.Absent{Guild: s.guild, At: g.now()})
	}
	return found, v
}

// momentID is a message id that stands for all until now, where Discord doesn't tell which message is the newest.
func momentID(now time.Time) memory.MessageID {
	return memory.FirstMessageID(now.Add(time.Millisecond))
}

// isMoment tells such an id from a message's, whose last bits are hardly ever all zero.
func isMoment(id memory.MessageID) bool { return id&(1<<22-1) == 0 }

// after is the message of a channel after which something may be missing; 0 if nothing is known of when Hark began to listen
// there, or nothing is to be fetched.
func (v *visit) after(id memory.ChannelID, catchUp time.Duration, now time.Time) memory.MessageID {
	after, known := v.heard[id]
	if !known {
		after = v.since
	}
	if after == 0 || catchUp <= 0 {
		return 0
	}
	return max(after, memory.FirstMessageID(now.Add(-catchUp)))
}

// gap is what is missing of a channel.
func (g *gaps) gap(v *visit, c sighted) (memory.Gap, bool) {
	after := v.after(c.id, g.catchUp, g.now())
	if after == 0 {
		return memory.Gap{}, false
	}
	if c.thread {
		after = max(after, memory.MessageID(c.id)-1) // a thread has its id from when it began
	}
	return memory.Gap{Guild: v.guild, Channel: c.id, After: after, Until: c.last}, c.last > after
}
