package search_test

import (
	"context"
	"errors"
	"testing"

	"hark/internal/embed"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

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

// A question is embedded by the embedder of the space in use: by the built-in one until the endpoint's vectors are
// complete, by the endpoint from then on. Without its embedder full text finds alone, and the result says so.
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
