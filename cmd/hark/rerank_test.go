package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"hark/internal/golden"
	"hark/internal/llmtest"
)

// reranking is a fake rerank server in the form of llama.cpp, Jina and Cohere, which prefers texts with a word.
type reranking struct {
	url  string
	mu   sync.Mutex
	read []string
	ill  bool
}

func newReranking(t *testing.T, word string) *reranking {
	r := &reranking{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var asked struct {
			Query     string
			Documents []string
		}
		if err := json.NewDecoder(request.Body).Decode(&asked); err != nil || asked.Query == "" {
			t.Errorf("asked %q, %v", asked.Query, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.read = append(r.read, asked.Documents...)
		if r.ill {
			http.Error(w, strings.Join(asked.Documents, " "), http.StatusBadGateway)
			return
		}
		var results []string
		for i, d := range asked.Documents {
			results = append(results, fmt.Sprintf(`{"index":%d,"relevance_score":%d}`, i, strings.Count(d, word)))
		}
		fmt.Fprintf(w, `{"results":[%s]}`, strings.Join(results, ","))
	}))
	t.Cleanup(s.Close)
	r.url = s.URL + "/rerank"
	return r
}

func (r *reranking) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ill = true
}

func TestCommandsRerank(t *testing.T) {
	t.Parallel()
	r := newReranking(t, "stripes")
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": t.TempDir()}}
	var said strings.Builder
	for i, text := range []string{"the zebra is here", "the zebra has stripes", "the zebra and the zebra"} {
		fmt.Fprintf(&said, `{"type":"message","channel":"a","id":"%d","author":"Ana","time":"2024-05-31T%d:00:00Z","text":%q}`+"\n", i, 2+8*i, text)
	}
	set := writeFile(t, said.String()+
		`{"type":"question","channel":"a","id":"q","text":"where is the zebra?","time":"2024-06-01T12:00:00Z","evidence":["1"]}`)
	c.run(0, "import", set)
	c.run(0, "search", "--limit", "1", "where is the zebra?")
	if strings.Contains(c.out.String(), "stripes") {
		t.Error(c.out.String())
	}

	c.env["HARK_SEARCH_RERANK_URL"] = r.url
	c.run(0, "search", "--limit", "1", "where is the zebra?")
	c.sees()
	c.run(0, "context", "where is the zebra?")
	if at := strings.Index(c.out.String(), "stripes"); at < 0 || at > strings.Index(c.out.String(), "is here") {
		t.Errorf("the context is\n%s", c.out.String())
	}
	c.run(0, "eval", set)
	before := len(r.read)
	if before < 9 || !strings.HasPrefix(r.read[0], "Ana: the zebra") {
		t.Errorf("it read %q", r.read)
	}

	r.fail()
	c.run(0, "search", "--limit", "1", "where is the zebra?")
	c.sees()
	if strings.Contains(c.out.String(), "stripes") {
		t.Error(c.out.String())
	}
	c.run(0, "eval", set)
	golden.Seen(t, steady(c.err.String()))
	c.stdin = "Ana: @hark where is the zebra?\n"
	c.run(0, "chat")
	c.sees()
}

// A model that isn't configured can be measured, with the configured key.
func TestEvalOfAnotherEmbedder(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, llmtest.Key("e-key"))
	c := &commandLine{T: t, env: map[string]string{"HARK_EMBEDDING_API_KEY": "e-key", "HARK_DATA": t.TempDir()}}
	set := writeFile(t, posted("a", "1", "Ana", "the zebra is here")+`{"type":"question","channel":"a","id":"q","text":"where is the zebra?","time":"2024-06-01T12:00:00Z","evidence":["1"]}
`)
	for _, args := range [][]string{{}, {"--compare"}} {
		before := len(model.Requests())
		c.run(0, append([]string{"eval", "--embedding", "nomic", "--embedding-url", model.URL(), set}, args...)...)
		c.says("100.0")
		asked := model.Requests()[before:]
		if len(asked) < 3 || asked[0].Model != "nomic" || asked[len(asked)-1].Input[0] != "where is the zebra?" {
			t.Errorf("%q: the model was asked %v", args, asked)
		}
	}
	model.QueueEmbeddings(llmtest.None, llmtest.None, llmtest.HTMLPage)
	c.run(0, "eval", "--embedding", "nomic", "--embedding-url", model.URL(), set)
	golden.Seen(t, steady(c.err.String()))
	c.run(1, "eval", "--embedding", "nomic", "--embedding-url", nobody, set)
	golden.Seen(t, steady(c.err.String()))
}
