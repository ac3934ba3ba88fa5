package stream

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hark/internal/chat"
	"hark/internal/llm/failure"
)

// A model that writes more than this has run wild.
const (
	maxCalls     = 32
	maxArguments = 64 << 10 // bytes of one call
	maxName      = 256      // bytes of a tool's name, or of a call's id
)

var errManyCalls = fmt.Errorf("%w, but calls of tools without end", ErrBadEvent)

// piece is a part of a tool's call, or all of it, as a server streams it. Servers leave out what they like:
// Ollama gives all calls the index 0, or none, and each whole; OpenAI and llama.cpp give index, id and name
// first and only the index later; vLLM may repeat id and name, or leave the id out, or make up another for
// each piece; LiteLLM and others give neither ids nor indexes; a few send the name in pieces.
type piece struct {
	index     int
	hasIndex  bool
	id        string
	name      string
	arguments string
	extra     chat.Extra
}

// piecesOf reads a list of pieces, or the one piece that some servers write instead.
func piecesOf(raw json.RawMessage) (pieces []piece) {
	list := listOf(raw)
	if list == nil && objectOf(raw) != nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		fields := objectOf(item)
		if len(fields) > 0 {
			pieces = append(pieces, pieceOf(fields))
		}
	}
	return pieces
}

// oldCall reads a call in the field that had it before there were lists of calls.
func oldCall(raw json.RawMessage) (pieces []piece) {
	function := objectOf(raw)
	if len(function) == 0 {
		return nil
	}
	return []piece{{hasIndex: true, name: textOf(function["name"]), arguments: argumentsOf(function["arguments"])}}
}

func pieceOf(fields map[string]json.RawMessage) (p piece) {
	p.index, p.hasIndex = numberOf(fields["index"])
	p.id = textOf(fields["id"])
	function := objectOf(fields["function"])
	p.name = textOf(function["name"])
	p.arguments = argumentsOf(function["arguments"])
	p.extra = unknown(fields, "index", "id", "type", "function")
	inner := unknown(function, "name", "arguments")
	if len(inner) > 0 {
		data, _ := json.Marshal(inner) // raw JSON always encodes
		p.extra = p.extra.With("function", data)
	}
	return p
}

// unknown returns the fields besides those that are known, if they say anything.
func unknown(fields map[string]json.RawMessage, known ...string) (extra chat.Extra) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) && failure.IsGiven(fields[name]) {
			extra = extra.With(name, fields[name])
		}
	}
	return extra
}

// argumentsOf reads a text, or an object that some write instead.
func argumentsOf(raw json.RawMessage) string {
	text := textOf(raw)
	if text != "" || objectOf(raw) == nil {
		return text
	}
	data, _ := json.Marshal(raw) // it was decoded before
	return string(data)
}

// calls are assembled from their pieces.
type calls struct {
	all   []*building
	known []string // names of tools
}

// building is a call that may not be whole yet.
type building struct {
	index     int // -1: the server gives none
	id        string
	name      string
	arguments strings.Builder
	extra     gathered
}

// add takes a piece.
func (c *calls) add(p piece) error {
	if len(p.id) > maxName || len(p.name) > maxName {
		return errManyCalls
	}
	b := c.belongs(p)
	if b == nil {
		if len(c.all) == maxCalls {
			return errManyCalls
		}
		b = &building{index: -1}
		if p.hasIndex {
			b.index = p.index
		}
		c.all = append(c.all, b)
	}
	if b.id == "" {
		b.id = p.id
	}
	switch {
	case b.name == "":
		b.name = p.name
	case c.continues(b, p):
		b.name += p.name
	}
	b.extra.add(p.extra)
	if b.arguments.Len()+len(p.arguments) > maxArguments {
		return errManyCalls
	}
	b.arguments.WriteString(p.arguments)
	return nil
}

// continues reports whether p goes on with the name of a call.
func (c *calls) continues(b *building, p piece) bool {
	if p.name == "" || !p.hasIndex || b.arguments.Len() > 0 || slices.Contains(c.known, b.name) {
		return false
	}
	return slices.ContainsFunc(c.known, func(name string) bool { return strings.HasPrefix(name, b.name+p.name) })
}

// belongs returns the call that a piece belongs to; nil if it begins one.
func (c *calls) belongs(p piece) *building {
	b := c.candidate(p)
	switch {
	case b == nil:
		return nil
	case p.name == "", b.name == "":
		return b
	case p.id != "" && b.id != "" && p.id != b.id:
		return nil
	case p.name != b.name:
		if c.continues(b, p) {
			return b
		}
		return nil
	case begin([]byte(p.arguments), '{') && b.isWhole():
		return nil // another call of the same tool
	}
	return b
}

// candidate returns the call that a piece may belong to, by its id, else by its index, else the last.
func (c *calls) candidate(p piece) (last *building) {
	for _, b := range slices.Backward(c.all) {
		if p.hasIndex && b.index != p.index {
			continue
		}
		if p.id != "" && b.id == p.id {
			return b
		}
		if last == nil {
			last = b
		}
	}
	return last
}

func (b *building) isWhole() bool { return isObject(b.arguments.String()) }

func isObject(text string) bool {
	if !strings.HasSuffix(strings.TrimRight(text, " \t\r\n"), "}") { // most pieces end here, so the rest isn't read
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// end returns the calls once the answer has ended well, unless one has no name. If the answer ended because it was
// long enough, a call that isn't whole is left out.
func (c *calls) end(finish string) (all []chat.Call, ok bool) {
	for _, b := range c.all {
		if finish == finishedLong && !b.isWhole() {
			continue
		}
		if b.name == "" {
			return nil, false
		}
		for _, arguments := range apart(b.arguments.String()) {
			call := chat.Call{
				ID:        newID(),
				Name:      b.name,
				Arguments: arguments,
				Extra:     b.extra.all(),
			}
			all = append(all, call)
		}
	}
	return all[:min(len(all), maxCalls)], true
}

// apart returns the arguments of each call where a server wrote those of several calls as one, or an empty object
// before the real one, or the same twice.
func apart(arguments string) (each []string) {
	values := split([]byte(arguments))
	for _, v := range values {
		if len(objectOf(v)) == 0 || len(each) > 0 && each[len(each)-1] == string(v) {
			continue
		}
		each = append(each, string(v))
	}
	if len(values) < 2 || len(each) == 0 {
		return []string{arguments}
	}
	return each
}

// newID returns an id as Mistral's templates want it: nine letters or digits. The server's own is never kept, since
// other servers and templates may refuse it.
func newID() string { return strings.ToLower(rand.Text()[:9]) }
