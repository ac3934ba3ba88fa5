package memorytest

import (
	"fmt"
	"sync"

	"hark/internal/text"
	"hark/memory"
)

var concurrencyPromises = []promise{
	{"readers see whole batches only, while several write", wholeBatches},
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
	problems := make(chan string, batchWriters+2)
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
			if got := len(t.messages(general, batchIDs(w, b)...)); got != want {
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
	messages, err := t.store.Messages(t.ctx, general, batchIDs(writer, batch))
	if err != nil || len(messages) != 0 && len(messages) != batchSize {
		return fmt.Sprintf("Messages has %d of a batch of %d, %v", len(messages), batchSize, err)
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
