package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hark/internal/chat"
)

// A model that writes more than this has run wild.
const (
	maxCalls     = 32
	maxArguments = 64 << 10 // bytes of one call
	maxName      = 256      // bytes of a tool's name, or of a call's id
)

var errManyCalls = fmt.Errorf("%w, but calls of tools without end", errBadEvent)

// piece is a part of a tool's call, or all of it, as a server streams it. Servers leave out what they like:
// Ollama gives all calls the index 0, or none, and each whole; OpenAI and llama.cpp give index, id and name
// first and only the index later; vLLM may repeat id and name, or leave the id out, or make up another for
// each piece; LiteLLM and others give neither ids nor indexes.
type piece struct {
	Index    *int
	ID       label
	Function struct {
		Name      label
		Arguments arguments
	}
}

// label is a text; anything else is as good as none.
type label string

func (l *label) UnmarshalJSON(data []byte) error {
	_ = json.Unmarshal(data, (*string)(l))
	return nil
}

// arguments are a text, or an object that some write instead.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(a)) == nil {
		return nil
	}
	var b bytes.Buffer
	_ = json.Compact(&b, data) // it was decoded before
	*a = arguments(b.String())
	return nil
}

// calls are assembled from their pieces.
type calls []*building

// building is a call that may not be whole yet.
type building struct {
	index     int // -1: the server gives none
	id, name  string
	arguments strings.Builder
}

// add takes a piece.
func (c *calls) add(p piece) error {
	if len(p.ID) > maxName || len(p.Function.Name) > maxName {
		return errManyCalls
	}
	b := c.belongs(p)
	if b == nil {
		if len(*c) == maxCalls {
			return errManyCalls
		}
		b = &building{index: -1}
		if p.Index != nil {
			b.index = *p.Index
		}
		*c = append(*c, b)
	}
	if b.id == "" {
		b.id = string(p.ID)
	}
	if b.name == "" {
		b.name = string(p.Function.Name)
	}
	if b.arguments.Len()+len(p.Function.Arguments) > maxArguments {
		return errManyCalls
	}
	b.arguments.WriteString(string(p.Function.Arguments))
	return nil
}

// belongs returns the call that a piece belongs to; nil if it begins one.
func (c calls) belongs(p piece) *building {
	b := c.candidate(p)
	name := string(p.Function.Name)
	switch {
	case b == nil:
		return nil
	case name == "", b.name == "":
		return b
	case p.ID != "" && b.id != "" && string(p.ID) != b.id, name != b.name:
		return nil
	case b.whole() && strings.TrimSpace(string(p.Function.Arguments)) != "":
		return nil // another call of the same tool
	}
	return b
}

// candidate returns the call that a piece may belong to, by its id, else by its index, else the last.
func (c calls) candidate(p piece) (last *building) {
	for _, b := range slices.Backward(c) {
		if p.Index != nil && b.index != *p.Index {
			continue
		}
		if p.ID != "" && b.id == string(p.ID) {
			return b
		}
		if last == nil {
			last = b
		}
	}
	return last
}

func (b *building) whole() bool { return isObject(b.arguments.String()) }

// end returns the calls once the answer has ended well, unless one has no name. If the answer ended because it was
// long enough, a call that isn't whole is left out.
func (c calls) end(finish string) (all []chat.Call, ok bool) {
	seen := map[string]bool{"": true}
	for _, b := range c {
		if finish == "length" && !b.whole() {
			continue
		}
		if b.name == "" {
			return nil, false
		}
		call := chat.Call{ID: b.id, Name: b.name, Arguments: b.arguments.String()}
		// OpenAI takes back ids of at most 40 characters, and may be asked after other models' calls.
		if seen[call.ID] || len(call.ID) > 40 {
			call.ID = newID()
		}
		seen[call.ID] = true
		all = append(all, call)
	}
	return all, true
}

// newID returns an id as Mistral's templates want it: nine letters or digits.
func newID() string { return strings.ToLower(rand.Text()[:9]) }
