package answer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"hark/builder"
	"hark/memory"
)

// Condensing says how the older parts of sessions are condensed.
type Condensing struct {
	// Patience is how long the model may take; 0 means 30 seconds. No answer waits for it.
	Patience time.Duration
	// Every is the time between two looks for sessions that are over, of which nothing condensed is kept; 0 means a minute.
	Every time.Duration
	// Now is the clock for that; nil means time.Now.
	Now func() time.Time
}

const (
	condensePatience = 30 * time.Second
	condenseEvery    = time.Minute
	condenseLeast    = 4   // turns, below which nothing is condensed however long they are
	condenseMost     = 100 // messages that are condensed at once
)

// duePart and condensePart are the parts of what a session may have: from the first on it is condensed, and the second, the
// oldest, is what becomes a summary.
const (
	dueTenths      = 7
	condenseTenths = 4
)

// dueTurns is from how many turns on a session is condensed.
const dueTurns = (sessionTurns*dueTenths + 9) / 10

// Run condenses, until ctx is done, the sessions that have grown long, after an answer was given there, and takes away what
// those were condensed to that are over. Without it, sessions are cut off where there is no room. done is told of each session
// that was condensed, failed why one couldn't be, with channel 0 for all; either may be nil.
func (e *Engine) Run(ctx context.Context, done func(memory.Condensed), failed func(memory.ChannelID, error)) error {
	if e.options.Condensing == nil {
		<-ctx.Done()
		return nil
	}
	tell := func(channel memory.ChannelID, err error) {
		if failed != nil && err != nil && ctx.Err() == nil {
			failed(channel, err)
		}
	}
	var workers sync.WaitGroup
	defer workers.Wait()
	for range condensers {
		workers.Go(func() {
			e.queue.work(ctx, func(ctx context.Context, q Question) {
				c, err := e.condense(ctx, q)
				if c != nil && done != nil {
					done(*c)
				}
				tell(q.Channel, err)
			})
		})
	}
	every := e.options.Condensing.Every
	if every <= 0 {
		every = condenseEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		tell(0, e.dropOver(ctx))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// noticeLong queues the session that an answer was given in, if it may have grown too long with that.
func (e *Engine) noticeLong(q Question, r *recalled) {
	if e.options.Condensing == nil || r.voice.model == nil || q.NoModel || q.Session != nil || !r.here {
		return
	}
	if r.voice.isDue(r.turns[r.older:], r.names) {
		e.queue.put(q)
	}
}

// isDue reports whether turns are at 70 % of what a session may have, in number or in tokens.
func (v voice) isDue(turns [][]memory.Message, n names) bool {
	if len(turns) >= dueTurns || len(turns) < condenseLeast {
		return len(turns) >= dueTurns
	}
	in := make([]builder.Turn, len(turns))
	for i, messages := range turns {
		in[i] = asTurn(messages, n)
	}
	tokens, room := v.builder.SessionUse(in)
	return 10*tokens >= dueTenths*room
}

// olderPart are the messages of the oldest turns, that a session is to lose: 40 % of them, or, where there are more than
// there should be, as many as leave what would be left then. Of more than are condensed at once it is the oldest.
func olderPart(turns [][]memory.Message) []memory.Message {
	n := min(len(turns), dueTurns)
	kept := n - n*condenseTenths/10
	part := slices.Concat(turns[:len(turns)-kept]...)
	return part[:min(len(part), condenseMost)]
}

// condense condenses the session of a channel, if it has grown long, and again as long as there was too much of it to be condensed
// at once. It returns the last summary. A session that the model failed at isn't condensed again with each answer.
func (e *Engine) condense(ctx context.Context, q Question) (*memory.Condensed, error) {
	var last *memory.Condensed
	for !e.condensing.waits(q.Channel, e.now()) {
		c, messages, err := e.condenseOnce(ctx, q)
		if c != nil {
			last = c
		}
		if err != nil {
			if ctx.Err() == nil {
				e.options.Metrics.SessionsNotCondensed.Inc()
				e.condensing.failed(q.Channel, e.now())
			}
			return last, fmt.Errorf("condense the session of channel %d: %w", q.Channel, err)
		}
		if c == nil || messages < condenseMost {
			break
		}
	}
	return last, nil
}

// condenseOnce condenses what of a session can be at once: its oldest turns, with what it was condensed to before, become a
// summary by the model that answers there, which it returns with how many messages they were. All that this is made from is
// what a public answer there may be made from.
func (e *Engine) condenseOnce(ctx context.Context, q Question) (c *memory.Condensed, messages int, err error) {
	now, t, part, err := e.longPart(ctx, q)
	if err != nil || len(part) == 0 {
		return nil, 0, err
	}
	v := e.voice(now.settings)
	next := memory.Condensed{Guild: q.Guild, Channel: q.Channel, Until: part[len(part)-1].ID, Model: v.model.Name()}
	shown := part
	if t.condensed != nil && len(t.sources)+len(part) <= memory.MaxCondensedSources {
		shown = slices.Concat(t.sources, part)
	} else {
		t.condensed = nil // a session this long is summed up in parts by then: see Summariser
	}
	if next.Text, err = e.writeCondensed(ctx, q, v, t.condensed, part, now.names.of); err != nil {
		return nil, 0, err
	}
	// Writing can take a while: what must hold still has to. The store itself keeps nothing of what is gone or changed.
	if ok, err := e.mayStillBeSaid(ctx, q, shown, t.from); !ok || err != nil {
		return nil, 0, err
	}
	for _, m := range shown {
		next.Sources = append(next.Sources, memory.SummarySource{Message: m.ID, Edited: editedAt(m)})
	}
	next.Made = time.Now()
	if t.condensed != nil && !next.Made.After(t.condensed.Made) {
		next.Made = t.condensed.Made.Add(time.Millisecond) // the clock was set back
	}
	if err := e.log.Apply(ctx, memory.SessionCondensed{Condensed: next}); err != nil {
		return nil, 0, err
	}
	e.options.Metrics.SessionsCondensed.Inc()
	e.condensing.worked(q.Channel)
	return &next, len(part), nil
}

// longPart is the part of a channel's session that is to be condensed, and what it is condensed with; empty if it isn't long.
func (e *Engine) longPart(ctx context.Context, q Question) (now reach, t dialogue, part []memory.Message, err error) {
	if now, err = e.readable(ctx, q); err != nil || !now.here {
		return now, t, nil, err
	}
	v := e.voice(now.settings)
	if v.model == nil { // another was set since
		return now, t, nil, nil
	}
	_, sitting, err := e.sittingBefore(ctx, q, now)
	if err != nil {
		return now, t, nil, err
	}
	t, said, err := e.saidIn(ctx, q, now, sitting)
	if turns := joined(said, sitting); err == nil && v.isDue(turns, now.names) {
		part = olderPart(turns)
	}
	return now, t, part, err
}

// mayStillBeSaid reports whether messages of a channel's session may be used there still.
func (e *Engine) mayStillBeSaid(ctx context.Context, q Question, messages []memory.Message, present memory.MessageID) (bool, error) {
	now, err := e.readable(ctx, q)
	if err != nil || !now.here {
		return false, err
	}
	left, err := e.usableIn(ctx, q.Channel, now, present, slices.Clone(messages))
	return len(left) == len(messages), err
}

// findCondensed looks up what the older part of the sitting was condensed to, if all that it was made from may be used, and
// returns what judged that.
func (e *Engine) findCondensed(ctx context.Context, q Question, now reach, sitting []memory.Message, t *dialogue) (*derivation, error) {
	if e.options.Condensing == nil || len(sitting) == 0 {
		return nil, nil
	}
	all, err := e.log.Condensed(ctx, q.Channel)
	if err != nil || len(all) == 0 || !tellsOf(all[0], sitting) || all[0].Sources[0].Message < now.attended {
		return nil, err
	}
	c := all[0]
	ids := make([]memory.MessageID, len(c.Sources))
	edited := make(map[memory.MessageID]int64, len(c.Sources))
	for i, source := range c.Sources {
		ids[i], edited[source.Message] = source.Message, source.Edited
	}
	sources, err := e.log.Messages(ctx, q.Channel, ids)
	if err != nil {
		return nil, err
	}
	from := min(t.from, ids[0])
	own := e.derivationIn(q.Channel, now, from)
	sources, err = usableBy(ctx, own, slices.Clone(sources))
	if err != nil || len(sources) < len(ids) {
		return nil, err
	}
	out, err := mentionsOut(ctx, now.consents, q.Guild, sources)
	changed := func(m memory.Message) bool { return editedAt(m) != edited[m.ID] }
	if out || err != nil || slices.ContainsFunc(sources, changed) {
		return nil, err
	}
	t.condensed, t.sources, t.from = &c, sources, from
	return own, nil
}

// tellsOf reports whether a summary is of the sitting: what it tells of last was said in it, and not too much since.
func tellsOf(c memory.Condensed, sitting []memory.Message) bool {
	return slices.ContainsFunc(sitting, func(m memory.Message) bool { return m.ID == c.Until })
}

// dropOver takes away what sessions were condensed to that are over. One that fails doesn't keep it from the others.
func (e *Engine) dropOver(ctx context.Context) error {
	all, err := e.log.Condensed(ctx, 0)
	if err != nil {
		return err
	}
	const newest = memory.MessageID(math.MaxInt64) // Discord's clock may be ahead of ours
	clock := e.options.Condensing.Now
	if clock == nil {
		clock = time.Now
	}
	var errs []error
	for _, c := range all {
		at := clock()
		before, err := e.log.Around(ctx, c.Channel, []memory.MessageID{newest}, sessionMessages, 0)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		before = slices.DeleteFunc(before, func(m memory.Message) bool { return m.Kind == memory.FromSystem })
		if !tellsOf(c, before[lastSitting(before, at, e.options.SessionGap):]) {
			errs = append(errs, e.log.Apply(ctx, memory.CondensedGone{Guild: c.Guild, Channel: c.Channel, Until: c.Until}))
		}
	}
	return errors.Join(errs...)
}
