package sqlstore

import (
	"context"
	"errors"
	"slices"

	"hark/memory"
)

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

// Apply implements memory.Store.
func (s *Store) Apply(ctx context.Context, events ...memory.Event) error {
	prepared, err := s.prepare(events)
	if err != nil || len(prepared) == 0 {
		return err
	}
	b := &batch{
		events:  prepared,
		decides: slices.ContainsFunc(events, memory.Decides),
		done:    make(chan error, 1),
	}
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
