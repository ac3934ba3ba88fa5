package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines reads the messages that a command writes. What else it writes there, such as a greeting or a log, is left out:
// the SDK would end the connection. Messages should be one line each, but some programs write them over several, with
// all but the first and the last indented.
type lines struct {
	io.ReadCloser // the command's output
	in            *bufio.Reader
	stray         func(text []byte) error // is called with what is left out; an error ends the reading

	open []byte // the lines of a message that has no end yet
	out  []byte // what is to be read
	err  error  // behind it
}

func newLines(output io.ReadCloser, stray func(text []byte) error) *lines {
	return &lines{
		ReadCloser: output,
		in:         bufio.NewReader(output),
		stray:      stray,
	}
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.out) == 0 && l.err == nil {
		line, ended := l.line()
		l.err = l.take(line)
		if l.err == nil && ended != nil {
			_ = l.drop(l.open)
			l.err = ended
		}
	}
	if len(l.out) == 0 {
		return 0, l.err
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// line returns the next line, with its end, if it has one.
func (l *lines) line() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxFrame {
			return nil, errTooLong
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// take has a line read, alone or with those before it, or leaves it out.
func (l *lines) take(line []byte) error {
	text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(text) == 0 {
		return nil
	}
	whole := isMessage(text)
	if at := bytes.IndexByte(text, '{'); !whole && at > 0 && isMessage(text[at:]) { // behind text without a line's end
		text = text[at:]
		whole = true
	}
	margin := line[0] == text[0]
	begins := margin && text[0] == '{'
	if whole || begins || len(l.open)+len(line) > maxFrame {
		if err := l.drop(l.open); err != nil {
			return err
		}
		l.open = nil
	}
	switch {
	case whole:
		l.out = append(text, '\n')
		return nil
	case begins && json.Valid(text), margin && text[0] != '{' && text[0] != '}', !begins && l.open == nil:
		return l.drop(text)
	}
	l.open = append(l.open, line...)
	if margin && text[0] == '}' && isMessage(l.open) {
		l.out = l.open
		l.open = nil
	}
	return nil
}

func (l *lines) drop(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	return l.stray(text)
}

// isMessage reports whether a text is a message of the protocol, or several in a list.
func isMessage(text []byte) bool {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		_, err := jsonrpc.DecodeMessage(text)
		return err == nil
	}
	for _, one := range list {
		if _, err := jsonrpc.DecodeMessage(one); err != nil {
			return false
		}
	}
	return len(list) > 0
}
