package search_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

var errDown = errors.New("down")

// badEmbedder fails, or answers with too little.
type badEmbedder struct {
	vectors [][]float32
	err     error
}

func (badEmbedder) Space() memory.Space { return embed.Builtin{}.Space() }

func (b badEmbedder) Embed(context.Context, memory.Purpose, []string) ([][]float32, error) {
	return b.vectors, b.err
}

func TestSearchWithoutVectors(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	fresh := newTalk(t) // nothing embedded yet
	only := fresh.say(t, dawn, green, marta, "who mends roofs is Hale")
	for name, c := range map[string]struct {
		engine   *search.Engine
		best     memory.MessageID
		textOnly bool
	}{
		"embedder down":     {search.New(k.store, k.store, badEmbedder{err: errDown}), ids["roof"], true},
		"no vector at all":  {search.New(k.store, k.store, badEmbedder{}), ids["roof"], true},
		"nothing to embed":  {search.New(k.store, k.store, badEmbedder{vectors: [][]float32{nil}}), ids["roof"], false},
		"nothing embedded":  {fresh.engine(), only, true},
		"as it should be":   {k.engine(), ids["roof"], false},
		"too many, somehow": {search.New(k.store, k.store, badEmbedder{vectors: [][]float32{nil, nil}}), ids["roof"], true},
	} {
		r, err := c.engine.Search(t.Context(), ask("who mends roofs", green))
		if err != nil || len(r.Hits) == 0 || r.Hits[0].Message.ID != c.best || r.TextOnly != c.textOnly {
			t.Errorf("%s: %v, text only %v, %v", name, hitIDs(r), r.TextOnly, err)
		}
	}
}

// plainEmbedder embeds questions without knowing their terms, as an endpoint does; what has no terms is as
// "roof" to it.
type plainEmbedder struct{}

func (plainEmbedder) Space() memory.Space { return embed.Builtin{}.Space() }

func (plainEmbedder) Embed(ctx context.Context, p memory.Purpose, texts []string) ([][]float32, error) {
	vectors, err := embed.Builtin{}.Embed(ctx, p, texts)
	if err == nil && vectors[0] == nil {
		return embed.Builtin{}.Embed(ctx, p, []string{"roof"})
	}
	return vectors, err
}

func TestSearchByMeaningAlone(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	r, err := search.New(k.store, k.store, plainEmbedder{}).Search(t.Context(), ask("what about it?", green))
	if err != nil || r.TextOnly || !slices.Contains(hitIDs(r), ids["roof"]) {
		t.Fatalf("%v, text only %v, %v", hitIDs(r), r.TextOnly, err)
	}
	for _, h := range r.Hits {
		for _, y := range h.Why {
			if y.Kind != "meaning" {
				t.Errorf("%q is found for %v", h.Message.Content, y)
			}
		}
	}
}

func TestSearchKeepsTheRarestWords(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	common := strings.Fields("apple bread cheese dough eggs flour grain honey icing jam kale lemon mint nuts oats plum quince rice sugar thyme")
	for i := range 20 {
		k.say(t, dawn.Add(time.Duration(i)*4*time.Hour), green, marta, strings.Join(common, " ")+fmt.Sprintf(" batch%d", i))
	}
	want := k.say(t, dawn.AddDate(0, 0, 9), green, oswin, "the vicar keeps a unicorn")
	k.index(t)
	r := k.search(t, ask(strings.Join(common, " ")+" vicar unicorn "+strings.Join(strings.Fields("bagel cocoa dates endive fudge gravy hash iceberg jelly krill latte muesli nougat olives pears"), " "), green))
	if r.Hits[0].Message.ID != want {
		t.Errorf("first is %v", r.Hits[0])
	}
}

func TestSearchCountsNamesLess(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.say(t, dawn, green, marta, "pim, come on, pim")
	want := k.say(t, dawn.Add(9*time.Hour), green, oswin, "hail to our vicar here")
	if r := k.search(t, ask("what of pim and the vicar", green)); r.Hits[0].Message.ID != want {
		t.Errorf("somebody called by name is first: %v", r.Hits[0])
	}
}

// failing is a store of which one method fails, from the nth call on.
type failing struct {
	*sqlite.Store
	method string
	n      *atomic.Int64
}

func failingAt(s *sqlite.Store, method string, n int64) failing {
	f := failing{s, method, new(atomic.Int64)}
	f.n.Store(n)
	return f
}

func (f failing) fail(method string) error {
	if f.method == method && f.n.Add(-1) <= 0 {
		return errDown
	}
	return nil
}

func (f failing) Version(ctx context.Context) (int64, error) {
	version, err := f.Store.Version(ctx)
	return version, errors.Join(err, f.fail("Version"))
}

func (f failing) Messages(ctx context.Context, c memory.ChannelID, ids []memory.MessageID) ([]memory.Message, error) {
	messages, err := f.Store.Messages(ctx, c, ids)
	return messages, errors.Join(err, f.fail("Messages"))
}

func (f failing) Starred(ctx context.Context, s memory.Scope, n int) ([]memory.Spot, error) {
	spots, err := f.Store.Starred(ctx, s, n)
	return spots, errors.Join(err, f.fail("Starred"))
}

func (f failing) FullText(ctx context.Context, s memory.Scope, terms []string, n int) ([]memory.TextHit, error) {
	hits, err := f.Store.FullText(ctx, s, terms, n)
	return hits, errors.Join(err, f.fail("FullText"))
}

func (f failing) Frequencies(ctx context.Context, s memory.Scope, terms []string, n int) (int, []int, error) {
	all, counts, err := f.Store.Frequencies(ctx, s, terms, n)
	return all, counts, errors.Join(err, f.fail("Frequencies"))
}

func (f failing) Nearest(ctx context.Context, s memory.Scope, space memory.Space, v []float32, n int) ([]memory.VectorHit, error) {
	if err := f.fail("Nearest"); err != nil {
		return nil, err
	}
	return f.Store.Nearest(ctx, s, space, v, n)
}

func (f failing) Around(ctx context.Context, c memory.ChannelID, ids []memory.MessageID, before, after int) ([]memory.Message, error) {
	messages, err := f.Store.Around(ctx, c, ids, before, after)
	return messages, errors.Join(err, f.fail("Around"))
}

func (f failing) People(ctx context.Context, g memory.GuildID) ([]memory.Person, error) {
	people, err := f.Store.People(ctx, g)
	return people, errors.Join(err, f.fail("People"))
}

func (f failing) Presence(ctx context.Context, s memory.Scope, users []memory.UserID) (map[memory.UserID]memory.Presence, error) {
	presence, err := f.Store.Presence(ctx, s, users)
	return presence, errors.Join(err, f.fail("Presence"))
}

func (f failing) Lore(ctx context.Context, g memory.GuildID) ([]memory.Lore, error) {
	lore, err := f.Store.Lore(ctx, g)
	return lore, errors.Join(err, f.fail("Lore"))
}

func TestSearchTellsOfFailures(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	for _, method := range []string{"FullText", "Frequencies", "Nearest", "Around", "People", "Presence", "Lore", "Version", "Starred", ""} {
		store := failingAt(k.store, method, 1)
		r, err := search.New(store, store, embed.Builtin{}).Search(t.Context(), ask("who mends roofs", green))
		if method == "" {
			if err != nil || len(r.Hits) == 0 {
				t.Errorf("nothing fails, but: %v", err)
			}
			continue
		}
		if !errors.Is(err, errDown) || strings.Count(err.Error(), "search: ") != 1 || len(r.Hits) > 0 {
			t.Errorf("%s fails: %v", method, err)
		}
	}
	narrow := ask("who mends roofs", green)
	narrow.Limit = 1 // so that the latest messages aren't asked for as well
	store := failingAt(k.store, "Around", 1)
	if _, err := search.New(store, store, embed.Builtin{}).Search(t.Context(), narrow); !errors.Is(err, errDown) {
		t.Errorf("what was found can't be read: %v", err)
	}
	store = failingAt(k.store, "Frequencies", 2) // for the name that is meant
	if _, err := search.New(store, store, embed.Builtin{}).Search(t.Context(), ask("does Osvin mend roofs", green)); !errors.Is(err, errDown) {
		t.Errorf("the terms of a misspelt name can't be counted: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.engine().Search(ctx, ask("who mends roofs", green)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// remote is an embedder elsewhere, which mustn't be asked.
type remote struct{ t *testing.T }

func (remote) Space() memory.Space { return embed.Builtin{}.Space() }

func (r remote) Embed(context.Context, memory.Purpose, []string) ([][]float32, error) {
	r.t.Error("a question went to a server")
	return nil, errDown
}

func TestLocalSearchesAskNobodyAndKeepNothing(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	q := ask("who mends roofs", green)
	q.Local = true
	j := &judge{score: prefers("goat")}
	e := search.New(k.store, k.store, remote{t}).WithReranker(j)
	for range 2 {
		r, err := e.Search(t.Context(), q)
		if err != nil || r.Hits[0].Message.ID != ids["roof"] || !r.TextOnly {
			t.Errorf("found %v, %v", hitIDs(r), err)
		}
	}
	if hits, misses := search.CacheUse(t, e); hits+misses != 0 || len(j.queries) != 0 {
		t.Errorf("the cache was asked %d times, the reranker %d times", hits+misses, len(j.queries))
	}
	store := failingAt(k.store, "FullText", 1)
	if _, err := search.New(store, store, embed.Builtin{}).Search(t.Context(), q); !errors.Is(err, errDown) {
		t.Errorf("%v", err)
	}
}

// What is in the cache has to be read again.
func TestCacheTellsOfFailures(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	k.apply(t, memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: village, Name: "Roof money", Text: "forty florins", By: marta, At: dawn}})
	k.index(t)
	for method, n := range map[string]int64{"Messages": 1, "People": 2, "Presence": 2, "Lore": 2, "Version": 2} {
		store := failingAt(k.store, method, n)
		e := search.New(store, store, embed.Builtin{})
		q := ask("the roof money", green, crypt)
		if r, err := e.Search(t.Context(), q); err != nil || len(r.Lore) != 1 {
			t.Fatalf("%s: %v, %v", method, r.Lore, err)
		}
		if _, err := e.Search(t.Context(), q); !errors.Is(err, errDown) || strings.Count(err.Error(), "search: ") != 1 {
			t.Errorf("%s fails: %v", method, err)
		}
	}
}

// short is a store that gives less than is there when messages are read again, as one that forgets meanwhile does.
type short struct{ *sqlite.Store }

func (s short) Messages(ctx context.Context, c memory.ChannelID, ids []memory.MessageID) ([]memory.Message, error) {
	messages, err := s.Store.Messages(ctx, c, ids)
	return messages[min(1, len(messages)):], err
}

func (s short) Lore(ctx context.Context, g memory.GuildID) ([]memory.Lore, error) {
	return s.Store.Lore(ctx, g)
}

func TestCacheIsOfNoUseWhereSomethingIsGone(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	e := search.New(short{k.store}, k.store, embed.Builtin{})
	q := ask("who mends roofs", green)
	first, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, err := e.Search(t.Context(), q); err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("found %+v, %v\nbefore %+v", again, err, first)
		}
	}
}

// canceller cancels while it embeds.
type canceller struct{ cancel func() }

func (canceller) Space() memory.Space { return embed.Builtin{}.Space() }

func (c canceller) Embed(ctx context.Context, p memory.Purpose, texts []string) ([][]float32, error) {
	c.cancel()
	return embed.Builtin{}.Embed(ctx, p, texts)
}

func TestSearchStopsWhileEmbedding(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := search.New(k.store, k.store, canceller{cancel: cancel}).Search(ctx, ask("who mends roofs", green))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
