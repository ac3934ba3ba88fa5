package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hark/internal/pace"
	"hark/memory"
)

const (
	// batchItems is how many items at most go to the log in one transaction: where many wait, what they change together
	// is written once.
	batchItems = 5000
	// longestRetry bounds the pause between attempts to write a log that fails.
	longestRetry = 10 * time.Second
)

// item is something for the log, in its order.
type item struct {
	raw    *rawEvent       // an event of the gateway, or
	events []memory.Event  // what we did ourselves
	logged chan<- struct{} // closed once it is committed; may be nil
}

// queue holds what isn't logged yet. It has no bound: a store that is down for a while loses nothing as long
// as there is memory.
type queue struct {
	mu     sync.Mutex
	items  []item // those not yet committed
	deaf   bool   // takes no more from the gateway
	closed bool   // takes nothing any more; what is held can still be taken
	wake   chan struct{}
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put appends an item, and reports whether the queue took it.
func (q *queue) put(it item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.deaf && it.raw != nil {
		return false
	}
	q.items = append(q.items, it)
	pace.Wake(q.wake)
	return true
}

// len is how many items aren't committed.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// stopIntake refuses further events of the gateway.
func (q *queue) stopIntake() {
	q.mu.Lock()
	q.deaf = true
	q.mu.Unlock()
}

// close refuses everything; what is held can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	pace.Wake(q.wake)
	q.mu.Unlock()
}

// take returns the next items, at most batchItems of them, or nil when the queue is closed and empty or ctx
// has ended. They count as not committed until done.
func (q *queue) take(ctx context.Context) []item {
	for {
		q.mu.Lock()
		n := min(len(q.items), batchItems)
		batch := q.items[:n:n]
		closed := q.closed
		q.mu.Unlock()
		if n > 0 {
			return batch
		}
		if closed {
			return nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// done has so many items that were taken count as committed.
func (q *queue) done(n int) {
	q.mu.Lock()
	clear(q.items[:n])
	q.items = q.items[n:]
	q.mu.Unlock()
}

// pump writes the queue to the log: one goroutine, so that events stay in order.
type pump struct {
	bot     *Bot
	convert *converter
	ask     func(*ask)               // called once the question is committed
	before  map[memory.GuildID]known // when Hark was told last of guilds that it is about to be told of again

	failing atomic.Bool // whether the log can't be written
}

func newPump(b *Bot, ask func(*ask)) *pump {
	return &pump{bot: b, convert: newConverter(b.self, b.cfg.LogBots, b.now), ask: ask,
		before: map[memory.GuildID]known{}}
}

// run writes until the queue is closed and empty, or ctx ends. It returns how many items weren't written.
func (p *pump) run(ctx context.Context) (left int) {
	for {
		batch := p.bot.queue.take(ctx)
		if batch == nil || p.write(ctx, batch) != nil {
			return p.bot.queue.len()
		}
		p.bot.queue.done(len(batch))
		p.bot.cfg.Progress()
		if len(batch) < batchItems { // else more may wait than fits in one
			_ = pace.Sleep(ctx, p.bot.timing.gather)
		}
	}
}

// write converts and commits a batch. The only error is that of ctx.
func (p *pump) write(ctx context.Context, batch []item) error {
	var out commit
	for _, it := range batch {
		if it.raw == nil {
			out.events = append(out.events, it.events...)
		} else if err := p.read(ctx, *it.raw, &out); err != nil {
			return err
		}
		if it.logged != nil {
			out.logged = append(out.logged, it.logged)
		}
	}
	return p.flush(ctx, &out)
}

// commit is what goes to the log together, and what waits for that.
type commit struct {
	events []memory.Event
	asks   []*ask
	logged []chan<- struct{}
	// unknown is what is to be fetched.
	unknown []untold
}

// unask drops the questions that are gone before they were asked.
func (c *commit) unask(s subject) {
	c.asks = slices.DeleteFunc(c.asks, func(a *ask) bool {
		gone := s.ends(a.guild, a.channel, 0) || s.channel == a.channel && slices.Contains(s.deleted, a.id)
		if gone {
			c.events = append(c.events, a.closed())
		}
		return gone
	})
}

func (p *pump) read(ctx context.Context, raw rawEvent, out *commit) error {
	c, err := p.convert.convert(raw)
	if err != nil {
		p.bot.log.Error().Err(err).Str("event", raw.kind).Int("bytes", len(raw.data)).Msg("passed over an event")
	}
	if c.merge != nil {
		if err := p.merge(ctx, *c.merge, out); err != nil {
			return err
		}
	}
	if c.update {
		if err := p.dropOld(ctx, &c, out); err != nil {
			return err
		}
	}
	p.attend(c)
	out.events = append(out.events, c.events...)
	for _, s := range subjectsOf(c.events) {
		out.unask(s)
	}
	out.unknown = append(out.unknown, c.unknown...)
	// so that one that takes Hark's sight away isn't undone in the same commit, unnoticed
	if len(p.moved(c.events)) > 0 {
		if err := p.flush(ctx, out); err != nil {
			return err
		}
	}
	switch {
	case raw.kind == "READY":
		p.bot.arrived.begin(c.present)
	case c.away != 0:
		p.bot.arrived.tell(false, c.away)
	}
	if c.ask != nil {
		out.asks = append(out.asks, c.ask)
		if !c.ask.unasked {
			out.events = append(out.events, c.ask.opened())
		}
	}
	if c.present != nil || c.away != 0 || c.visit != nil {
		if err := p.lookForGaps(ctx, c, out); err != nil {
			return err
		}
	}
	if c.told == 0 {
		return nil
	}
	err = p.flush(ctx, out) // also of what may have changed unheard
	if err == nil {
		p.bot.arrived.tell(true, c.told)
	}
	return err
}

// attend notes who may view what from now on, and who has which roles.
func (p *pump) attend(c converted) {
	if c.members != nil {
		c.members(p.bot.memberRoles)
	}
	p.bot.attendance.Heard(c.heard)
	if c.visit != nil {
		for _, s := range c.visit.channels {
			p.bot.attendance.Heard(s.last)
		}
	}
	if c.merge != nil {
		p.bot.attendance.Observe([]memory.Event{memory.GuildSeen{Guild: *c.merge}})
	}
	p.bot.attendance.Observe(c.events)
	for _, m := range c.met {
		p.bot.attendance.Met(m.person, m.joined, c.heard != 0)
		if c.heard != 0 {
			p.bot.memberRoles.Met(m.person)
		}
	}
}

// dropOld leaves out what an update tells of a message that isn't to be logged any more. What came before it
// must be in the log to tell.
func (p *pump) dropOld(ctx context.Context, c *converted, out *commit) error {
	for i, s := range subjectsOf(c.events) {
		if !s.said {
			continue
		}
		old := false
		ask := func() (err error) {
			old, err = p.bot.admit.isOld(ctx, s)
			return err
		}
		if err := p.insist(ctx, ask); err != nil || !old {
			return err
		}
		if err := p.flush(ctx, out); err != nil {
			return err
		}
		if err := p.insist(ctx, ask); err != nil || !old {
			return err
		}
		c.events, c.ask = slices.Delete(c.events, i, i+1), nil
		return nil
	}
	return nil
}

// lookForGaps keeps what was missed, before anything that came later is logged.
func (p *pump) lookForGaps(ctx context.Context, c converted, out *commit) error {
	if err := p.flush(ctx, out); err != nil {
		return err
	}
	var found []memory.Event
	var seen *visit
	err := p.insist(ctx, func() (err error) {
		switch {
		case c.present != nil:
			found, seen, err = p.greet(ctx, c.present)
		case c.away != 0:
			err = p.remember(ctx, c.away)
		default:
			found, seen, err = p.arrive(ctx, c.visit)
		}
		return err
	})
	if err != nil {
		return err
	}
	out.events = append(out.events, found...)
	if err := p.flush(ctx, out); err != nil {
		return err
	}
	if seen != nil {
		p.bot.filler.put(*seen)
	}
	return nil
}

// merge adds to a guild the channels that it has in the log, once all before it is there.
func (p *pump) merge(ctx context.Context, update memory.Guild, out *commit) error {
	if err := p.flush(ctx, out); err != nil {
		return err
	}
	return p.insist(ctx, func() error {
		stored, err := p.bot.memory.Guild(ctx, update.ID)
		if errors.Is(err, memory.ErrNotFound) {
			return nil // GUILD_CREATE will tell all
		}
		if err == nil {
			out.events = append(out.events, memory.GuildSeen{Guild: merged(update, stored)})
		}
		return err
	})
}

// flush commits out, tells those who wait for it, and empties it.
func (p *pump) flush(ctx context.Context, out *commit) error {
	if len(out.events) > 0 {
		if err := p.commit(ctx, out.events); err != nil {
			return err
		}
		if err := p.noteShut(ctx, out.events); err != nil {
			return err
		}
	}
	for _, a := range out.asks {
		p.ask(a)
	}
	for _, logged := range out.logged { // last: who stops Hark waits for the questions that came before
		close(logged)
	}
	if len(out.unknown) > 0 {
		p.bot.filler.putUnknown(out.unknown)
	}
	*out = commit{}
	return nil
}

// commit logs events. One that the log refuses for good costs only itself and what it can't be without.
func (p *pump) commit(ctx context.Context, events []memory.Event) error {
	refused := false
	err := p.insist(ctx, func() error {
		err := p.bot.admit.commit(ctx, events)
		if refused = errors.Is(err, memory.ErrRefused); refused {
			return nil
		}
		return err
	})
	if err != nil || !refused {
		return err
	}
	parts := inseparable(events)
	if len(parts) == 1 {
		p.bot.log.Error().Str("event", fmt.Sprintf("%T", events[0])).Int64("message",
			int64(subjectOf(events[0]).message)).Msg("the log refuses an event; passed it over")
		return nil
	}
	for _, part := range parts {
		if err := p.commit(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// inseparable cuts events into what can be logged by itself: an answer of Hark's goes with how it came about.
func inseparable(events []memory.Event) [][]memory.Event {
	var parts [][]memory.Event
	begin := 0
	for i := 1; i < len(events); i++ {
		if _, trace := events[i].(memory.Answered); trace || subjectOf(events[i-1]).ours && subjectOf(events[i]).ours {
			continue
		}
		parts = append(parts, events[begin:i])
		begin = i
	}
	return append(parts, events[begin:])
}

// insist repeats do until it succeeds or ctx ends.
func (p *pump) insist(ctx context.Context, do func() error) error {
	for wait := p.bot.timing.retry; ; wait = min(2*wait, longestRetry) {
		err := do()
		p.note(err)
		if err == nil {
			return nil
		}
		if err := pace.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// note keeps whether the log can be written, and logs when that changes. It is for one goroutine.
func (p *pump) note(err error) {
	if p.failing.Swap(err != nil) == (err != nil) {
		return
	}
	if err != nil {
		p.bot.log.Error().Err(err).Int("waiting", p.bot.queue.len()).Msg("the log can't be written; trying on")
	} else {
		p.bot.log.Info().Int("waiting", p.bot.queue.len()).Msg("the log can be written again")
	}
	p.bot.cfg.Progress()
}
