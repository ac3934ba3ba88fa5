package llamatest

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"
)

const embedded = 64 // numbers of an embedding

// Embedder writes a model for embeddings to a file of its own and returns the path. Texts with the same words have
// similar vectors.
func Embedder(tb testing.TB) string {
	tb.Helper()
	s := shape{arch: "llama", width: embedded}
	words := newVocabulary()
	g := s.begin("embedder", words)
	in := g.tensor("token_embd.weight", s.width, len(words.tokens))
	g.tensor("output.weight", s.width, len(words.tokens))
	for i, token := range words.tokens {
		scatter(in.row(i), token)
	}
	return write(tb, g)
}

// scatter fills a vector with numbers that only a token has.
func scatter(row []float32, token string) {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(token))
	random := rand.New(rand.NewPCG(seed.Sum64(), 0))
	for i := range row {
		row[i] = float32(random.NormFloat64())
	}
}

// Reranker writes a model for reranking to a file of its own and returns the path. It prefers texts that end in an
// exclamation mark.
func Reranker(tb testing.TB) string {
	tb.Helper()
	s := shape{arch: "qwen3", width: embedded}
	words := newVocabulary()
	g := s.begin("reranker", words)
	g.number(s.arch+".pooling_type", 4)
	g.strings(s.arch+".classifier.output_labels", []string{"yes", "no"})
	g.string("tokenizer.chat_template.rerank", "{query}\n{document}")
	in := g.tensor("token_embd.weight", s.width, len(words.tokens))
	g.tensor("output.weight", s.width, len(words.tokens))
	answers := g.tensor("cls.output.weight", s.width, 2)
	for i := range words.tokens {
		in.row(i)[0] = 1
	}
	liked := in.row(words.ids["!"])
	liked[0] = 0
	liked[1] = 1
	answers.row(0)[1] = 1
	answers.row(1)[0] = 1
	return write(tb, g)
}
