package memorytest

import (
	"context"
	"hash/fnv"
	"math"

	"hark/internal/text"
	"hark/memory"
)

// dimensions of the embedder's vectors.
const dimensions = 64

// Embedder is a deterministic toy that really ranks: texts that share index terms are near each other, those
// that share none are about orthogonal. A text without terms has no vector.
type Embedder struct{}

// Space implements memory.Embedder.
func (Embedder) Space() memory.Space {
	return memory.Space{Name: "memorytest", Version: 1, Dimensions: dimensions}
}

// Embed implements memory.Embedder. It fails only when ctx is done.
func (Embedder) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, s := range texts {
		vectors[i] = embed(s)
	}
	return vectors, ctx.Err()
}

func embed(s string) []float32 { return embedTerms(text.Terms(s)) }

// embedTerms spreads each term over four dimensions that its hash chooses.
func embedTerms(terms []string) []float32 {
	var sum [dimensions]float64
	for _, term := range terms {
		h := fnv.New64a()
		h.Write([]byte(term))
		for bits, n := h.Sum64(), 0; n < 4; n++ {
			sign := 1.0
			if bits&64 != 0 {
				sign = -1
			}
			sum[bits%dimensions] += sign
			bits = (bits >> 8) * 0x9E3779B97F4A7C15
		}
	}
	var length float64
	for _, x := range sum {
		length += x * x
	}
	if length == 0 {
		return nil
	}
	vector := make([]float32, dimensions)
	for i, x := range sum {
		vector[i] = float32(x / math.Sqrt(length))
	}
	return vector
}

// embedSegment is the vector of a segment's texts.
func embedSegment(messages []memory.Message) []float32 {
	var all string
	for _, m := range messages {
		all += m.Text() + "\n"
	}
	return embed(all)
}

// cosine is the similarity of two vectors of length 1.
func cosine(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
