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

var concurrencyPromises = []promise{
	{"readers see whole batches only, while several write", nil, wholeBatches},
	{"who begins to read after a forgetting has begun sees nothing of it, while several write", nil, forgetAmongWriters},
}

const (
	batchWriters = 3
	batchCount   = 25 // by each writer
	batchSize    = 6
)

// wholeBatches has each writer post batches, and delete every second of them, while readers look for halves.
func wholeBatches(t *trial) {
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	problems := make(chan string, batchWriters+3)
	for w := range batchWriters {
		writers.Go(func() {
			for b := range batchCount {
				if err := writeBatch(t, w, b); err != nil {
					problems <- fmt.Sprintf("Apply: %v", err)
					return
				}
			}
		})
	}
	readers.Go(func() { // as an indexer does
		for {
			select {
			case <-done:
				return
			default:
			}
			err := (&memory.Indexer{Queue: t.store, Embedder: Embedder{}}).Drain(t.ctx, nil)
			if err == nil {
				_, err = t.store.Nearest(t.ctx, in(general), Embedder{}.Space(), embed("batch"), 5)
			}
			if err != nil && !errors.Is(err, memory.ErrNoVectors) {
				problems <- fmt.Sprintf("embed and look: %v", err)
				return
			}
		}
	})
	for r := range 2 {
		readers.Go(func() {
			for i := r; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if problem := readBatch(t, i%batchWriters, i%batchCount); problem != "" {
					problems <- problem
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	select {
	case problem := <-problems:
		t.Fatalf("%s", problem)
	default:
	}
	for w := range batchWriters {
		for b := range batchCount {
			want := batchSize * ((b + 1) % 2)
			if got := len(t.around(general, batchIDs(w, b), 0, 0)); got != want {
				t.Fatalf("at the end %d messages of a batch, want %d", got, want)
			}
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

func writeBatch(t *trial, writer, batch int) error {
	var events []memory.Event
	ids := batchIDs(writer, batch)
	for _, id := range ids {
		events = append(events, memory.Posted{Message: said(general, id, ada, batchWord(writer, batch))})
	}
	err := t.store.Apply(t.ctx, events...)
	if err == nil && batch%2 == 1 {
		err = t.store.Apply(t.ctx, memory.Deleted{Guild: guild, Channel: general, IDs: ids})
	}
	return err
}

// readBatch says what is wrong with what can be seen of a batch.
func readBatch(t *trial, writer, batch int) string {
	messages, err := t.store.Around(t.ctx, general, batchIDs(writer, batch), 0, 0)
	if err != nil || len(messages) != 0 && len(messages) != batchSize {
		return fmt.Sprintf("Around has %d of a batch of %d, %v", len(messages), batchSize, err)
	}
	hits, err := t.store.FullText(t.ctx, in(general), text.Terms(batchWord(writer, batch)), 2*batchSize)
	if err != nil || len(hits) != 0 && len(hits) != batchSize {
		return fmt.Sprintf("FullText has %d of a batch of %d, %v", len(hits), batchSize, err)
	}
	if _, err := t.store.Pending(t.ctx, 5); err != nil {
		return fmt.Sprintf("Pending: %v", err)
	}
	return ""
}

// forgetAmongWriters forgets somebody while others post what they and others say, again and again, and readers look.
func forgetAmongWriters(t *trial) {
	const each = 200
	ids := func(n int) memory.MessageID { return id(n * 10) }
	events := func(from int) []memory.Event {
		var batch []memory.Event
		for n := from; n < from+each/5; n++ {
			batch = append(batch, memory.Posted{Message: said(general, ids(2*n), ada, "regret")}, memory.Posted{Message: said(general, ids(2*n+1), ben, "tide")})
		}
		return batch
	}
	for n := 0; n < each; n += each / 5 {
		t.apply(events(n)...)
	}
	var ended atomic.Bool
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	var writers, readers sync.WaitGroup
	problems := make(chan string, 5)
	for w := range 2 {
		writers.Go(func() {
			for n := 0; n < each || !ended.Load(); n += each / 5 {
				if err := t.store.Apply(t.ctx, events((n+w*each/2)%(2*each))...); err != nil {
					problems <- fmt.Sprintf("Apply: %v", err)
					return
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			<-begun
			for last := false; !last; {
				last = ended.Load()
				if problem := seesOf(t, ada); problem != "" {
					problems <- problem
					return
				}
			}
		})
	}
	_, err := t.store.Forget(t.ctx, memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}, func(int, int) { begin() })
	begin()
	ended.Store(true)
	writers.Wait()
	readers.Wait()
	select {
	case problem := <-problems:
		t.Fatalf("%s", problem)
	default:
	}
	if problem := seesOf(t, ada); problem != "" || err != nil {
		t.Fatalf("Forget: %v; at the end %s", err, problem)
	}
	for n := range each {
		if len(t.around(general, []memory.MessageID{ids(2*n + 1)}, 0, 0)) != 1 {
			t.Fatalf("somebody else's message is gone")
		}
	}
}

// seesOf says what a reader sees of somebody who was forgotten.
func seesOf(t *trial, user memory.UserID) string {
	log, err := t.store.Log(t.ctx, general, -never, never, 10_000)
	if err != nil || slices.ContainsFunc(log, func(m memory.Message) bool { return m.Author == user }) {
		return fmt.Sprintf("Log has what was forgotten, %v", err)
	}
	hits, err := t.store.FullText(t.ctx, in(general), text.Terms("regret"), 10)
	if err != nil || len(hits) > 0 {
		return fmt.Sprintf("FullText has %d messages that were forgotten, %v", len(hits), err)
	}
	_, counts, err := t.store.Frequencies(t.ctx, in(general), text.Terms("regret"), 10)
	if err != nil || counts[0] > 0 {
		return fmt.Sprintf("Frequencies has %v of what was forgotten, %v", counts, err)
	}
	present, err := t.store.Presence(t.ctx, in(general), []memory.UserID{user})
	if err != nil || len(present) > 0 {
		return fmt.Sprintf("Presence has %v of who was forgotten, %v", present, err)
	}
	pending, err := t.store.Pending(t.ctx, 100)
	for _, s := range pending {
		if slices.ContainsFunc(s.Messages, func(m memory.Message) bool { return m.Author == user }) {
			return "Pending has what was forgotten"
		}
	}
	if err != nil {
		return fmt.Sprintf("Pending: %v", err)
	}
	return ""
}
