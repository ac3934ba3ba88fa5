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

func TestCacheAnswersTheSameAgain(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	e := k.engine()
	find := func(change func(*search.Query)) search.Result {
		t.Helper()
		q := ask("what did oswin say about the chapel roof", green, pub)
		q.Asker = pim
		change(&q)
		r, err := e.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	used := func(want int, what string) {
		t.Helper()
		if hits, _ := search.CacheUse(t, e); hits != want {
			t.Errorf("%s: %d searches came from the cache, want %d", what, hits, want)
		}
	}
	same := func(*search.Query) {}
	first := find(same)
	used(0, "the first time")
	if again := find(same); !reflect.DeepEqual(again, first) {
		t.Errorf("the second time it is %+v\nand was %+v", again, first)
	}
	used(1, "the second time")
	find(func(q *search.Query) { q.Now = q.Now.Add(time.Minute) })
	used(2, "a minute later")
	if r := find(func(q *search.Query) { q.Asker = marta }); r.People[1].Person.ID != marta {
		t.Errorf("asked by another, it tells of %+v", r.People)
	}
	used(3, "asked by another")
	find(func(q *search.Query) { q.Now = q.Now.Add(-time.Second) })
	used(3, "asked earlier")
	find(same)
	used(4, "and then again")
	for name, change := range map[string]func(*search.Query){
		"another audience": func(q *search.Query) { q.Scope.Channels = []memory.ChannelID{green} },
		"a span":           func(q *search.Query) { q.Scope.Since = dawn },
		"an author":        func(q *search.Query) { q.Scope.Authors = []memory.UserID{pim} },
		"something shown":  func(q *search.Query) { q.Skip = []memory.MessageID{ids["roof"]} },
		"another question": func(q *search.Query) { q.Text += "s" },
		"another day":      func(q *search.Query) { q.Now = q.Now.AddDate(0, 0, 1) },
		"no time":          func(q *search.Query) { q.Now = time.Time{} },
		"a session":        func(q *search.Query) { q.Session = []memory.Message{turn(pim, "and?")} },
		"more hits":        func(q *search.Query) { q.Limit = 3 },
		"after all times":  func(q *search.Query) { q.Scope.Until = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"after them, there": func(q *search.Query) {
			q.Scope.Until, q.Scope.Channels = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), []memory.ChannelID{pub}
		},
		"other guilds' too": func(q *search.Query) { q.Guilds = append(q.Guilds, 78) },
	} {
		find(change)
		used(4, name)
	}
	k.say(t, dawn.AddDate(0, 0, 2), green, oswin, "the chapel roof of slate is heavy")
	if r := find(same); reflect.DeepEqual(hitIDs(r), hitIDs(first)) {
		t.Error("what was said since isn't found")
	}
	used(4, "after something was said")
	find(same)
	used(5, "and again")
	if _, err := k.store.Forget(t.Context(), memory.Forgetting{Guild: village, User: oswin, Why: memory.WhyMember, At: dawn.AddDate(0, 1, 0)}, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range shown(find(same)) {
		if m.Author == oswin {
			t.Errorf("%q is forgotten and shown", m.Content)
		}
	}
	used(5, "after something was forgotten")
}

// What was found for a later moment isn't served for an earlier one: it may have been said between them.
func TestCacheGoesForwardInTime(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	e := k.engine()
	noon := k.all[ids["beer"]].Time().Truncate(5 * time.Minute)
	for i, c := range []struct {
		after time.Duration
		hits  int // from the cache, in all
	}{{4 * time.Minute, 0}, {4*time.Minute + time.Second, 1}, {time.Minute, 1}, {2 * time.Minute, 2}, {4 * time.Minute, 3}} {
		q := ask("the stout and the chapel roof", pub, green)
		q.Now = noon.Add(c.after)
		if _, err := e.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if hits, _ := search.CacheUse(t, e); hits != c.hits {
			t.Errorf("search %d: %d came from the cache, want %d", i, hits, c.hits)
		}
	}
}

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

// TestCacheChangesNothing asks one engine with a cache and one without, while things change.
func TestCacheChangesNothing(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	e := k.engine()
	questions := []string{"the chapel roof", "who mends it?", "goat", "what did pim say"}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			n++
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				id := k.say(t, dawn.Add(time.Duration(n)*time.Minute), pub, pim, fmt.Sprintf("the roof of the goat house, %d", n))
				if rapid.Bool().Draw(rt, "gone") {
					k.apply(t, memory.Deleted{Guild: village, Channel: pub, IDs: []memory.MessageID{id}})
				}
			case 1:
				if err := (&memory.Indexer{Queue: k.store, Embedder: embed.Builtin{}}).Drain(context.Background(), nil); err != nil {
					rt.Fatal(err)
				}
			default:
				q := ask(rapid.SampledFrom(questions).Draw(rt, "question"), rapid.SampledFrom([][]memory.ChannelID{{green}, {pub}, {green, pub}, {crypt}}).Draw(rt, "scope")...)
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
