package embed

import (
	"fmt"
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/memory"
)

// A model is known by whatever name a server has for it.
func TestPrefixesOf(t *testing.T) {
	t.Parallel()
	var told strings.Builder
	for _, model := range []string{
		"nomic-embed-text", "nomic-embed-text:latest", "nomic-ai/nomic-embed-text-v1.5", "NOMIC_EMBED_TEXT.gguf",
		"hf.co/nomic-ai/nomic-embed-text-v2-moe-GGUF:Q8_0", "text-embedding-nomic-embed-text-v1.5@q8_0",
		"/models/nomic-embed-text-v1.5.f16.gguf", `C:\models\nomic-embed-text-v1.5.Q4_K_M.gguf`,
		"qwen3-embedding:0.6b", "Qwen/Qwen3-Embedding-8B", "text-embedding-qwen3-embedding-0.6b",
		"Qwen3-Embedding-0.6B-f16.gguf", "embeddinggemma", "google/embeddinggemma-300m",
		"embeddinggemma-300M-Q8_0.gguf", "text-embedding-embeddinggemma-300m", "mxbai-embed-large",
		"mixedbread-ai/mxbai-embed-large-v1", "snowflake-arctic-embed:335m",
		"Snowflake/snowflake-arctic-embed-m-v1.5", "snowflake-arctic-embed-m-long", "snowflake-arctic-embed2:568m",
		"Snowflake/snowflake-arctic-embed-l-v2.0", "BAAI/bge-small-en-v1.5", "bge-large", "bge-base-en",
		"BAAI/bge-large-zh-v1.5", "bge-m3", "BAAI/bge-m3", "bge-m3:567m-fp16", "intfloat/e5-large-v2",
		"multilingual-e5-small", "e5", "intfloat/multilingual-e5-large-instruct", "e5-mistral-7b-instruct",
		"text-embedding-3-small", "openai/text-embedding-3-large", "text-embedding-ada-002", "all-minilm",
		"all-minilm:33m", "sentence-transformers/all-MiniLM-L6-v2", "", "model", "nomic", "bge-reranker-v2-m3",
		"bge-en-icl", "the5", "e50", "jina-embeddings-v3", "text-embedding-v4", "qwen3:8b",
	} {
		p, known := PrefixesOf(model)
		if !known {
			fmt.Fprintf(&told, "%s: unknown\n", model)
			continue
		}
		fmt.Fprintf(&told, "%s: %q, %q\n", model, p.Query, p.Document)
	}
	golden.Seen(t, told.String())
}

// Questions for vectors of texts that had another prefix are embedded as they were when those were made.
func TestEarlier(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	e := newTestEndpoint(t, s, func(c *EndpointConfig) { c.Prefixes = Prefixes{"query: ", "passage: "} })
	for _, tt := range []struct {
		space memory.Space
		want  string // what is sent; empty: it isn't one of the model's spaces
	}{
		{memory.Space{Name: "nomic", Dimensions: 64}, "hi"},
		{memory.Space{Name: `nomic "text: "`, Dimensions: 64}, "query: hi"},
		{memory.Space{Name: `nomic "text: "`, Dimensions: 64, Version: 1}, ""},
		{memory.Space{Name: `nomic text`, Dimensions: 64}, ""},
		{memory.Space{Name: "nomic-2", Dimensions: 64}, ""},
		{memory.Space{Name: "hark-hash", Dimensions: 64}, ""},
		{e.Space(), ""},
		{memory.Space{}, ""},
	} {
		earlier, ok := e.Earlier(tt.space)
		if ok != (tt.want != "") {
			t.Errorf("%v: %v", tt.space, ok)
		}
		if !ok {
			continue
		}
		if _, err := earlier.Embed(t.Context(), memory.ForSearch, []string{"hi"}); err != nil || earlier.Space() != tt.space {
			t.Errorf("%v has %v, %v", tt.space, earlier.Space(), err)
		}
		if requests := s.Requests(); requests[len(requests)-1].Input[0] != tt.want {
			t.Errorf("%v: asked for %q", tt.space, requests[len(requests)-1].Input)
		}
	}
}
