package digest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"hark/internal/metrics"
	"hark/memory"
)

// New returns a worker.
func New(o Options) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Done == nil {
		o.Done = func(Kind, memory.ChannelID, int, string) {}
	}
	o.Metrics = metrics.Or(o.Metrics)
	w := &Worker{Options: o, tries: map[Kind]*tries{Summaries: {}, Facts: {}, Condensed: {}}}
	w.kinds = map[Kind]kind{Summaries: summaries{w}, Facts: facts{w}}
	for i := range w.long {
		w.long[i] = make(chan notice, noticed)
	}
	return w
}

// Run makes digests of these kinds until ctx is done.
func (w *Worker) Run(ctx context.Context, kinds ...Kind) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, k := range kinds {
		if k == Condensed {
			w.startCondensers(ctx, group)
		}
		group.Go(func() error {
			tick := time.NewTicker(every[k])
			defer tick.Stop()
			for {
				if err := w.Round(ctx, k); err != nil && ctx.Err() == nil {
					w.Failed(k, 0, err)
				}
				select {
				case <-ctx.Done():
					return nil
				case <-tick.C:
				}
			}
		})
	}
	return group.Wait()
}

// Round makes the digests of a kind that are due, oldest first; of Condensed it removes those that are over. A
// channel that fails doesn't keep it from the others: the error is the first. Calls for one kind must not overlap.
func (w *Worker) Round(ctx context.Context, of Kind) error {
	if of == Condensed {
		return w.dropOver(ctx)
	}
	k := w.kinds[of]
	l := k.limits()
	stretches, err := k.backlog(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", l.doing, err)
	}
	w.tries[of].left = l.asked
	var first error
	failed := 0
	for _, stretch := range stretches {
		err := w.all(ctx, of, stretch)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			first = cmp.Or(first, fmt.Errorf("%s of channel %d: %w", l.doing, stretch.Channel, err))
		}
	}
	if failed > 1 {
		return fmt.Errorf("%w (and %d more failed)", first, failed-1)
	}
	return first
}

// all digests the ended sessions of a stretch, as many as one round is for.
func (w *Worker) all(ctx context.Context, of Kind, stretch memory.Stretch) error {
	for range sessionsMost {
		until, err := w.next(ctx, of, stretch)
		if err != nil || until == 0 || until >= stretch.Until {
			return err
		}
		stretch.After = until
	}
	return nil
}

// next digests the first session of a stretch, if it has ended, and returns its last message; 0 if there is nothing
// to do now.
func (w *Worker) next(ctx context.Context, of Kind, stretch memory.Stretch) (memory.MessageID, error) {
	k := w.kinds[of]
	s, err := w.read(ctx, k, stretch)
	if err != nil || s == nil {
		return 0, err
	}
	if k.asks(s) {
		try := w.tries[of]
		now := w.Now()
		waits := try.waits(s.Channel, now) || try.waits(everywhere, now)
		if !waits && try.left == 0 {
			return 0, nil
		}
		if !waits {
			try.left--
			w.ask(ctx, of, s)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			// Writing can take a minute, so what must hold is checked again.
			if ok, err := w.holds(ctx, k, s); !ok || err != nil {
				return 0, err
			}
		}
	}
	events, err := k.events(ctx, s)
	if err != nil || len(events) == 0 {
		return 0, err
	}
	if err := w.Log.Apply(ctx, events...); err != nil {
		return 0, err
	}
	if s.summary != nil {
		w.Done(of, s.Channel, len(s.summary.Sources), s.summary.Model)
	}
	return s.until, nil
}

// read returns the first session of a stretch; nil if none has ended, or nothing may be made of it now.
func (w *Worker) read(ctx context.Context, k kind, stretch memory.Stretch) (*session, error) {
	l := k.limits()
	now := w.Now()
	end := stretch.Until
	if !stretch.Again { // with Hark's answers, which a stretch doesn't count
		end = max(end, memory.FirstMessageID(now))
	}
	page, err := w.Log.Log(ctx, stretch.Channel, stretch.After, end, l.messages)
	if err != nil || len(page) == 0 && !stretch.Again {
		return nil, err
	}
	s := &session{
		Stretch: stretch,
		until:   stretch.Until,
		all:     page,
	}
	if !stretch.Again {
		n := 1
		for n < len(page) && (!l.splits || page[n].Time().Sub(page[n-1].Time()) <= w.SessionGap) {
			n++
		}
		last := page[n-1]
		if n < l.messages && n == len(page) && now.Sub(last.Time()) <= w.SessionGap {
			return nil, nil // it goes on
		}
		s.all = page[:n]
		s.until = last.ID
	}
	s.place, err = w.placeOf(ctx, stretch)
	if err != nil || s.place == nil {
		return nil, err
	}
	s.said, err = w.speaking(ctx, k, s.place, s.all)
	return s, err
}

// ask has the model write about a session.
func (w *Worker) ask(ctx context.Context, of Kind, s *session) {
	k := w.kinds[of]
	reply, err := Ask(ctx, w.Model, k.limits().written, cmp.Or(w.Patience, k.limits().patience), k.prompt(s))
	if err == nil {
		err = k.read(s, reply.Text)
	}
	if ctx.Err() == nil {
		s.written = err == nil
		s.failures = w.tries[of].note(s.Channel, w.Now(), err)
	}
	if err != nil && ctx.Err() == nil {
		w.Failed(of, s.Channel, err)
	}
}

// holds reports whether what the model was shown is unchanged and may still be used.
func (w *Worker) holds(ctx context.Context, k kind, s *session) (ok bool, err error) {
	s.place, err = w.placeOf(ctx, s.Stretch)
	if err != nil || s.place == nil {
		return false, err
	}
	now, err := w.Log.Around(ctx, s.Channel, IDs(s.said), 0, 0)
	if err == nil {
		now, err = w.speaking(ctx, k, s.place, now)
	}
	same := func(was, is memory.Message) bool { return was.ID == is.ID && was.Text() == is.Text() }
	return slices.EqualFunc(s.said, now, same), err
}

// speaking returns the messages that a kind of digest is made from, without authors who opted out.
func (w *Worker) speaking(ctx context.Context, k kind, p *place, messages []memory.Message) ([]memory.Message, error) {
	return Keep(messages, func(m memory.Message) (bool, error) {
		if !k.takes(p, m) {
			return false, nil
		}
		out, known := p.out[m.Author]
		if known {
			return !out, nil
		}
		out, err := memory.HasOptedOut(ctx, w.Log, p.guild, m.Author)
		p.out[m.Author] = out
		return !out, err
	})
}

// every is the time between two rounds.
var every = map[Kind]time.Duration{Summaries: time.Minute, Facts: 5 * time.Minute, Condensed: time.Minute}
