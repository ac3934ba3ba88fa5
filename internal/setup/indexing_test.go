package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/config"
	"hark/internal/embed"
	"hark/internal/llmtest"
	"hark/internal/metrics/metricstest"
	"hark/internal/store"
	"hark/memory"
)

// indexesUntil runs Indexing with an indexer until the configured embedder has embedded all that is stored. standing is
// called while another stands in for it.
func indexesUntil(t *testing.T, a *App, standing func(memory.Embedder)) {
	t.Helper()
	a.awaited.pause = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var called []memory.Embedder
	err := a.Indexing(ctx, func(within context.Context, e memory.Embedder) error {
		called = append(called, e)
		indexer := memory.Indexer{Queue: a.Store, Embedder: e}
		if e != a.Embedder {
			standing(e)
			<-within.Done() // the configured one can be used
			return nil
		}
		return indexer.Drain(ctx, nil)
	})
	if err != nil || len(called) != 2 || called[1] != a.Embedder {
		t.Fatalf("embedded by %v, %v", called, err)
	}
	if a.StandIn() != nil {
		t.Errorf("it still says %v", a.StandIn())
	}
}

// An embedder that is loading at the start is tried again, and takes over from what stands in for it. No message is
// lost, and no vector of one lies among those of the other.
func TestAnEmbedderThatIsLoadingAtTheStart(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	loading := []llmtest.Fault{llmtest.Dropped, llmtest.HTMLPage, llmtest.Dropped}
	model := memory.Space{Name: "model", Dimensions: 64}

	t.Run("with nothing stored", func(t *testing.T) {
		server.QueueEmbeddings(loading...)
		a := opens(t, t.TempDir(), "model", server.URL())
		says(t, a, "the ferry leaves at noon")
		indexesUntil(t, a, func(standIn memory.Embedder) {
			indexes(t, a)
			lies(t, a, builtin, none, 0)
			recalls(t, a, 1, true)
			says(t, a, "the ferry was late once again")
		})
		lies(t, a, model, none, 0)
		recalls(t, a, 2, true)
		says(t, a, "no ferry runs on Sundays, they say")
		indexes(t, a) // as the inspection page does
		lies(t, a, model, none, 0)
		recalls(t, a, 3, true)
	})
	t.Run("with vectors of another model", func(t *testing.T) {
		dir := t.TempDir()
		a := opens(t, dir, "another", server.URL())
		says(t, a, "the ferry leaves at noon")
		indexes(t, a)
		a.Close()
		server.QueueEmbeddings(loading...)
		a = opens(t, dir, "model", server.URL())
		another := memory.Space{Name: "another", Dimensions: 64}
		indexesUntil(t, a, func(standIn memory.Embedder) {
			says(t, a, "the ferry was late once again")
			lies(t, a, another, none, 1)
			recalls(t, a, 2, false)
		})
		lies(t, a, model, none, 0)
		recalls(t, a, 2, true)
	})
}

// Indexing that ends before the embedder can be used leaves all as it is, and can begin again.
func TestIndexingEndsWhileAnEmbedderIsAwaited(t *testing.T) {
	t.Parallel()
	a := opens(t, t.TempDir(), "model", nobody)
	a.awaited.pause = time.Millisecond
	says(t, a, "the ferry leaves at noon")
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		err := a.Indexing(ctx, func(_ context.Context, e memory.Embedder) error {
			if e != (embed.Builtin{}) {
				t.Errorf("%T stands in", e)
			}
			cancel()
			return nil
		})
		if err != nil || a.StandIn() == nil {
			t.Errorf("%v, %v", err, a.StandIn())
		}
	}
	lies(t, a, builtin, none, 1)
}

// A memory whose texts were embedded without the prefix that the model wants is embedded anew. Until that is done,
// questions are embedded without one, too: so they are found by meaning all the time.
func TestPrefixesOfAModelAreApplied(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), llmtest.New(t)
	opens := func(without *string, address string) *App {
		c := config.Default()
		c.Data = dir
		c.Embedding.Model = "nomic-embed-text:latest"
		c.Embedding.BaseURL = address
		c.Embedding.QueryPrefix = without
		c.Embedding.DocumentPrefix = without
		a, err := Open(t.Context(), c, nil, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a
	}
	asked := func(want ...string) {
		t.Helper()
		var got []string
		for _, r := range server.Requests() {
			got = append(got, r.Input...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("embedded %q, want %q", got, want)
		}
	}
	a := opens(new(""), server.URL())
	says(t, a, "the ferry leaves at noon")
	indexes(t, a)
	recalls(t, a, 1, true)
	bare := memory.Space{Name: "nomic-embed-text:latest", Dimensions: 64}
	lies(t, a, bare, none, 0)
	all := []string{"hello", "the ferry leaves at noon", "which ferry?"}
	asked(all...)
	a.Close()

	a = opens(nil, nobody) // the dimensions are known
	if a.StandIn() != nil {
		t.Errorf("it says %v", a.StandIn())
	}
	a.Close()
	a = opens(nil, server.URL())
	prefixed := memory.Space{Name: `nomic-embed-text:latest "search_document: "`, Dimensions: 64}
	lies(t, a, bare, prefixed, 1)
	recalls(t, a, 1, true)
	all = append(all, "which ferry?")
	asked(all...)
	indexes(t, a)
	lies(t, a, prefixed, none, 0)
	recalls(t, a, 1, true)
	asked(append(all, "search_document: the ferry leaves at noon", "search_query: which ferry?")...)
}

// Texts of which only the beginning is embedded are counted, and told of once.
func TestShortenedTextsAreCounted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&request)
		var data []string
		for _, text := range request.Input {
			if len(strings.Fields(text)) > 100 {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"error":{"message":"the input is too long"}}`)
				return
			}
			data = append(data, `{"embedding":[1,1]}`)
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(server.Close)
	a := opens(t, t.TempDir(), "model", server.URL)
	told := 0
	a.Shortened = func(tokens int) {
		told++
		if tokens < 50 || tokens > 200 {
			t.Errorf("it takes %d tokens", tokens)
		}
	}
	for n := range 3 {
		says(t, a, strings.Repeat("the ferry is late again ", 40+n))
	}
	says(t, a, "the ferry leaves at noon")
	indexes(t, a)
	counted := metricstest.Counted(t, a.Metrics)["hark_embedding_shortened_total"]
	if counted != 3 || told != 1 {
		t.Errorf("%d texts were counted, and told of %d times", counted, told)
	}
}
