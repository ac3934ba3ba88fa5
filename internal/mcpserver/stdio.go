package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is in bytes. No message that a program needs to send is longer.
const maxLine = 1 << 20

// Serve serves one program on a pair of streams until ctx or the input ends. A line that is no message is answered with
// an error.
func Serve(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	answers := &writer{to: out}
	requests := &reader{in: bufio.NewReader(in), answers: answers}
	err := New(c).Run(ctx, &mcp.IOTransport{
		Reader:        requests,
		Writer:        answers,
		MaxLineLength: 2 * maxLine,
	})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// writer is an output for several writers, each of which writes whole lines.
type writer struct {
	mu sync.Mutex
	to io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// Close implements io.Closer. It leaves the output open.
func (*writer) Close() error { return nil }

// refuse answers a message that can't be taken.
func (w *writer) refuse(id jsonrpc.ID, code int64, why string) {
	answer := map[string]any{"jsonrpc": "2.0", "id": id.Raw(), "error": map[string]any{"code": code, "message": why}}
	line, _ := json.Marshal(answer)
	_, _ = w.Write(append(line, '\n')) // if nobody reads, the input ends, too
}

// reader reads the messages of an input, and refuses what else is there: the SDK would end the session.
type reader struct {
	in      *bufio.Reader
	answers *writer

	messages []byte // to be read
	err      error  // behind them
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.messages) == 0 && r.err == nil {
		var line []byte
		line, r.err = r.line()
		r.take(bytes.TrimSpace(line))
	}
	if len(r.messages) == 0 {
		return 0, r.err
	}
	n := copy(p, r.messages)
	r.messages = r.messages[n:]
	return n, nil
}

// Close implements io.Closer. It leaves the input open.
func (*reader) Close() error { return nil }

// line returns the next line. Of one that is too long, it refuses all.
func (r *reader) line() (line []byte, err error) {
	long := false
	for {
		part, err := r.in.ReadSlice('\n')
		long = long || len(line)+len(part) > maxLine
		if !long {
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if long {
			r.answers.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "The message is too long.")
			return nil, err
		}
		return line, err
	}
}

// take has a message read, or each of a list of messages.
func (r *reader) take(line []byte) {
	if len(line) == 0 {
		return
	}
	if !json.Valid(line) {
		r.answers.refuse(jsonrpc.ID{}, jsonrpc.CodeParseError, "The line isn't JSON. Each message is one line.")
		return
	}
	messages := []json.RawMessage{line}
	if line[0] == '[' {
		messages = nil
		_ = json.Unmarshal(line, &messages) // it is valid
	}
	if len(messages) == 0 {
		messages = []json.RawMessage{line} // which is refused
	}
	for _, m := range messages {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			r.answers.refuse(idOf(m), jsonrpc.CodeInvalidRequest, "That isn't a message of JSON-RPC 2.0.")
			continue
		}
		r.messages = append(r.messages, m...)
		r.messages = append(r.messages, '\n')
	}
}

// idOf returns the id of what may be a message; the zero ID if it has none.
func idOf(message []byte) jsonrpc.ID {
	var m struct{ ID any }
	_ = json.Unmarshal(message, &m)
	id, _ := jsonrpc.MakeID(m.ID)
	return id
}
