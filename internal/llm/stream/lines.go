package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

const (
	maxEvent = 4 << 20   // bytes of one event, or of an answer that isn't streamed
	maxBody  = 256 << 20 // bytes of an answer, with all that stands beside the text
	maxTries = 64        // lines of one event after each of which it may be whole without an empty line
)

// ErrBadEvent is wrapped by the reasons why an answer makes no sense.
var ErrBadEvent = errors.New("no answer of a model")

// ErrTooMuch means that a model wrote without end.
var ErrTooMuch = fmt.Errorf("%w, but text without end", ErrBadEvent)

var (
	errPage    = fmt.Errorf("%w, but a web page", ErrBadEvent)
	errNotJSON = fmt.Errorf("%w: neither a stream of events nor JSON", ErrBadEvent)
)

// field matches a line of a stream of events. No standard has "error", but llama.cpp before September 2025.
var field = regexp.MustCompile(`^(data|event|id|retry|error)?:`)

const done = "[DONE]"

// Lines is the body of an answer, smoothed for go-openai: a line for each event, and of a stream only the data, so that
// comments don't upset it, and errors in the form that it hands on. An answer that isn't streamed becomes a stream of
// one event.
type Lines struct {
	body    io.Closer
	lines   *bufio.Reader
	out     []byte // smoothed and not read yet
	name    string // of the event whose data comes next
	partial []byte // data of an event that isn't whole yet
	tries   int    // how often that was tried
	size    int    // bytes that came
	begun   bool
	ended   bool // the answer says that it is whole
	afterCR bool // a line feed that follows belongs to the last line
	err     error
}

// NewLines smooths body. It calls alive whenever something comes.
func NewLines(body io.ReadCloser, alive func()) *Lines {
	return &Lines{body: body, lines: bufio.NewReader(pulse{body, alive})}
}

// Close closes the body.
func (l *Lines) Close() error { return l.body.Close() }

// HasEnded reports whether the answer said that it is whole: by [DONE], or because it isn't streamed.
func (l *Lines) HasEnded() bool { return l.ended }

// Read implements io.Reader.
func (l *Lines) Read(p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		line, err := l.readLine()
		l.err = err
		problem := l.take(bytes.TrimSpace(line))
		if problem == nil && err != nil {
			problem = l.flush()
		}
		if problem != nil && (err == nil || err == io.EOF) {
			l.err = problem
		}
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// take reads a line. The last one may be torn.
func (l *Lines) take(line []byte) error {
	if !l.begun {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if len(line) == 0 {
		err := l.flush()
		l.name = ""
		return err
	}
	first := !l.begun
	l.begun = true
	switch {
	case first && isDocument(line):
		return l.document(line)
	case len(l.partial) > 0 && !field.Match(line):
		return l.goOn(line) // of an event whose first line alone says that it is data
	case line[0] == '{' && json.Valid(line):
		l.emit(line)
	case first && line[0] == '<':
		return errPage
	case first && !field.Match(line) && (l.err == nil || l.err == io.EOF):
		return errNotJSON
	case bytes.HasPrefix(line, []byte("event:")):
		l.name = string(bytes.TrimSpace(line[len("event:"):]))
		l.ended = l.ended || isDone(l.name)
	case bytes.HasPrefix(line, []byte("data:")):
		return l.data(bytes.TrimSpace(line[len("data:"):]))
	case bytes.HasPrefix(line, []byte("error:")):
		l.name = "error"
		return l.data(bytes.TrimSpace(line[len("error:"):]))
	}
	return nil
}

func isDocument(line []byte) bool {
	return line[0] == '{' || line[0] == '[' && !bytes.Equal(line, []byte(done))
}

// document takes an answer that isn't a stream, from its first line on.
func (l *Lines) document(line []byte) error {
	if values := split(line); values != nil && line[0] == '{' {
		l.ended = len(values) == 1 && isWhole(values[0])
		l.emitAll(values)
		return nil // some servers stream without "data:"
	}
	rest, err := io.ReadAll(io.LimitReader(l.lines, maxEvent))
	if err != nil {
		return err
	}
	values := split(append(line, rest...))
	if values == nil {
		return errNotJSON
	}
	l.ended = true
	l.emitAll(values)
	return nil
}

// isWhole reports whether an event is an answer that isn't streamed.
func isWhole(event []byte) bool {
	for _, raw := range listOf(objectOf(event)["choices"]) {
		if _, has := objectOf(raw)["message"]; has {
			return true
		}
	}
	return false
}

// data takes a line of an event's data. An event may have several, and some servers write several events on a line.
func (l *Lines) data(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if isDone(string(line)) {
		l.ended = true
		err := l.flush()
		l.out = append(l.out, "data: "+done+"\n"...)
		return err
	}
	values := split(line)
	if values == nil && line[0] == '{' {
		values = split(numbered(line))
	}
	if values != nil && len(l.partial) > 0 && line[0] == '{' {
		err := l.flush() // what came before was torn
		if err != nil {
			return err
		}
	}
	if values == nil || len(l.partial) > 0 {
		return l.goOn(line)
	}
	l.emitAll(values)
	return nil
}

// goOn takes a further line of an event, or the first of several.
func (l *Lines) goOn(line []byte) error {
	if len(l.partial)+len(line) > maxEvent {
		return ErrTooMuch
	}
	l.partial = append(append(l.partial, line...), '\n')
	values := l.tryWhole()
	if values == nil {
		return nil
	}
	l.partial = nil
	l.tries = 0
	l.emitAll(values)
	return nil
}

// tryWhole returns the values of an event that has several lines, if these are all.
func (l *Lines) tryWhole() []json.RawMessage {
	l.tries++
	if l.tries > maxTries {
		return nil
	}
	return split(l.partial)
}

// isDone reports whether data, or an event's name, says that the answer is whole.
func isDone(said string) bool {
	switch strings.ToLower(said) {
	case "[done]", `"[done]"`, "done", "end", "complete":
		return true
	}
	return false
}

// flush ends an event. One that is torn by the stream's end is dropped.
func (l *Lines) flush() error {
	data := bytes.TrimSpace(l.partial)
	l.partial = nil
	l.tries = 0
	if len(data) == 0 || l.err != nil && data[0] == '{' {
		return nil
	}
	if l.name == "error" {
		data, _ = json.Marshal(string(data)) // a string always encodes
	}
	l.event(data)
	return nil
}

func (l *Lines) event(data []byte) {
	if l.name == "error" {
		data = fmt.Appendf(nil, `{"error":%s}`, data)
	}
	l.emit(data)
}

// emitAll writes events. Google lists its errors.
func (l *Lines) emitAll(values []json.RawMessage) {
	for _, v := range values {
		list := listOf(v)
		if list == nil {
			list = []json.RawMessage{v}
		}
		for _, item := range list {
			l.event(item)
		}
	}
}

// emit writes an event. The space keeps go-openai from waiting for more after an error.
func (l *Lines) emit(data []byte) {
	data = bytes.TrimSpace(data)
	if bytes.ContainsAny(data, "\r\n") {
		var line bytes.Buffer
		if json.Compact(&line, data) != nil { // it is no event, on however many lines
			line.Reset()
			line.Write(bytes.Join(bytes.Fields(data), []byte(" ")))
		}
		data = bytes.ReplaceAll(line.Bytes(), []byte("\n"), []byte(" "))
	}
	if len(data) == 0 {
		return
	}
	l.out = append(l.out, "data: "...)
	if data[0] == '{' {
		l.out = append(l.out, "{ "...)
		data = data[1:]
	}
	l.out = append(append(l.out, data...), '\n')
}

// split returns the JSON values that stand one after another in data, perhaps with "data:" between them; nil if
// data is anything else.
func split(data []byte) (values []json.RawMessage) {
	if json.Valid(data) {
		return []json.RawMessage{data}
	}
	for {
		data = bytes.TrimSpace(data)
		if len(values) > 0 {
			data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("data:")))
		}
		if len(data) == 0 || len(values) > 0 && string(data) == done {
			return values
		}
		var v json.RawMessage
		d := json.NewDecoder(bytes.NewReader(data))
		if d.Decode(&v) != nil {
			return nil
		}
		values = append(values, v)
		data = data[d.InputOffset():]
	}
}

// readLine reads to the end of a line, which is LF, CR or both, or of all. A line has at most maxEvent bytes.
func (l *Lines) readLine() (line []byte, err error) {
	for {
		b, err := l.lines.ReadByte()
		if err != nil {
			return line, err
		}
		l.size++
		if l.size > maxBody {
			return nil, ErrTooMuch
		}
		followsCR := l.afterCR
		l.afterCR = b == '\r'
		switch {
		case b == '\n' && followsCR:
			continue
		case b == '\n' || b == '\r':
			return line, nil
		case len(line) == maxEvent:
			return nil, ErrTooMuch
		}
		line = append(line, b)
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
