package llmtest

import (
	"fmt"
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
	SameIndex            // all vectors have the index 0
	NoData               // {} with status 200
	HTMLPage             // a page, with status 200
	Overloaded           // 503 with Retry-After
	Limited              // 429 with Retry-After
	Dropped              // the connection is reset
	Held                 // no answer until the client gives up or the test ends
)

type embedding struct {
	index  int
	vector []string // numbers as JSON
}

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	req, ok := s.accept(w, r)
	if !ok {
		return
	}
	fault := s.nextFault()
	switch fault {
	case NoData:
		writeJSON(w, http.StatusOK, struct{}{})
	case HTMLPage:
		page := Page(http.StatusOK)
		w.Header().Set("Content-Type", page.ContentType)
		fmt.Fprint(w, page.Body)
	case Overloaded, Limited:
		status := map[Fault]int{Overloaded: http.StatusServiceUnavailable, Limited: http.StatusTooManyRequests}[fault]
		w.Header().Set("Retry-After", "7")
		writeError(w, status, "overloaded", "try again, "+req.Input[0])
	case Dropped:
		reset(w)
	case Held:
		s.wait(r, make(chan struct{}))
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body(fault.spoil(s.embed(req)), req.Model))
	}
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

func (s *Server) embed(req Request) []embedding {
	found := make([]embedding, len(req.Input))
	for i, text := range req.Input {
		found[i].index = i
		for _, x := range Vector(text, orElse(req.Dimensions, s.dimensions)) {
			found[i].vector = append(found[i].vector, fmt.Sprint(x))
		}
	}
	return found
}

func (f Fault) spoil(e []embedding) []embedding {
	last := len(e) - 1
	switch f {
	case TooFew:
		return e[:last]
	case TooMany:
		return append(e, embedding{index: last + 1, vector: e[last].vector})
	case NullNumber:
		e[last].vector[0] = "null"
	case HugeNumber:
		e[last].vector[0] = "1e999"
	case Shuffled:
		slices.Reverse(e)
	}
	for i := range e {
		switch f {
		case WrongDimension:
			e[i].vector = append(e[i].vector, "0.5")
		case SameIndex:
			e[i].index = 0
		case ZeroVector:
			for k := range e[0].vector {
				e[0].vector[k] = "0"
			}
		}
	}
	return e
}

func body(all []embedding, model string) string {
	data := make([]string, len(all))
	for i, e := range all {
		data[i] = fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, e.index, strings.Join(e.vector, ","))
	}
	return fmt.Sprintf(`{"object":"list","data":[%s],"model":%s,"usage":{"prompt_tokens":1,"total_tokens":1}}`,
		strings.Join(data, ","), marshal(model))
}

// Vector is the embedding of text: hashed words and their beginnings, so that texts sharing words point the same
// way. It isn't of length 1, as those of many servers aren't, and never zero.
func Vector(text string, dimensions int) []float64 {
	v := make([]float64, dimensions)
	v[0] = 0.01
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
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
