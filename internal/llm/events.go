package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

const maxEvent = 4 << 20 // bytes of one event, or of an answer that isn't streamed

// errBadEvent is wrapped by what says why an answer makes no sense.
var errBadEvent = errors.New("no answer of a model")

var (
	errPage    = fmt.Errorf("%w, but a web page", errBadEvent)
	errNotJSON = fmt.Errorf("%w: neither a stream of events nor JSON", errBadEvent)
	errTooMuch = fmt.Errorf("%w, but text without end", errBadEvent)
)

// field matches a line of a stream of events. No standard has "error", but llama.cpp before September 2025.
var field = regexp.MustCompile(`^(data|event|id|retry|error)?:`)

// events is the body of an answer, smoothed for go-openai: of a stream only the lines with data, so that no
// number of comments upsets it, and errors written so that it hands them on rather than swallows them; an answer
// that isn't streamed becomes a stream of one event.
type events struct {
	body  io.Closer
	lines *bufio.Reader
	out   []byte // smoothed and not read yet
	name  string // of the event whose data comes next
	begun bool
	err   error
}

// newEvents smooths body. It calls alive whenever something comes.
func newEvents(body io.ReadCloser, alive func()) *events {
	return &events{body: body, lines: bufio.NewReader(pulse{body, alive})}
}

func (e *events) Close() error { return e.body.Close() }

func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		var line []byte
		line, e.err = readLine(e.lines)
		if problem := e.take(bytes.TrimSpace(line)); problem != nil && (e.err == nil || e.err == io.EOF) {
			e.err = problem
		}
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// take deals with a line. The last one may be torn.
func (e *events) take(line []byte) error {
	if !e.begun {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if len(line) == 0 {
		e.name = ""
		return nil
	}
	first := !e.begun
	e.begun = true
	switch {
	case line[0] == '{' && json.Valid(line):
		e.emit(line)
	case line[0] == '{' && first:
		return e.document(line)
	case first && line[0] == '<':
		return errPage
	case first && !field.Match(line) && (e.err == nil || e.err == io.EOF):
		return errNotJSON
	case bytes.HasPrefix(line, []byte("event:")):
		e.name = string(bytes.TrimSpace(line[len("event:"):]))
	case bytes.HasPrefix(line, []byte("data:")):
		e.data(bytes.TrimSpace(line[len("data:"):]))
	case bytes.HasPrefix(line, []byte("error:")):
		e.name = "error"
		e.data(bytes.TrimSpace(line[len("error:"):]))
	}
	return nil
}

// document takes an answer of several lines that isn't a stream, from its first line on.
func (e *events) document(line []byte) error {
	rest, err := io.ReadAll(io.LimitReader(e.lines, maxEvent))
	if err != nil {
		return err
	}
	var whole bytes.Buffer
	if json.Compact(&whole, append(line, rest...)) != nil {
		return errNotJSON
	}
	e.emit(whole.Bytes())
	return nil
}

func (e *events) data(data []byte) {
	torn := e.err != nil && !json.Valid(data) && string(data) != "[DONE]"
	if torn || len(data) == 0 {
		return
	}
	if e.name != "error" {
		e.emit(data)
		return
	}
	if !json.Valid(data) {
		data, _ = json.Marshal(string(data)) // a string always encodes
	}
	e.emit(fmt.Appendf(nil, `{"error":%s}`, data))
}

// emit writes an event. The space keeps go-openai from reading on after an error, for which it would wait.
func (e *events) emit(data []byte) {
	e.out = append(e.out, "data: "...)
	if data[0] == '{' {
		e.out = append(e.out, "{ "...)
		data = data[1:]
	}
	e.out = append(append(e.out, data...), '\n')
}

// readLine reads to the end of a line, or of all, of at most maxEvent bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxEvent {
			return nil, errTooMuch
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// pulse calls alive whenever it reads something.
type pulse struct {
	io.Reader
	alive func()
}

func (p pulse) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		p.alive()
	}
	return n, err
}
