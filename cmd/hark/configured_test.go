package main

import (
	"fmt"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/internal/tokens"
	"hark/memory"
)

// A window that is too small gives a warning and shorter prompts.
func TestWindowIsToldAndObeyed(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("It is so.") })
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "llama3",
		"HARK_LLM_BASE_URL": model.URL(), "HARK_LLM_WINDOW": "2048", "HARK_MEMORY_SUMMARIES": "extract"}}
	for i := range 60 {
		c.stdin += fmt.Sprintf("Jane: the zebra of day %d is %s\n", i, strings.Repeat("here and there ", 20))
	}
	c.stdin += "Ana: @hark where is the zebra?\n"
	c.run(0, "chat", "--data", data)
	golden.Seen(t, c.err.String())
	if n := tokens.For("llama3").Count(model.Requests()[0].Prompt()); n > 1366 || n < 683 {
		t.Errorf("a prompt of %d tokens", n)
	}

	w := newWorld(t)
	w.env["HARK_LLM_WINDOW"] = "4500"
	w.start()
	w.holds(w.log.String(), `"level":"warn","window":4500,"prompt":3500,"answer":1000`)
	w.env["HARK_LLM_WINDOW"] = "60"
	w.stop()
	_, told := w.hark(1, "run")
	lines := strings.Split(strings.TrimSpace(told), "\n")
	w.sees(lines[len(lines)-1])
}

func TestHealthOfAnEmbedderThatIsStoodInFor(t *testing.T) {
	t.Parallel()
	a := &setup.App{Embedder: embed.Builtin{}}
	if s := embedderHealth(a); !s.BuiltIn || s.Failed != nil || s.Name == "" {
		t.Errorf("the built-in one: %+v", s)
	}
	c := config.Default()
	c.Data = t.TempDir()
	c.Embedding.Model = "nomic-embed-text"
	c.Embedding.BaseURL = nobody
	absent, err := setup.Open(t.Context(), c, nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer absent.Close()
	if s := embedderHealth(absent); s.BuiltIn || s.Failed != absent.StandIn() || s.Name != "nomic-embed-text" {
		t.Errorf("one that is awaited: %+v", s)
	}
	a.Embedder = embed.NewBreaker(embed.Builtin{})
	if _, err := a.Embedder.Embed(t.Context(), memory.ForSearch, []string{"hello"}); err != nil {
		t.Fatal(err)
	}
	if s := embedderHealth(a); s.At.IsZero() || s.BuiltIn {
		t.Errorf("one that was asked: %+v", s)
	}
}

// nobody is an address where nobody listens.
const nobody = "http://127.0.0.1:9/v1"

// Without the embedder, reindex makes words only; once it is back, vectors.
func TestReindexWithoutTheEmbedder(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": data, "HARK_EMBEDDING_MODEL": "test-embedder",
		"HARK_EMBEDDING_BASE_URL": model.URL()}}
	c.run(0, "import", writeFile(t, posted("a", "1", "Ana", "the zebra is here")))
	c.env["HARK_EMBEDDING_BASE_URL"] = nobody
	c.run(1, "reindex")
	c.sees()
	c.run(0, "search", "zebra")
	c.sees()
	c.env["HARK_EMBEDDING_BASE_URL"] = model.URL()
	asked := len(model.Requests())
	c.run(0, "reindex")
	c.sees()
	c.run(0, "reindex")
	c.sees()
	if n := len(model.Requests()) - asked; n != 2 {
		t.Errorf("the embedder was asked %d times", n)
	}
}
