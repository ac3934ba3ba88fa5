package llmtest

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"unicode"
)

// Fault is what is wrong with the answer to an embedding call.
type Fault int

const (
	None           Fault = iota
	TooFew               // the last vector is missing
	TooMany              // the last vector comes twice
	WrongDimension       // each vector has one number too many
	NullNumber           // a number is null, as NaN is written by some
	HugeNumber           // a number is 1e999
	ZeroVector           // the first vector is all zeros
	Shuffled             // the vectors come last first; their indexes are right
	SameIndex            // the last vector has the index of the first
	NoData               // {} with status 200
	HTMLPage             // a page, with status 200
	Overloaded           // 503 with Retry-After
	Limited              // 429 with Retry-After
	Dropped              // the connection is reset
	Held                 // no answer until the client gives up or the test ends
)

type embedding struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding []any  `json:"embedding"`
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	req, ok := s.accept(w, r)
	if !ok {
		return
	}
	var data []embedding
	for i, text := range req.Input {
		e := embedding{Object: "embedding", Index: i}
		for _, x := range vector(text, cmp.Or(req.Dimensions, s.dimensions)) {
			e.Embedding = append(e.Embedding, x)
		}
		data = append(data, e)
	}
	last := &data[len(data)-1]
	switch s.nextFault() {
	case TooFew:
		data = data[:last.Index]
	case TooMany:
		data = append(data, embedding{last.Object, last.Index + 1, last.Embedding})
	case WrongDimension:
		for i := range data {
			data[i].Embedding = append(data[i].Embedding, 0.5)
		}
	case NullNumber:
		last.Embedding[0] = nil
	case HugeNumber:
		last.Embedding[0] = json.Number("1e999")
	case ZeroVector:
		for i := range data[0].Embedding {
			data[0].Embedding[i] = 0
		}
	case Shuffled:
		slices.Reverse(data)
	case SameIndex:
		last.Index = 0
	case NoData:
		writeJSON(w, http.StatusOK, struct{}{})
		return
	case HTMLPage:
		Page(http.StatusOK).write(w)
		return
	case Overloaded:
		w.Header().Set("Retry-After", "7")
		writeError(w, http.StatusServiceUnavailable, "overloaded", "try again, "+req.Input[0])
		return
	case Limited:
		w.Header().Set("Retry-After", "7")
		writeError(w, http.StatusTooManyRequests, "overloaded", "try again, "+req.Input[0])
		return
	case Dropped:
		reset(w)
		return
	case Held:
		s.wait(r, make(chan struct{}))
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data, "model": req.Model,
		"usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}

func (s *Server) nextFault() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 {
		return None
	}
	fault := s.faults[0]
	s.faults = s.faults[1:]
	return fault
}

// vector returns the embedding of text: hashed words and their beginnings, so that texts sharing words point
// the same way. It isn't of length 1, as those of many servers aren't, and never zero.
func vector(text string, dimensions int) []float64 {
	v := make([]float64, dimensions)
	v[0] = 0.01
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	for _, word := range words {
		add(v, word, 2)
		if runes := []rune(word); len(runes) > 4 {
			add(v, string(runes[:4]), 1)
		}
	}
	return v
}

func add(v []float64, feature string, weight float64) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	sum := h.Sum64()
	sum ^= sum >> 29
	if sum>>63 == 1 {
		weight = -weight
	}
	v[sum%uint64(len(v))] += weight
}
