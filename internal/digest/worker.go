// Package digest condenses what was said: it makes summaries of ended sessions, condenses the older part of running
// ones, and learns lasting facts that members state about themselves. One Worker does all of it, with one view of
// the log. Begin with Worker.next. Each kind of digest says which stretches it wants, what it asks the model, and
// what it makes of the reply.
//
// A digest is made only from what may be remembered there, of people who agree. It is kept only if that still holds
// after the model has written. The package imports no more than memory, search and builder, and knows nothing of
// answers.
package digest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hark/internal/chat"
	"hark/internal/metrics"
	"hark/memory"
)

// Log is the part of memory.Store that a Worker needs.
type Log interface {
	memory.Writer
	memory.GuildReader
	People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error)
	memory.Members
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before,
		after int) ([]memory.Message, error)
	Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID,
		limit int) ([]memory.Message, error)
	Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error)
	SummaryBacklog(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error)
	Condensed(ctx context.Context, channel memory.ChannelID) ([]memory.Condensed, error)
	Gaps(ctx context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error)
}

// Kind is a kind of digest.
type Kind int

// The kinds of digests.
const (
	Summaries Kind = iota // of sessions that have ended
	// about members by themselves, where their guild and they switched that on
	Facts
	Condensed // of the older parts of long sessions
)

// Options of a Worker.
type Options struct {
	Log Log
	// Model is asked for facts, and sums up the sessions in which Hark was asked something; nil: there is none.
	// Other sessions are summed up by their most informative messages.
	Model      chat.Model
	Extract    bool // whether the model sums up no session
	Policy     memory.Policy
	SessionGap time.Duration    // the silence that ends a session
	Channel    memory.ChannelID // the only one with summaries; 0: all
	Patience   time.Duration    // how long the model may take; 0: as usual for each kind
	Now        func() time.Time // nil means time.Now
	Metrics    *metrics.Metrics // nil: none
	// Done, if not nil, is called with each new summary and the number of its messages.
	Done func(kind Kind, channel memory.ChannelID, messages int, model string)
	// Failed is called when something couldn't be made of a session, or, with channel 0, of several. It is retried.
	Failed func(kind Kind, channel memory.ChannelID, err error)
}

// Worker makes digests. Its progress is in the store, so that nothing is lost when it stops.
type Worker struct {
	Options
	kinds map[Kind]kind // but Condensed
	tries map[Kind]*tries
	long  [condensers]chan notice
}

type tries struct {
	backoff
	left int // in this round
}

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

// kind is a kind of digest of ended sessions.
type kind interface {
	limits() limits
	// backlog returns the stretches that it isn't made of yet.
	backlog(ctx context.Context) ([]memory.Stretch, error)
	// takes reports whether it is made from a message, unless the author opted out.
	takes(p *place, m memory.Message) bool
	// asks reports whether to ask the model about a session.
	asks(s *session) bool
	prompt(s *session) chat.Request
	// read takes what the model wrote. Its error is ErrMalformed.
	read(s *session, written string) error
	// events returns what keeps the digest of a session; none: try again in the next round.
	events(ctx context.Context, s *session) ([]memory.Event, error)
}

// every is the time between two rounds.
var every = map[Kind]time.Duration{Summaries: time.Minute, Facts: 5 * time.Minute, Condensed: time.Minute}

type limits struct {
	doing    string        // as errors say it
	written  string        // what the model is asked for, in errors
	patience time.Duration // how long the model may take
	messages int           // of one session; a longer one is cut
	splits   bool          // whether a silence ends a session; else all before the last silence is one
	asked    int           // how often the model is asked in one round
}

// sessionsMost sessions of a stretch are looked at in one round.
const sessionsMost = memory.MaxSummaries

type session struct {
	memory.Stretch
	until    memory.MessageID // its last message
	all      []memory.Message
	said     []memory.Message // those that the digest is made from
	place    *place
	written  bool // whether the model wrote what it was asked for
	failures int  // how often it failed there by now
	summary  *memory.Summary
	facts    []writtenFact
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
		try, now := w.tries[of], w.Now()
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
	l, now := k.limits(), w.Now()
	end := stretch.Until
	if !stretch.Again { // with Hark's answers, which a stretch doesn't count
		end = max(end, memory.FirstMessageID(now))
	}
	page, err := w.Log.Log(ctx, stretch.Channel, stretch.After, end, l.messages)
	if err != nil || len(page) == 0 && !stretch.Again {
		return nil, err
	}
	s := &session{Stretch: stretch, until: stretch.Until, all: page}
	if !stretch.Again {
		n := 1
		for n < len(page) && (!l.splits || page[n].Time().Sub(page[n-1].Time()) <= w.SessionGap) {
			n++
		}
		last := page[n-1]
		if n < l.messages && n == len(page) && now.Sub(last.Time()) <= w.SessionGap {
			return nil, nil // it goes on
		}
		s.all, s.until = page[:n], last.ID
	}
	if s.place, err = w.placeOf(ctx, stretch); err != nil || s.place == nil {
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
		s.written, s.failures = err == nil, w.tries[of].note(s.Channel, w.Now(), err)
	}
	if err != nil && ctx.Err() == nil {
		w.Failed(of, s.Channel, err)
	}
}

// holds reports whether what the model was shown is unchanged and may still be used.
func (w *Worker) holds(ctx context.Context, k kind, s *session) (ok bool, err error) {
	if s.place, err = w.placeOf(ctx, s.Stretch); err != nil || s.place == nil {
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

const (
	everywhere   = memory.ChannelID(0) // a model that can't be asked at all
	backoffFirst = 5 * time.Minute
	backoffMost  = 6 * time.Hour
)

// backoff says when a model may be asked again about a channel that it failed at: after five minutes, then twice as
// long with each failure, up to six hours. It is in memory only: after a restart the model is asked once more.
type backoff struct {
	mu sync.Mutex
	of map[memory.ChannelID]failures
}

type failures struct {
	count int
	until time.Time
}

// waits reports whether it is too early to ask.
func (b *backoff) waits(channel memory.ChannelID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return now.Before(b.of[channel].until)
}

// note notes how the model did, and returns how often it failed at a channel since it last worked there. A model
// that didn't answer at all isn't asked about other channels either: waiting for each would hold up all. Six hours
// after a retry was possible, earlier failures are forgotten.
func (b *backoff) note(channel memory.ChannelID, now time.Time, err error) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[memory.ChannelID]failures{}
	}
	for _, at := range []memory.ChannelID{channel, everywhere} {
		f := b.of[at]
		if err == nil || at == everywhere && errors.Is(err, ErrMalformed) {
			delete(b.of, at)
			continue
		}
		if now.Sub(f.until) > backoffMost {
			f.count = 0
		}
		f.until = now.Add(min(backoffFirst<<min(f.count, 16), backoffMost))
		f.count++
		b.of[at] = f
	}
	return b.of[channel].count
}
