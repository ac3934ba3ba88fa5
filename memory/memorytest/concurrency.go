package memorytest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"hark/internal/text"
	"hark/memory"
)

// concurrencyCases run without the model, because it doesn't know the order of events.
var concurrencyCases = []testCase{
	{"readers see whole batches only, while several write", nil, wholeBatches},
	{"who begins to read after a forgetting has begun sees nothing of it, while several write", nil,
		forgetAmongWriters},
}

// meanwhile calls each of others repeatedly, with increasing n, while do runs, and once more after it.
func (t *harness) meanwhile(do func() error, others ...func(n int) error) {
	t.Helper()
	var ended atomic.Bool
	var all sync.WaitGroup
	failures := make(chan error, len(others)+1)
	for _, other := range others {
		all.Go(func() {
			var err error
			for n, last := 0, false; !last && err == nil; n++ {
				last = ended.Load()
				err = other(n)
			}
			failures <- err
		})
	}
	failures <- do()
	ended.Store(true)
	all.Wait()
	for range cap(failures) {
		if err := <-failures; err != nil {
			t.Fatalf("%v", err)
		}
	}
}

const (
	batchWriters = 3
	batchCount   = 25 // of each writer
	batchSize    = 6
)

// wholeBatches has writers post batches and delete every second one, while readers look for incomplete
// ones.
func wholeBatches(t *harness) {
	write := func() error {
		var writers sync.WaitGroup
		errs := make([]error, batchWriters)
		for w := range batchWriters {
			writers.Go(func() {
				for b := 0; b < batchCount && errs[w] == nil; b++ {
					errs[w] = writeBatch(t, w, b)
				}
			})
		}
		writers.Wait()
		return errors.Join(errs...)
	}
	read := func(n int) error { return readBatch(t, n%batchWriters, n%batchCount) }
	t.meanwhile(write, read, read, func(int) error { // as an indexer does
		err := (&memory.Indexer{Queue: t.store, Embedder: Embedder{}}).Drain(t.ctx, nil)
		if err == nil {
			_, err = t.store.Nearest(t.ctx, in(general), Embedder{}.Space(), embedText("batch"), 5)
		}
		if errors.Is(err, memory.ErrNoVectors) {
			return nil
		}
		return err
	})
	for w := range batchWriters {
		for b := range batchCount {
			t.same("how much of a batch is there at the end", len(t.around(general, batchIDs(w, b), 0, 0)),
				batchSize*((b+1)%2))
		}
	}
}

func batchIDs(writer, batch int) []memory.MessageID {
	var ids []memory.MessageID
	for i := range batchSize {
		ids = append(ids, id(writer*100_000+batch*100+i))
	}
	return ids
}

func batchWord(writer, batch int) string { return fmt.Sprintf("batch%dx%d", writer, batch) }

func writeBatch(t *harness, writer, batch int) error {
	var events []memory.Event
	ids := batchIDs(writer, batch)
	for _, id := range ids {
		events = append(events, post(said(general, id, ada, batchWord(writer, batch))))
	}
	err := t.store.Apply(t.ctx, events...)
	if err == nil && batch%2 == 1 {
		err = t.store.Apply(t.ctx, deletes(general, ids...))
	}
	return err
}

func readBatch(t *harness, writer, batch int) error {
	messages, err := t.store.Around(t.ctx, general, batchIDs(writer, batch), 0, 0)
	if err != nil || len(messages) != 0 && len(messages) != batchSize {
		return fmt.Errorf("the log has %d of a batch of %d, %v", len(messages), batchSize, err)
	}
	hits, err := t.store.FullText(t.ctx, in(general), text.Terms(batchWord(writer, batch)), 2*batchSize)
	if err != nil || len(hits) != 0 && len(hits) != batchSize {
		return fmt.Errorf("FullText has %d of a batch of %d, %v", len(hits), batchSize, err)
	}
	_, err = t.store.Pending(t.ctx, 5)
	return err
}

// forgetAmongWriters forgets somebody while others repeatedly post everybody's messages, and readers check.
func forgetAmongWriters(t *harness) {
	const each, step = 200, 40
	events := func(from int) []memory.Event {
		var batch []memory.Event
		for n := from; n < from+step; n++ {
			batch = append(batch, post(said(general, id(20*n), ada, "regret")),
				post(said(general, id(20*n+10), ben, "tide")))
		}
		return batch
	}
	write := func(n int) error { return t.store.Apply(t.ctx, events(step*n%(2*each))...) }
	for n := range each / step {
		if err := write(n); err != nil {
			t.Fatalf("%v", err)
		}
	}
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	read := func(int) error {
		<-begun
		return seesOf(t, ada)
	}
	t.meanwhile(func() error {
		defer begin()
		_, err := t.store.Forget(t.ctx, memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later},
			func(int, int) { begin() })
		return err
	}, write, func(n int) error { return write(n + each/step/2) }, read, read)
	if err := seesOf(t, ada); err != nil {
		t.Fatalf("at the end: %v", err)
	}
	for n := range each {
		t.same("somebody else's message", len(t.around(general, []memory.MessageID{id(20*n + 10)}, 0, 0)), 1)
	}
}

func seesOf(t *harness, user memory.UserID) error {
	theirs := func(m memory.Message) bool { return m.Author == user }
	log, err := t.store.Log(t.ctx, general, -never, never, 10_000)
	if err != nil || slices.ContainsFunc(log, theirs) {
		return fmt.Errorf("Log has what was forgotten, %v", err)
	}
	hits, err := t.store.FullText(t.ctx, in(general), text.Terms("regret"), 10)
	if err != nil || len(hits) > 0 {
		return fmt.Errorf("FullText has %d messages that were forgotten, %v", len(hits), err)
	}
	_, counts, err := t.store.Frequencies(t.ctx, in(general), text.Terms("regret"), 10)
	if err != nil || counts[0] > 0 {
		return fmt.Errorf("Frequencies has %v of what was forgotten, %v", counts, err)
	}
	present, err := t.store.Presence(t.ctx, in(general), []memory.UserID{user})
	if err != nil || len(present) > 0 {
		return fmt.Errorf("Presence has %v of who was forgotten, %v", present, err)
	}
	active, err := t.store.Activity(t.ctx, in(general), true, 0)
	if err != nil || slices.ContainsFunc(active, func(a memory.Activity) bool { return a.Author == user }) {
		return fmt.Errorf("Activity has who was forgotten, %v", err)
	}
	pending, err := t.store.Pending(t.ctx, 100)
	if slices.ContainsFunc(pending, func(s memory.Segment) bool { return slices.ContainsFunc(s.Messages, theirs) }) {
		return errors.New("Pending has what was forgotten")
	}
	return err
}
