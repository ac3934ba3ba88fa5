// Package embed turns texts into vectors: with the built-in embedder, or by asking a server.
package embed

import (
	"context"
	"math"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// BuiltinDimensions is how many numbers a vector of the built-in embedder has.
const BuiltinDimensions = 384

// Builtin embeds without a model: it hashes words, pairs and pieces of words into a vector, the rarer the heavier.
// It knows no synonyms, but forgives inflection and misspelling. The same text always gives the same vector.
type Builtin struct{}

// Space implements memory.Embedder. The version grows when a text's vector changes.
func (Builtin) Space() memory.Space {
	return memory.Space{
		Name:       "hark-hash",
		Version:    text.Version<<8 | 1,
		Dimensions: BuiltinDimensions,
	}
}

// Embed implements memory.Embedder. It fails only when ctx is done.
func (Builtin) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var batch text.Batch
	for i, s := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = hashed(batch.Terms(s), rarity)
	}
	return vectors, nil
}

// EmbedTerms returns the vector of a question's terms, each weighed by its inverse document frequency; nil if there
// are none. Stored texts can't be weighed by counts that change daily, and needn't: in a product, one side's
// weight is enough (Salton's scheme lnc.ltc).
func (Builtin) EmbedTerms(terms []string, idf func(term string) float64) []float32 {
	return hashed(terms, func(term string) float64 { return rarity(term) * idf(term) })
}

// The weights of the kinds of features. Pieces are many, so each says little.
const (
	termWeight  = 1.0
	pairWeight  = 0.4
	pieceWeight = 0.35
	pieceLength = 4 // bytes; terms are mostly ASCII, and others are hardly longer than a piece
)

// hashed returns the vector of a text's terms; nil if there are none. Each feature has a dimension and a sign, so
// collisions cancel out on average.
func hashed(terms []string, weigh func(term string) float64) []float32 {
	if len(terms) == 0 {
		return nil
	}
	var sums [BuiltinDimensions]float64
	add := func(feature uint64, weight float64) {
		if feature>>63 == 1 {
			weight = -weight
		}
		sums[feature%BuiltinDimensions] += weight
	}
	previous := uint64(0)
	for i, term := range terms {
		weight := weigh(term)
		whole := hash(term)
		add(mix(whole), termWeight*weight)
		if i > 0 {
			add(mix(previous*31+whole), pairWeight*weight)
		}
		previous = whole
		padded := "^" + term + "$"
		piece := pieceWeight * weight / math.Sqrt(float64(len(padded)))
		for at := 0; at+pieceLength <= len(padded); at++ {
			add(mix(hash(padded[at:at+pieceLength])+1), piece)
		}
	}
	return normalised(&sums)
}

// rarity guesses a term's inverse document frequency: long words and numbers are rare.
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

// hash is FNV-1a.
func hash(s string) uint64 {
	sum := uint64(14695981039346656037)
	for i := range len(s) {
		sum = (sum ^ uint64(s[i])) * 1099511628211
	}
	return sum
}

// mix spreads what distinguishes two hashes over all bits (the finisher of MurmurHash3).
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// normalised returns sums with the length 1; nil if they are all zero.
func normalised(sums *[BuiltinDimensions]float64) []float32 {
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
