package search_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

var errDown = errors.New("down")

// embeds does as told with a text, in the space of the built-in embedder.
type embeds func(text string) ([][]float32, error)

func (embeds) Space() memory.Space { return embed.Builtin{}.Space() }

func (e embeds) Embed(_ context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	return e(texts[0])
}

func TestSearchWithoutVectors(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	fresh := newTalk(t) // nothing embedded yet
	only := fresh.say(t, dawn, green, marta, "who mends roofs is Hale")
	gives := func(err error, vectors ...[]float32) *search.Engine {
		return search.New(k.store, k.store, embeds(func(string) ([][]float32, error) { return vectors, err }))
	}
	for name, c := range map[string]struct {
		engine   *search.Engine
		best     memory.MessageID
		textOnly bool
	}{
		"embedder down":     {gives(errDown), ids["roof"], true},
		"no vector at all":  {gives(nil), ids["roof"], true},
		"nothing to embed":  {gives(nil, nil), ids["roof"], false},
		"nothing embedded":  {fresh.engine(), only, true},
		"as it should be":   {k.engine(), ids["roof"], false},
		"too many, somehow": {gives(nil, nil, nil), ids["roof"], true},
	} {
		r, err := c.engine.Search(t.Context(), ask("who mends roofs", green))
		if err != nil || len(r.Hits) == 0 || r.Hits[0].Message.ID != c.best || r.TextOnly != c.textOnly {
			t.Errorf("%s: %v, text only %v, %v", name, hitIDs(r), r.TextOnly, err)
		}
	}
}

// An endpoint embeds questions without knowing their terms; this one takes all for "roof".
func TestSearchByMeaningAlone(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	r, err := search.New(k.store, k.store, embeds(func(string) ([][]float32, error) {
		return embed.Builtin{}.Embed(t.Context(), memory.ForSearch, []string{"roof"})
	})).Search(t.Context(), ask("what about it?", green))
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

func TestLocalSearchesAskNobody(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	q := ask("who mends roofs", green)
	q.Local = true
	j := &judge{score: prefers("goat")}
	r, err := search.New(k.store, k.store, embeds(func(string) ([][]float32, error) {
		t.Error("a question went to a server")
		return nil, errDown
	})).WithReranker(j).Search(t.Context(), q)
	if err != nil || r.Hits[0].Message.ID != ids["roof"] || !r.TextOnly {
		t.Errorf("found %v, %v", hitIDs(r), err)
	}
	if len(j.queries) != 0 {
		t.Errorf("the reranker was asked %d times", len(j.queries))
	}
}

// A failing store gives one error and no hits.
func TestSearchTellsOfFailures(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.engine().Search(ctx, ask("who mends roofs", green)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := k.engine().Search(t.Context(), ask("who mends roofs", green))
	if err == nil || strings.Count(err.Error(), "search: ") != 1 || len(r.Hits) > 0 {
		t.Errorf("%v, %v", hitIDs(r), err)
	}
	if _, err := k.engine().Introduce(t.Context(), ask("Pim", green)); err == nil {
		t.Error("introduces from a store that is closed")
	}
}

// elsewhere embeds in a space of its own; it fails, or finds the same in every question.
type elsewhere struct{ err error }

func (elsewhere) Space() memory.Space { return memory.Space{Name: "elsewhere", Dimensions: 2} }

func (e elsewhere) Embed(_ context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = []float32{1, 1}
	}
	return vectors, e.err
}

// The embedder of the active space embeds a question: the built-in one until the endpoint's vectors are complete,
// then the endpoint. Without it the search uses only full text, and the result says so.
func TestSearchEmbedsInTheSpaceInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opened := func(space memory.Space) *sqlite.Store {
		s, err := sqlite.Open(t.Context(), dir, sqlite.Options{Space: space})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	first := opened(embed.Builtin{}.Space())
	k := &talk{store: first, all: map[memory.MessageID]memory.Message{}}
	said := k.say(t, dawn, green, marta, "Hale mends roofs")
	k.index(t)
	store := opened(elsewhere{}.Space())
	wantMeaning := func(what string, meaning bool, embedders ...memory.Embedder) {
		t.Helper()
		r, err := search.New(store, store, embedders...).Search(t.Context(), ask("who mends roofs", green))
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Message.ID != said || r.TextOnly == meaning {
			t.Errorf("%s: %v, text only %v, %v", what, hitIDs(r), r.TextOnly, err)
		}
	}
	wantMeaning("both are at hand while the vectors are made", true, elsewhere{}, embed.Builtin{})
	wantMeaning("the new one is down, but not asked", true, elsewhere{errDown}, embed.Builtin{})
	wantMeaning("only the new one is at hand", false, elsewhere{})
	wantMeaning("none is at hand", false)
	if err := (&memory.Indexer{Queue: store, Embedder: elsewhere{}}).Drain(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantMeaning("the vectors are complete", true, elsewhere{}, embed.Builtin{})
	wantMeaning("the new one is down", false, elsewhere{errDown}, embed.Builtin{})
	wantMeaning("only the old one is at hand", false, embed.Builtin{})
}

// spaceless is a store that can't tell its space.
type spaceless struct{ *sqlite.Store }

func (spaceless) Space(context.Context) (memory.Space, error) { return memory.Space{}, errDown }

func TestSearchTellsWhenTheSpaceIsUnknown(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	store := spaceless{k.store}
	if _, err := search.New(store, store, embed.Builtin{}).Search(t.Context(),
		ask("who mends roofs", green)); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
}
