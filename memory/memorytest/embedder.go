package memorytest

import (
	"hark/internal/embed"
	"hark/internal/text"
)

// Embedder is deterministic and really ranks: texts that share words are near each other, and a text
// without words has no vector.
type Embedder = embed.Builtin

func embedText(s string) []float32 { return embedTerms(text.Terms(s)) }

func embedTerms(terms []string) []float32 {
	return Embedder{}.EmbedTerms(terms, func(string) float64 { return 1 })
}

// cosine returns the similarity of two vectors of length 1.
func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
