package stream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hark/internal/chat"
	"hark/internal/llm/failure"
)

// event is what one event of a stream adds to the answer.
type event struct {
	text       string
	thought    int // bytes of thoughts beside the text
	finish     string
	calls      []piece
	extra      chat.Extra // fields of the message that Hark doesn't know
	prompt     int        // tokens
	completion int        // tokens
}

// parseEvent returns a failure.Failure if the event tells of one, and ErrBadEvent if it makes no sense.
func parseEvent(raw []byte) (e event, err error) {
	fields := objectOf(raw)
	if f, is := failed(raw, fields); is {
		return event{}, f
	}
	if fields == nil {
		return event{}, fmt.Errorf("%w: an event that can't be read", ErrBadEvent)
	}
	usage := objectOf(fields["usage"])
	e.prompt, _ = numberOf(usage["prompt_tokens"])
	e.completion, _ = numberOf(usage["completion_tokens"])
	for _, item := range listOf(fields["choices"]) {
		choice := objectOf(item)
		at, _ := numberOf(choice["index"])
		if at != 0 {
			continue
		}
		e.finish = finishOf(choice["finish_reason"])
		if e.finish == finishedBadly {
			return event{}, failure.Failure{}
		}
		e.add(objectOf(choice["delta"]))
		e.add(objectOf(choice["message"]))
	}
	return e, nil
}

// failed returns the failure that an event tells of, if it does.
func failed(raw []byte, fields map[string]json.RawMessage) (failure.Failure, bool) {
	if fields == nil {
		return failure.Read(raw)
	}
	_, hasChoices := fields["choices"]
	told := failure.IsGiven(fields["error"]) || failure.IsGiven(fields["errors"]) ||
		textOf(fields["object"]) == "error" || textOf(fields["type"]) == "error" ||
		!hasChoices && failure.IsGiven(fields["detail"])
	if !told {
		return failure.Failure{}, false
	}
	f, says := failure.Read(raw)
	return f, says || !hasChoices // an error that says nothing may stand beside good text
}

// knownFields of a message aren't sent back as they came.
var knownFields = []string{"role", "content", "refusal", "tool_calls", "function_call", "name", "index", "annotations",
	"audio", "padding", "obfuscation"}

// add takes a message, or a part of one. Thoughts have fields of their own, and some servers give them twice.
func (e *event) add(message map[string]json.RawMessage) {
	said := contentOf(message["content"])
	e.text += said.text + textOf(message["refusal"])
	e.thought += said.thought
	e.calls = append(e.calls, piecesOf(message["tool_calls"])...)
	e.thought += max(thoughtIn(message["reasoning"]), thoughtIn(message["reasoning_content"]))
	for _, name := range slices.Sorted(maps.Keys(message)) {
		if !slices.Contains(knownFields, name) && failure.IsGiven(message[name]) {
			e.extra = e.extra.With(name, message[name])
		}
	}
}

// content is a text, and how many bytes of thoughts stand in it.
type content struct {
	text    string
	thought int
}

// contentOf reads a text, or the texts among the parts that some servers write instead. Thoughts are parts, too.
func contentOf(raw json.RawMessage) (c content) {
	text := textOf(raw)
	if text != "" {
		return content{text: text}
	}
	parts := listOf(raw)
	if parts == nil {
		parts = []json.RawMessage{raw}
	}
	for _, part := range parts {
		c.addPart(part)
	}
	return c
}

func (c *content) addPart(part json.RawMessage) {
	c.text += textOf(part)
	fields := objectOf(part)
	if fields == nil {
		return
	}
	c.thought += thoughtIn(fields["thinking"])
	text := textOf(fields["text"])
	switch textOf(fields["type"]) {
	case "text", "output_text", "":
		c.text += text
	default:
		c.thought += len(text)
	}
}

// thoughtIn returns how many bytes a thought has, which is a text, or parts with texts.
func thoughtIn(raw json.RawMessage) int {
	c := contentOf(raw)
	return len(c.text) + c.thought
}

// Why answers end, as package chat names it.
const (
	finishedWell  = "stop"
	finishedLong  = "length"
	finishedCalls = "tool_calls"
	finishedBadly = "error"
)

// finishes are other servers' words for why an answer ended, in lower case.
var finishes = map[string]string{
	"max_tokens": finishedLong, "max_output_tokens": finishedLong, "max_completion_tokens": finishedLong,
	"token_limit": finishedLong, "model_length": finishedLong, "model_context_window_exceeded": finishedLong,
	"limit": finishedLong, "incomplete": finishedLong, finishedLong: finishedLong,
	"tool_call": finishedCalls, "tool_use": finishedCalls, "function_call": finishedCalls, finishedCalls: finishedCalls,
	"safety": "content_filter", "recitation": "content_filter", "prohibited_content": "content_filter",
	"blocklist": "content_filter", "spii": "content_filter", "sensitive": "content_filter", "refusal": "content_filter",
	"content_filter": "content_filter",
	finishedBadly:    finishedBadly, "network_error": finishedBadly, "malformed_function_call": finishedBadly,
	"insufficient_system_resource": finishedBadly,
}

// finishOf returns why an answer ended; empty if it goes on.
func finishOf(raw json.RawMessage) string {
	if !failure.IsGiven(raw) {
		return ""
	}
	known, is := finishes[strings.ToLower(textOf(raw))]
	if is {
		return known
	}
	return finishedWell
}
