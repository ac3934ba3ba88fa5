package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

const maxEvent = 4 << 20 // bytes of one event, or of an answer that isn't streamed

// errBadEvent is wrapped by the reasons why an answer makes no sense.
var errBadEvent = errors.New("no answer of a model")

var (
	errPage    = fmt.Errorf("%w, but a web page", errBadEvent)
	errNotJSON = fmt.Errorf("%w: neither a stream of events nor JSON", errBadEvent)
	errTooMuch = fmt.Errorf("%w, but text without end", errBadEvent)
)

// field matches a line of a stream of events. No standard has "error", but llama.cpp before September 2025.
var field = regexp.MustCompile(`^(data|event|id|retry|error)?:`)

// events is the body of an answer, smoothed for go-openai: of a stream only the lines with data, so that comments
// don't upset it, and errors in the form that it hands on. An answer that isn't streamed becomes a stream of one
// event.
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

// take reads a line. The last one may be torn.
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

// emit writes an event. The space keeps go-openai from waiting for more after an error.
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

// event is what one event of a stream adds to the answer.
type event struct {
	text, finish       string
	thought            int // bytes of thoughts beside the text
	calls              []piece
	prompt, completion int
}

// wireMessage is a message, or a part of one. Thoughts have fields of their own, and some give them twice.
type wireMessage struct {
	Content content
	Refusal string
	Calls   []piece `json:"tool_calls"`

	Reasoning        thought
	ReasoningContent thought `json:"reasoning_content"`
}

// wireEvent is an event as servers write it, streamed or not.
type wireEvent struct {
	Object  string
	Type    string
	Choices []struct {
		Index          int
		Delta, Message wireMessage
		FinishReason   string `json:"finish_reason"`
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
	Error, Detail json.RawMessage
}

// parseEvent returns a failure if the event tells of one, and errBadEvent if it makes no sense.
func parseEvent(raw []byte) (e event, err error) {
	var w wireEvent
	if err := json.Unmarshal(raw, &w); err != nil {
		if f := (failure{}); f.read(raw) {
			return event{}, f
		}
		return event{}, fmt.Errorf("%w: an event that can't be read", errBadEvent)
	}
	var f failure
	if given(w.Error) || w.Object == "error" || w.Type == "error" || w.Choices == nil && given(w.Detail) {
		f.read(raw)
		return event{}, f
	}
	e.prompt, e.completion = w.Usage.Prompt, w.Usage.Completion
	for _, c := range w.Choices {
		if c.Index != 0 {
			continue
		}
		if c.FinishReason == "error" {
			return event{}, f
		}
		for _, said := range []wireMessage{c.Delta, c.Message} {
			e.text += said.Content.text + said.Refusal
			e.thought += int(said.Content.thought + max(said.Reasoning, said.ReasoningContent))
			e.calls = append(e.calls, said.Calls...)
		}
		e.finish = c.FinishReason
	}
	return e, nil
}

func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// content is a text, or the texts among the parts that some servers write instead. Thoughts are parts, too.
type content struct {
	text    string
	thought thought
}

func (c *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.text) == nil {
		return nil
	}
	var parts []struct {
		Type, Text string
		Thinking   thought
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.thought += p.Thinking
		if p.Type == "text" {
			c.text += p.Text
		}
	}
	return nil
}

// thought is how many bytes a thought has, which is a text, or parts with texts.
type thought int

func (t *thought) UnmarshalJSON(data []byte) error {
	var c content
	_ = json.Unmarshal(data, &c) // anything else is none
	*t = thought(len(c.text)) + c.thought
	return nil
}

// failure is an error as a server tells it. Its message may hold anything, also the prompt and the key.
type failure struct {
	status        int // 0 if it doesn't say
	code, message string
	limit, asked  int // tokens that the server takes and counted, if they have fields of their own
}

func (f failure) Error() string { return "the server tells of an error" }

// read takes the error in raw, in any of the usual forms. It reports whether there is one.
func (f *failure) read(raw []byte) bool {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		f.message = text
		return text != ""
	}
	var w struct {
		Error, Message, Detail, Type, Code json.RawMessage

		Limit json.RawMessage `json:"n_ctx"` // as llama.cpp writes it
		Asked json.RawMessage `json:"n_prompt_tokens"`
	}
	if json.Unmarshal(raw, &w) != nil {
		return false
	}
	f.limit, _ = strconv.Atoi(word(w.Limit)) // 0 if it's no number
	f.asked, _ = strconv.Atoi(word(w.Asked))
	if given(w.Error) && f.read(w.Error) {
		return true
	}
	for _, field := range []json.RawMessage{w.Detail, w.Message} {
		if given(field) {
			f.message = word(field)
		}
	}
	for _, field := range []json.RawMessage{w.Type, w.Code} {
		if code := word(field); code != "" && code != "error" {
			if n, err := strconv.Atoi(code); err == nil {
				f.status = n
			} else {
				f.code = code
			}
		}
	}
	return f.message != "" || f.code != "" || f.status != 0
}

// word returns a JSON string's text; anything else as it is written.
func word(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return strings.TrimSpace(string(raw))
}
