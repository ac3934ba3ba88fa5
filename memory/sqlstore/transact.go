package sqlstore

import (
	"cmp"
	"context"
	"time"
)

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

func (s *Store) writing(ctx context.Context, f func(*transaction)) error {
	return s.locked(ctx, false, f)
}

// deciding is writing for what somebody decided.
func (s *Store) deciding(ctx context.Context, f func(*transaction)) error {
	return s.locked(ctx, true, f)
}

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
