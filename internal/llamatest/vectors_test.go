package llamatest_test

import (
	"strings"
	"testing"

	"hark/internal/embed"
	"hark/internal/llamatest"
	"hark/internal/rerank"
	"hark/memory"
)

func embedder(t *testing.T, s *llamatest.Server) *embed.Endpoint {
	t.Helper()
	e, err := embed.NewEndpoint(embed.EndpointConfig{BaseURL: s.URL(), Model: "embedder", Known: 64})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func likeness(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestLlamaEmbeddings(t *testing.T) {
	t.Parallel()
	s := llamatest.Start(t, llamatest.Embedder(t), "--embeddings", "--pooling", "mean", "-np", "1", "-c", "2048")
	texts := []string{question, "the deadline of the harbour report is Friday", "", "cats sleep all day"}
	vectors, err := embedder(t, s).Embed(t.Context(), memory.ForStorage, texts)
	if err != nil || len(vectors) != 4 || vectors[2] != nil {
		t.Fatalf("got %d vectors, %v", len(vectors), err)
	}
	near := likeness(vectors[0], vectors[1])
	far := likeness(vectors[0], vectors[3])
	if near < far+0.1 {
		t.Errorf("%.2f for the same words, %.2f for others", near, far)
	}
}

// The server refuses texts that are longer than its batch. Each text gets a vector all the same, of as much as it
// takes; and what it takes is known afterwards, so that it refuses nothing more.
func TestLlamaEmbeddingsOfLongTexts(t *testing.T) {
	t.Parallel()
	s := llamatest.Start(t, llamatest.Embedder(t), "--embeddings", "--pooling", "mean", "-np", "1", "-c", "2048",
		"-ub", "512")
	e := embedder(t, s)
	texts := []string{question, strings.Repeat(question+" ", 200), "cats sleep all day"}
	vectors, err := e.Embed(t.Context(), memory.ForStorage, texts)
	if err != nil || len(vectors) != 3 {
		t.Fatalf("got %d vectors, %v", len(vectors), err)
	}
	near := likeness(vectors[0], vectors[1])
	far := likeness(vectors[0], vectors[2])
	if near < far+0.1 {
		t.Errorf("%.2f for the same words, %.2f for others", near, far)
	}
	before := len(s.Requests())
	_, err = e.Embed(t.Context(), memory.ForStorage, texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Requests()[before:] {
		if r.Status != 200 {
			t.Errorf("the limit was forgotten: %d", r.Status)
		}
	}
	if n := len(s.Requests()) - before; n > 2 {
		t.Errorf("three texts took %d requests", n)
	}
}

// A server that wasn't started for embeddings or ranks refuses them. The error says which switch it lacks.
func TestLlamaWithoutEmbeddingsAndRanks(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, "chatml", []llamatest.Script{answers}, "-np", "1", "-c", "2048")
	_, err := embedder(t, s).Embed(t.Context(), memory.ForStorage, []string{question})
	if err == nil || !strings.Contains(err.Error(), "--embeddings") {
		t.Errorf("got %v", err)
	}
	ranker, err := rerank.New(rerank.Config{URL: s.URL() + "/rerank"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ranker.Rerank(t.Context(), question, []string{"no"})
	if err == nil || !strings.Contains(err.Error(), "--reranking") {
		t.Errorf("got %v", err)
	}
}

func TestLlamaReranking(t *testing.T) {
	t.Parallel()
	s := llamatest.Start(t, llamatest.Reranker(t), "--reranking", "-np", "1", "-c", "2048")
	ranker, err := rerank.New(rerank.Config{URL: s.URL() + "/rerank"})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := ranker.Rerank(t.Context(), question, []string{"I don't know", "on Friday!", "cats sleep all day"})
	if err != nil || len(scores) != 3 || scores[1] < scores[0]+0.5 || scores[1] < scores[2]+0.5 {
		t.Errorf("got %v, %v", scores, err)
	}
}
