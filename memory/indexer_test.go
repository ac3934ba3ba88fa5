package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeQueue is a queue of segments in memory.
type fakeQueue struct {
	Store
	pending  []Segment
	wake     chan struct{}
	pendErr  error
	storeErr error
	stored   map[int64][]float32
}

func newQueue(texts ...string) *fakeQueue {
	q := &fakeQueue{wake: make(chan struct{}, 1), stored: map[int64][]float32{}}
	for i, text := range texts {
		q.pending = append(q.pending, Segment{ID: int64(i + 1), Version: 1, Messages: []Message{{Content: text}}})
	}
	return q
}

func (q *fakeQueue) Waiting(context.Context, GuildID) (int, error) { return len(q.pending), q.pendErr }

func (q *fakeQueue) Pending(_ context.Context, limit int) ([]Segment, error) {
	return slices.Clone(q.pending[:min(limit, len(q.pending))]), q.pendErr
}

func (q *fakeQueue) Embedded(_ context.Context, segments []Segment, vectors [][]float32) error {
	if q.storeErr != nil {
		return q.storeErr
	}
	for i, s := range segments {
		q.stored[s.ID] = vectors[i]
		q.pending = slices.DeleteFunc(q.pending, func(p Segment) bool { return p.ID == s.ID && p.Version == s.Version })
	}
	return nil
}

func (q *fakeQueue) Wake() <-chan struct{} { return q.wake }

// embedderFunc is an embedder of one dimension.
type embedderFunc func(ctx context.Context, texts []string) ([][]float32, error)

func (embedderFunc) Space() Space { return Space{Name: "test", Dimensions: 1} }
func (f embedderFunc) Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error) {
	if purpose != ForStorage {
		return nil, errors.New("segments are embedded for storage")
	}
	return f(ctx, texts)
}

func ones(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1}
	}
	return vectors, nil
}

// running runs what keeps a store until the test's bubble ends, without an error.
func running(t *testing.T, x interface{ Run(context.Context) error }) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestDrainEmbedsAllThatIsPending(t *testing.T) {
	t.Parallel()
	q := newQueue(slices.Repeat([]string{"text"}, 2*indexBatch+3)...)
	var told []int
	x := Indexer{Queue: q, Embedder: embedderFunc(ones)}
	if err := x.Drain(t.Context(), func(done int) { told = append(told, done) }); err != nil {
		t.Fatal(err)
	}
	if want := []int{indexBatch, 2 * indexBatch, 2*indexBatch + 3}; !slices.Equal(told, want) ||
		len(q.stored) != want[2] || len(q.pending) != 0 {
		t.Errorf("told %v, stored %d, left %d", told, len(q.stored), len(q.pending))
	}
	if err := x.Drain(t.Context(), nil); err != nil {
		t.Errorf("nothing to do, yet %v", err)
	}
}

func TestDrainStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	cause := errors.New("the cause")
	failing := embedderFunc(func(context.Context, []string) ([][]float32, error) { return nil, cause })
	unreadable, unwritable := newQueue("text"), newQueue("text")
	unreadable.pendErr, unwritable.storeErr = cause, cause
	for _, x := range []Indexer{
		{Queue: newQueue("text"), Embedder: failing},
		{Queue: unreadable, Embedder: embedderFunc(ones)},
		{Queue: unwritable, Embedder: embedderFunc(ones)},
	} {
		if err := x.Drain(t.Context(), nil); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
	}
}

// A failing embedder is asked again after 1, 2, 4 … seconds, at most 5 minutes; once it answers, everything
// waiting is embedded and a later failure begins at a second again.
func TestConcurrentIndexerWaitsLongerAfterEachFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue("one", "two")
		failures, answered, down := 12, make(chan struct{}, 1), errors.New("the embedder is down")
		embed := embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if texts[0] == harmless {
				return nil, down
			}
			if failures--; failures >= 0 {
				return nil, down
			}
			answered <- struct{}{}
			return ones(ctx, texts)
		})
		var waits []time.Duration
		x := Indexer{Queue: q, Embedder: embed, Failed: func(err error, wait time.Duration) {
			if !errors.Is(err, down) {
				t.Errorf("told of %v", err)
			}
			waits = append(waits, wait)
		}}
		started := time.Now()
		running(t, &x)
		<-answered
		want := []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300}
		total := time.Duration(0)
		for i := range want {
			want[i] *= time.Second
			total += want[i]
		}
		if !slices.Equal(waits, want) || time.Since(started) != total {
			t.Errorf("waited %v, want %v", waits, want)
		}
		synctest.Wait()
		if len(q.stored) != 2 {
			t.Errorf("%d vectors stored", len(q.stored))
		}
		failures, waits = 1, nil
		q.pending = []Segment{{ID: 3, Version: 1}}
		q.wake <- struct{}{}
		<-answered
		synctest.Wait()
		if !slices.Equal(waits, want[:1]) || len(q.stored) != 3 {
			t.Errorf("after a success waited %v; %d stored", waits, len(q.stored))
		}
	})
}

// Segments that may grow wait, unless so many do that most won't.
func TestConcurrentIndexerGathers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var all []time.Duration
		began := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		start := time.Now()
		q := newQueue()
		x := Indexer{Queue: q, Embedder: embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, time.Since(start))
			return ones(ctx, texts)
		})}
		running(t, &x)
		synctest.Wait()
		add := func(n int) {
			more := newQueue(slices.Repeat([]string{"text"}, n)...)
			q.pending = append(q.pending, more.pending...)
			q.wake <- struct{}{}
			synctest.Wait()
		}
		add(3)
		time.Sleep(gatherFor / 2)
		add(3)
		if len(began()) != 0 {
			t.Errorf("began after %v", began())
		}
		time.Sleep(gatherFor / 2)
		synctest.Wait()
		if want := []time.Duration{gatherFor}; !slices.Equal(began(), want) {
			t.Errorf("began after %v, want %v", began(), want)
		}
		add(3)
		add(2 * readAtOnce)
		if n := len(began()); n < 2 || began()[1] != gatherFor || len(q.pending) != 0 {
			t.Errorf("began after %v, %d wait", began(), len(q.pending))
		}
	})
}

// Who takes some at least and then fails isn't waited for longer each time.
func TestConcurrentIndexerCountsWhatItDidBeforeAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("too many at a time")
		asked := 0
		embed := embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if asked++; asked%3 != 1 { // nor does it take what is harmless
				return nil, down
			}
			return ones(ctx, texts)
		})
		q := newQueue(slices.Repeat([]string{"text"}, 12*indexBatch)...)
		var waits []time.Duration
		x := Indexer{Queue: q, Embedder: embed,
			Failed: func(_ error, wait time.Duration) { waits = append(waits, wait) }}
		running(t, &x)
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := slices.Repeat([]time.Duration{firstWait}, 11); !slices.Equal(waits, want) || len(q.pending) > 0 {
			t.Errorf("waited %v, %d wait still", waits, len(q.pending))
		}
	})
}

// A slow embedder isn't sent what was deleted while it had others before it.
func TestConcurrentIndexerReadsAgainWhereEmbeddingIsSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(slices.Repeat([]string{"text"}, 3*indexBatch)...)
		q.pending[2*indexBatch].Messages[0].Content = "deleted"
		embed := embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if slices.Contains(texts, "deleted\n") {
				t.Error("it was sent what was deleted")
			}
			time.Sleep(gatherFor + 1)
			q.pending = slices.DeleteFunc(q.pending, func(s Segment) bool { return s.Text() == "deleted\n" })
			return ones(ctx, texts)
		})
		if err := (&Indexer{Queue: q, Embedder: embed}).Drain(t.Context(), nil); err != nil || len(q.pending) > 0 {
			t.Errorf("%d wait still, %v", len(q.pending), err)
		}
	})
}

// wait is an error that says for how long not to ask.
type wait time.Duration

func (wait) Error() string               { return "later" }
func (w wait) RetryAfter() time.Duration { return time.Duration(w) }

// An embedder that says when to come again isn't asked before, nor sooner than it would be without.
func TestConcurrentIndexerWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := []error{wait(40 * time.Second), wait(time.Second), wait(0), wait(10 * time.Minute),
			errors.New("down")}
		want := []time.Duration{40, 2, 4, 600, 16}
		at, began := 0, time.Now()
		embed := embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if at < len(answers) {
				return nil, fmt.Errorf("ask: %w", answers[at])
			}
			return ones(ctx, texts)
		})
		x := Indexer{Queue: newQueue("one"), Embedder: embed, Failed: func(_ error, wait time.Duration) {
			if wait != want[at]*time.Second {
				t.Errorf("failure %d: it waits %v, want %v", at, wait, want[at]*time.Second)
			}
			at++
		}}
		running(t, &x)
		time.Sleep(time.Hour)
		synctest.Wait()
		if at != len(answers) || len(x.Queue.(*fakeQueue).stored) != 1 || time.Since(began) != time.Hour {
			t.Errorf("%d failures, %d stored", at, len(x.Queue.(*fakeQueue).stored))
		}
	})
}

// Of a long fill it is told at its beginning, every half minute, and at its end; of a short one never.
func TestConcurrentIndexerTellsOfALongFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 40 * indexBatch
		q := newQueue(slices.Repeat([]string{"text"}, n)...)
		down := 2
		embed := embedderFunc(func(ctx context.Context, texts []string) ([][]float32, error) {
			if down > 0 {
				down--
				return nil, wait(time.Hour)
			}
			time.Sleep(4 * time.Second)
			return ones(ctx, texts)
		})
		type told struct {
			done, total int
			left        time.Duration
		}
		var lines []told
		x := Indexer{Queue: q, Embedder: embed, Progress: func(done, total int, left time.Duration) {
			lines = append(lines, told{done, total, left})
		}}
		running(t, &x)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		want := []told{{indexBatch, n, 39 * 4 * time.Second}}
		for k := 9; k < 40; k += 8 {
			want = append(want, told{k * indexBatch, n, time.Duration(40-k) * 4 * time.Second})
		}
		want = append(want, told{n, n, 0})
		if !slices.Equal(lines, want) {
			t.Errorf("told %v\nwant %v", lines, want)
		}
		lines = nil
		q.pending = newQueue(slices.Repeat([]string{"text"}, longFill-1)...).pending
		q.wake <- struct{}{}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(q.pending) != 0 || lines != nil {
			t.Errorf("of a short fill, of which %d are left, told %v", len(q.pending), lines)
		}
		q.pending = newQueue(slices.Repeat([]string{"text"}, longFill)...).pending
		q.wake <- struct{}{}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(lines) < 3 || lines[0].total != longFill || lines[len(lines)-1] != (told{longFill, longFill, 0}) {
			t.Errorf("of the next long fill told %v", lines)
		}
	})
}

// picky refuses texts that speak of poison. It counts what it is asked.
type picky struct {
	asked   int
	downAt  int // is down from that question on; 0: never
	hiccups int // questions about poison that it refuses; then it takes it
}

func (p *picky) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if p.asked++; p.downAt > 0 && p.asked >= p.downAt {
		return nil, errors.New("the embedder is down")
	}
	for _, text := range texts {
		if strings.Contains(text, "poison") && p.hiccups > 0 {
			p.hiccups--
			return nil, errors.New("input too strange")
		}
	}
	return ones(ctx, texts)
}

// Texts that the embedder refuses go without a vector, and no other does.
func TestRefusedTextsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	texts := slices.Repeat([]string{"text"}, 37)
	texts[0], texts[20], texts[21] = "poison", "some poison", "more poison"
	for _, texts := range [][]string{texts, {"poison"}, {"text", "poison"}} {
		q := newQueue(texts...)
		var told []error
		x := Indexer{Queue: q, Embedder: embedderFunc((&picky{hiccups: 1000}).embed),
			Failed: func(err error, wait time.Duration) {
				if told = append(told, err); wait != 0 ||
					!strings.Contains(err.Error(), "input too strange") || strings.Contains(err.Error(), "poison") {
					t.Errorf("told of %v, to be tried again in %s", err, wait)
				}
			}}
		if err := x.Drain(t.Context(), nil); err != nil || len(q.stored) != len(texts) {
			t.Fatalf("%d of %d stored: %v", len(q.stored), len(texts), err)
		}
		refused := 0
		for i, text := range texts {
			bad := strings.Contains(text, "poison")
			if (q.stored[int64(i+1)] == nil) != bad {
				t.Errorf("segment %d, %q, got %v", i+1, text, q.stored[int64(i+1)])
			}
			if bad {
				refused++
			}
		}
		if len(told) != refused {
			t.Errorf("told of %d refused, not %d: %v", len(told), refused, told)
		}
		x.Failed = nil
		q.pending = []Segment{{ID: 99, Messages: []Message{{Content: "poison"}}}}
		if err := x.Drain(t.Context(), nil); err != nil || len(q.pending) > 0 {
			t.Errorf("with nobody to tell: %v", err)
		}
	}
}

// A segment that was refused for a moment gets its vector; and whenever the embedder goes down, no segment is
// taken for refused that isn't.
func TestOnlyRefusedTextsGoWithout(t *testing.T) {
	t.Parallel()
	q := newQueue("poison")
	if err := (&Indexer{Queue: q, Embedder: embedderFunc((&picky{hiccups: 1}).embed)}).Drain(t.Context(),
		nil); err != nil || q.stored[1] == nil {
		t.Errorf("after a hiccup: %v, %v", err, q.stored)
	}
	for downAt := 1; ; downAt++ {
		q := newQueue("one", "two", "three", "poison", "five")
		err := (&Indexer{Queue: q, Embedder: embedderFunc((&picky{hiccups: 1000,
			downAt: downAt}).embed)}).Drain(t.Context(), nil)
		for id, v := range q.stored {
			if (v == nil) != (id == 4) {
				t.Errorf("down at %d: segment %d has %v", downAt, id, v)
			}
		}
		if err == nil {
			if downAt < 8 {
				t.Errorf("it needed %d questions only", downAt)
			}
			return
		}
		if len(q.pending) == 0 || downAt > 100 {
			t.Fatalf("down at %d: nothing is pending, yet %v", downAt, err)
		}
	}
}

// Run ends with its context wherever it is: waiting for work, for the embedder, or to try again.
func TestConcurrentIndexerEndsPromptly(t *testing.T) {
	t.Parallel()
	hanging := func(ctx context.Context, _ []string) ([][]float32, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	failing := func(context.Context, []string) ([][]float32, error) { return nil, errors.New("down") }
	for name, x := range map[string]*Indexer{
		"idle": {Queue: newQueue(), Embedder: embedderFunc(ones)},
		"asking": {Queue: newQueue("text"), Embedder: embedderFunc(hanging),
			Failed: func(err error, _ time.Duration) { t.Errorf("told of %v", err) }},
		"backing": {Queue: newQueue("text"), Embedder: embedderFunc(failing)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x.Queue.(*fakeQueue).wake = make(chan struct{}, 1) // of this bubble
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- x.Run(ctx) }()
				synctest.Wait()
				before := time.Now()
				cancel()
				if err := <-done; err != nil || !time.Now().Equal(before) {
					t.Errorf("ended %s late with %v", time.Since(before), err)
				}
			})
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&Indexer{Queue: newQueue("text"), Embedder: embedderFunc(ones)}).Run(ended); err != nil {
		t.Error(err)
	}
}
