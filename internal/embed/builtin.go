// Package embed turns texts into vectors: with nothing but arithmetic, or by asking an endpoint.
package embed

import (
	"context"
	"math"
	"slices"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// BuiltinDimensions is how many numbers a vector of the built-in embedder has.
const BuiltinDimensions = 384

// Builtin embeds without a model: it hashes words, pairs of words and pieces of words into a vector, the rarer
// the heavier. It knows no synonyms, but forgives inflection and misspelling, needs nothing, and always gives
// the same vector for the same text.
type Builtin struct{}

// Space implements memory.Embedder. The version grows when a text's vector changes.
func (Builtin) Space() memory.Space {
	return memory.Space{Name: "hark-hash", Version: text.Version<<8 | 1, Dimensions: BuiltinDimensions}
}

// Embed implements memory.Embedder. It fails only when ctx is done.
func (Builtin) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var batch text.Batch
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = hashed(batch.Terms(s))
	}
	return vectors, nil
}

// The weights of the kinds of features. Pieces are many, so each says little.
const (
	termWeight  = 1.0
	pairWeight  = 0.4
	pieceWeight = 0.35
	pieceLength = 4 // bytes; terms are mostly ASCII, and others are hardly longer than a piece
)

// hashed is the vector of a text's terms; nil if there are none.
func hashed(terms []string) []float32 {
	if len(terms) == 0 {
		return nil
	}
	counts := make(map[uint64]float64, 8*len(terms))
	for i, term := range terms {
		weight := rarity(term)
		counts[feature("t", term)] += termWeight * weight
		if i > 0 {
			counts[feature("p", terms[i-1], term)] += pairWeight * weight
		}
		padded := "^" + term + "$"
		for at := 0; at+pieceLength <= len(padded); at++ {
			counts[feature("c", padded[at:at+pieceLength])] += pieceWeight * weight / math.Sqrt(float64(len(padded)))
		}
	}
	return fold(counts)
}

// rarity stands for a term's inverse document frequency, which can't be counted: the vectors of yesterday
// must compare with those of tomorrow. Long words are rarer than short ones, and so are numbers.
func rarity(term string) float64 {
	if c, _ := utf8.DecodeRuneInString(term); c >= '0' && c <= '9' {
		return 1.2
	}
	if common[term] {
		return 0.4
	}
	return min(1.5, 0.7+0.1*float64(utf8.RuneCountInString(term)))
}

// common are the terms of frequent words of chat that aren't stop words.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, term := range text.Terms(`get go like good great really thing think know want need time make see look
		day one two new say tell come take thank yeah yes hey hi hello lot much many way well work people love
		feel nice cool sure also still back even right got let ok okay oh wow haha lol sorry please use try keep
		start find give help talk hope maybe actually pretty bit little always never everything something anything`) {
		set[term] = true
	}
	return set
}()

// feature is the FNV-1a hash of a feature's kind and parts.
func feature(parts ...string) uint64 {
	sum := uint64(14695981039346656037)
	for _, p := range parts {
		for i := range len(p) {
			sum = (sum ^ uint64(p[i])) * 1099511628211
		}
		sum *= 1099511628211 // the end of a part, as a zero byte
	}
	return sum ^ sum>>29
}

// fold adds features up in their dimensions, each with a sign of its own so that collisions cancel out on
// average, dampens repetition, and makes the length 1. The sum of floats depends on their order, so it has one.
func fold(counts map[uint64]float64) []float32 {
	features := make([]uint64, 0, len(counts))
	for f := range counts {
		features = append(features, f)
	}
	slices.Sort(features)
	sums := make([]float64, BuiltinDimensions)
	for _, f := range features {
		weight := math.Sqrt(counts[f])
		if f>>63 == 1 {
			weight = -weight
		}
		sums[f%BuiltinDimensions] += weight
	}
	var length float64
	for _, x := range sums {
		length += x * x
	}
	if length == 0 {
		return nil
	}
	vector := make([]float32, BuiltinDimensions)
	for i, x := range sums {
		vector[i] = float32(x / math.Sqrt(length))
	}
	return vector
}
