package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

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

// content is a text, or the texts among the parts that some servers write instead; thoughts are parts as well.
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

// failure is what a server tells of an error. Its message may hold anything, the prompt and the key too.
type failure struct {
	status        int // 0 if it doesn't say
	code, message string
	limit, asked  int // tokens that the server takes and has counted, where it says so in fields of their own
}

func (f failure) Error() string { return "the server tells of an error" }

// read takes the error that raw tells of, in any of the usual forms. It reports whether raw tells of one.
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

// word is a JSON string's text; anything else as it is written.
func word(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return strings.TrimSpace(string(raw))
}
