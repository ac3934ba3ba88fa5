package search_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/embed"
	"hark/memory"
	"hark/search"
)

func TestCacheForgetsWithTime(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	e := k.engine()
	now := dawn
	e.SetClock(func() time.Time { return now })
	for i, wait := range []time.Duration{0, 5 * time.Minute, time.Second, 6 * time.Minute} {
		now = now.Add(wait)
		if _, err := e.Search(t.Context(), ask("roof", green)); err != nil {
			t.Fatal(err)
		}
		if hits, misses := search.CacheUse(t, e); hits != []int{0, 1, 1, 1}[i] || hits+misses != i+1 {
			t.Errorf("after %v: %d from the cache, %d not", wait, hits, misses)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	e := k.engine()
	asked := func(i int) {
		if _, err := e.Search(t.Context(), ask(fmt.Sprint("roof ", i), green)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range search.CacheSize + 1 {
		asked(i)
		asked(1) // used again and again, it stays
	}
	before, _ := search.CacheUse(t, e)
	asked(1)
	asked(0)
	if hits, _ := search.CacheUse(t, e); hits != before+1 {
		t.Errorf("%d of two came from the cache, want the one that was used last", hits-before)
	}
}

func TestCacheKeepsNothingWithoutVectors(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.say(t, dawn, green, marta, "the chapel roof leaks")
	e := k.engine()
	for range 2 {
		if r, err := e.Search(t.Context(), ask("roof", green)); err != nil || !r.TextOnly {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if hits, _ := search.CacheUse(t, e); hits != 0 {
		t.Error("what was found without vectors is kept, which may come at any moment")
	}
}

// TestCacheChangesNothing asks one engine with a cache and one without, in all ways of asking, while things change and are forgotten.
func TestCacheChangesNothing(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	e := k.engine()
	questions := []string{"the chapel roof", "who mends it?", "goat", "what did pim say"}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			n++
			switch rapid.IntRange(0, 7).Draw(rt, "step") {
			case 0:
				id := k.say(t, dawn.Add(time.Duration(n)*time.Minute), pub, pim, fmt.Sprintf("the roof of the goat house, %d", n))
				if rapid.Bool().Draw(rt, "gone") {
					k.apply(t, memory.Deleted{Guild: village, Channel: pub, IDs: []memory.MessageID{id}})
				}
			case 1:
				if err := (&memory.Indexer{Queue: k.store, Embedder: embed.Builtin{}}).Drain(context.Background(), nil); err != nil {
					rt.Fatal(err)
				}
			case 2:
				gone := memory.Forgetting{Guild: village, User: pim, Why: memory.WhyMember, At: dawn.Add(time.Duration(n) * time.Minute)}
				if _, err := k.store.Forget(context.Background(), gone, nil); err != nil {
					rt.Fatal(err)
				}
			default:
				q := ask(rapid.SampledFrom(questions).Draw(rt, "question"), rapid.SampledFrom([][]memory.ChannelID{{green}, {pub}, {green, pub}, {crypt}}).Draw(rt, "scope")...)
				q.Asker = rapid.SampledFrom([]memory.UserID{pim, marta}).Draw(rt, "asker")
				q.Limit = rapid.SampledFrom([]int{0, 0, 3}).Draw(rt, "limit")
				q.Now = q.Now.Add(time.Duration(rapid.IntRange(-4, 4).Draw(rt, "minutes")) * time.Minute)
				switch rapid.IntRange(0, 9).Draw(rt, "narrowed") {
				case 0:
					q.Scope.Since = dawn.Add(time.Hour)
				case 1:
					q.Scope.Until = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
				case 2:
					q.Scope.Authors = []memory.UserID{marta}
				case 3:
					q.Skip = []memory.MessageID{ids["roof"]}
				case 4:
					q.Session = []memory.Message{turn(pim, "and?")}
				}
				got, err := e.Search(t.Context(), q)
				if err != nil {
					rt.Fatal(err)
				}
				again, err := e.Search(t.Context(), q)
				if err != nil || !reflect.DeepEqual(got, again) {
					rt.Fatalf("%q: %+v\nat once again: %+v, %v", q.Text, got, again, err)
				}
				if want := k.search(t, q); !reflect.DeepEqual(got, want) {
					rt.Fatalf("%q: %+v\nwithout a cache: %+v", q.Text, got, want)
				}
			}
		}
	})
	if hits, misses := search.CacheUse(t, e); hits < 10 || misses < 10 {
		t.Errorf("%d from the cache, %d not: that shows little", hits, misses)
	}
}

func TestCacheKeepsTheRerankersOrder(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	j := &judge{score: prefers("liquorice", "bunting")}
	e := k.engine().WithReranker(j)
	q := ask("who mends the chapel roof?", green, pub)
	find := func() search.Result {
		t.Helper()
		r, err := e.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	j.err = errDown
	find()
	j.err = nil
	first := find()
	if len(j.queries) != 2 || first.RerankFailed != nil {
		t.Errorf("after a failure it was asked %d times", len(j.queries))
	}
	if again := find(); !reflect.DeepEqual(first, again) || len(j.queries) != 2 {
		t.Errorf("asked %d times, found %+v\nand before %+v", len(j.queries), again, first)
	}
}
