package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// ingest commits in groups: whoever gets the write lock commits all callers' waiting batches in one
// transaction. It has no goroutine of its own.
type ingest struct {
	mu      sync.Mutex
	waiting []*batch

	// Caches, used only by the holder of the write lock.
	channels  map[memory.ChannelID]*channel
	guildNos  map[memory.GuildID]int64
	guildIDs  map[int64]memory.GuildID
	segments  map[int64]int64 // last segment id by guild number
	decisions *decisionCache
	dropped   dropped
}

type batch struct {
	events  []event
	forgets bool       // whether its events begin a forgetting
	decides bool       // whether it has a decision: see memory.Decides
	done    chan error // buffered; gets the outcome
}

// maxCommit bounds the events of a shared transaction, to free the lock soon.
const maxCommit = 2000

// Apply implements memory.Store.
func (s *Store) Apply(ctx context.Context, events ...memory.Event) error {
	prepared, err := s.prepare(events)
	if err != nil || len(prepared) == 0 {
		return err
	}
	b := &batch{events: prepared, decides: slices.ContainsFunc(events, memory.Decides), done: make(chan error, 1)}
	s.ingest.mu.Lock()
	s.ingest.waiting = append(s.ingest.waiting, b)
	s.ingest.mu.Unlock()
	for {
		select {
		case err := <-b.done:
			return s.committed(ctx, b, err)
		case s.engine.WriteLock() <- struct{}{}:
			s.commitWaiting()
		case <-ctx.Done():
			if s.ingest.withdraw(b) {
				return ctx.Err()
			}
			return s.committed(ctx, b, <-b.done)
		}
	}
}

// committed hides what a batch has forgotten, even if another batch began that forgetting.
func (s *Store) committed(ctx context.Context, b *batch, err error) error {
	if err != nil || !b.forgets {
		return err
	}
	return HideForgotten(ctx, s)
}

// withdraw takes b back; false if it is being committed.
func (w *ingest) withdraw(b *batch) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, b)
	if i >= 0 {
		w.waiting = slices.Delete(w.waiting, i, i+1)
	}
	return i >= 0
}

// take returns the next batches to commit together.
func (w *ingest) take() []*batch {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	events := 0
	for n < len(w.waiting) && (n == 0 || events+len(w.waiting[n].events) <= maxCommit) {
		events += len(w.waiting[n].events)
		n++
	}
	taken := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	return taken
}

// commitWaiting commits waiting batches and releases the write lock. A caller that gives up doesn't undo
// others' work.
func (s *Store) commitWaiting() {
	defer func() { s.engine.ReleaseWriteLock(s.ingest.isIdle()) }()
	batches := s.ingest.take()
	if len(batches) == 0 {
		return
	}
	panicked := errors.New("write to the database: the goroutine that wrote panicked")
	err := panicked
	defer func() {
		for _, b := range batches {
			b.done <- err
		}
	}()
	err = s.commit(batches)
	if len(batches) == 1 || !errors.Is(err, memory.ErrRefused) {
		return
	}
	for err = panicked; len(batches) > 0; batches = batches[1:] { // so one refusal spares the others
		batches[0].done <- s.commit(batches[:1])
	}
}

func (s *Store) commit(batches []*batch) error {
	decides := slices.ContainsFunc(batches, func(b *batch) bool { return b.decides })
	return s.transact(context.Background(), decides, func(t *transaction) {
		for _, b := range batches {
			for i := range b.events {
				b.events[i].write(t)
			}
			b.forgets = t.hideNext
			t.hideNext = false
		}
	})
}

func (s *Store) writing(ctx context.Context, f func(*transaction)) error {
	return s.locked(ctx, false, f)
}

// deciding is writing for what somebody decided.
func (s *Store) deciding(ctx context.Context, f func(*transaction)) error {
	return s.locked(ctx, true, f)
}

func (s *Store) locked(ctx context.Context, lasting bool, f func(*transaction)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.engine.WriteLock() <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.engine.ReleaseWriteLock(s.ingest.isIdle()) }()
	return s.transact(ctx, lasting, f)
}

// stepTime is about how long a transaction of a long write takes, so others wait briefly.
const stepTime = 20 * time.Millisecond

// inSteps runs a long write in short transactions. step does up to limit and returns how much it did; 0 is
// the end. progress may be nil.
func (s *Store) inSteps(ctx context.Context, done, total int, progress func(done, total int),
	step func(t *transaction, limit int) int) (int, error) {
	for limit := 100; ; {
		n := 0
		var began time.Time
		err := s.writing(ctx, func(t *transaction) { began = time.Now(); n = step(t, limit) })
		err = cmp.Or(err, ctx.Err())
		if err != nil || n == 0 {
			return done, err
		}
		took := time.Since(began)
		if took > stepTime {
			limit = max(1, limit/2)
		} else if took < stepTime/2 {
			limit = 2 * limit
		}
		done += n
		if progress != nil {
			progress(min(done, total), total)
		}
		select { // another process that wants to write tries only now and then
		case <-time.After(took / 4):
		case <-ctx.Done():
		}
	}
}

// transact runs f in a transaction and publishes its changes to readers. The caller holds the write lock.
// ctx doesn't interrupt it.
func (s *Store) transact(ctx context.Context, lasting bool, f func(*transaction)) (err error) {
	whole := false
	defer func() {
		if !whole || err != nil {
			s.ingest.forget() // the caches may hold what wasn't committed
		}
	}()
	ctx = context.WithoutCancel(ctx)
	var done *transaction
	commits := false
	err = s.engine.Transact(ctx, lasting, func(tx Tx) (err error) {
		defer recoverFailure(&err)
		done = s.newTransaction(ctx, tx)
		f(done)
		done.flush()
		done.numberVectorChanges()
		done.changed.Guilds = done.changed.guilds()
		tx.Changed(done.changed.Changes)
		commits = true
		return nil
	})
	if err == nil {
		err = s.publish(ctx, done)
	}
	if commits && err != nil { // it may be committed
		s.missed.Add(1)
		s.dropVectors(done.vectors)
	}
	whole = true
	return err
}

// forget drops the caches.
func (w *ingest) forget() {
	clear(w.channels)
	clear(w.guildNos)
	clear(w.guildIDs)
	clear(w.segments)
	w.decisions = nil
	w.dropped = dropped{}
}

func (w *ingest) isIdle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) == 0
}

// notice has the caches hold what is committed.
func (s *Store) notice(ctx context.Context) error {
	missed := s.missed.Load()
	if missed == s.caughtUp.Load() {
		return s.engine.Notice(ctx)
	}
	return s.engine.Latest(ctx, func(q Querier) error {
		err := s.reload(ctx, q, []memory.GuildID{memory.Everywhere})
		if err == nil {
			err = s.refreshVectors(ctx, q)
		}
		if err == nil {
			s.caughtUp.Store(missed)
		}
		return err
	})
}

// invalidateCaches is Engine.Watch's callback.
func (s *Store) invalidateCaches(ctx context.Context, q Querier, guilds []memory.GuildID, writing bool) error {
	s.othersWrote.Add(1)
	if writing {
		s.ingest.forget()
	}
	s.wakeUp()
	if err := s.noticeSealing(ctx, q, guilds); err != nil {
		return err
	}
	if err := s.refreshVectors(ctx, q); err != nil {
		return err
	}
	return s.reload(ctx, q, guilds)
}

// changes is what a transaction changed that readers cache.
type changes struct {
	Changes
	structure map[memory.GuildID]bool // guilds that changed, or their roles or channels; Everywhere: all
	people    map[memory.GuildID]bool // guilds whose people or lore changed
	space     bool                    // the active vectors, or which segments have which numbers
	pending   bool
	newest    memory.MessageID
}

// guilds returns whose cached state changed.
func (c changes) guilds() []memory.GuildID {
	all := maps.Clone(c.structure)
	maps.Copy(all, c.people)
	return slices.Sorted(maps.Keys(all))
}

// publish updates the readers' caches after a commit.
func (s *Store) publish(ctx context.Context, t *transaction) error {
	s.index.Apply(t.vectors)
	c := t.changed
	s.mu.Lock()
	s.newest = max(s.newest, c.newest)
	if len(c.people) > 0 {
		s.peopleVersion++
		for guild := range c.people {
			delete(s.people, guild)
			delete(s.lore, guild)
		}
	}
	s.mu.Unlock()
	if c.pending {
		s.wakeUp()
	}
	if len(c.structure) == 0 && !c.space {
		return nil
	}
	guilds := slices.Collect(maps.Keys(c.structure))
	return s.engine.Latest(ctx, func(q Querier) error {
		if c.space {
			if err := s.refreshVectors(ctx, q); err != nil {
				return err
			}
		}
		if len(guilds) == 0 {
			return nil
		}
		return s.reload(ctx, q, guilds)
	})
}

func (s *Store) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
