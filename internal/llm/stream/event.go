package stream

import (
	"cmp"
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
	left       // for the next event
	text       string
	thought    int // bytes of thoughts beside the text
	finish     string
	calls      []piece
	extra      chat.Extra // fields of the message that Hark doesn't know
	prompt     int        // tokens
	completion int        // tokens
}

// left is what an event says of those that follow it.
type left struct {
	half   string // of a character, at the text's end
	deltas bool   // the answer comes in deltas: messages beside them only repeat it
}

// parseEvent returns a failure.Failure if the event tells of one, and ErrBadEvent if it makes no sense. before is what
// the last event left.
func parseEvent(raw []byte, before left) (e event, err error) {
	e.left = before
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
	for _, choice := range objectsOf(fields["choices"]) {
		at, _ := numberOf(choice["index"])
		if at != 0 {
			continue
		}
		if failure.IsGiven(choice["error"]) {
			f, _ := failure.Read(choice["error"]) // one that says nothing is one all the same
			return event{}, f
		}
		e.finish = finishOf(choice["finish_reason"])
		switch e.finish {
		case finishedBadly:
			return event{}, failure.Failure{}
		case finishedTorn:
			return event{}, failure.Failure{Code: failure.TornCall}
		}
		e.add(objectOf(choice["delta"]))
		e.deltas = e.deltas || e.hasCome()
		if !e.deltas {
			e.add(objectOf(choice["message"]))
		}
		e.addText(choice["text"])
	}
	return e, nil
}

// hasCome reports whether the event adds something to the answer.
func (e *event) hasCome() bool { return e.text != "" || e.thought > 0 || len(e.calls) > 0 }

// objectsOf returns the objects of a list, or the one that some servers write instead.
func objectsOf(raw json.RawMessage) (all []map[string]json.RawMessage) {
	one := objectOf(raw)
	if one != nil {
		return []map[string]json.RawMessage{one}
	}
	for _, item := range listOf(raw) {
		all = append(all, objectOf(item))
	}
	return all
}

// failed returns the failure that an event tells of, if it does.
func failed(raw []byte, fields map[string]json.RawMessage) (failure.Failure, bool) {
	if fields == nil {
		return failure.Read(raw)
	}
	_, hasChoices := fields["choices"]
	told := failure.IsGiven(fields["error"]) || failure.IsGiven(fields["errors"]) ||
		textOf(fields["object"]) == "error" || textOf(fields["type"]) == "error" ||
		!hasChoices && (failure.IsGiven(fields["detail"]) || saysText(fields, "message", "msg", "error_msg"))
	if !told {
		return failure.Failure{}, false
	}
	f, says := failure.Read(raw)
	return f, says || !hasChoices // an error that says nothing may stand beside good text
}

// saysText reports whether one of the fields of that name is a text.
func saysText(fields map[string]json.RawMessage, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return textOf(fields[name]) != "" })
}

// knownFields of a message aren't sent back as they came.
var knownFields = []string{"role", "content", "refusal", "tool_calls", "function_call", "name", "index", "annotations",
	"audio", "padding", "obfuscation", "text"}

// add takes a message, or a part of one. Thoughts have fields of their own, and some servers give them twice.
func (e *event) add(message map[string]json.RawMessage) {
	switch {
	case failure.IsGiven(message["content"]):
		e.addText(message["content"])
	case message["type"] == nil || textOf(message["type"]) == "text":
		e.addText(message["text"])
	}
	e.text += textOf(message["refusal"])
	called := piecesOf(message["tool_calls"])
	if called == nil {
		called = oldCall(message["function_call"])
	}
	e.calls = append(e.calls, called...)
	e.thought += max(thoughtIn(message["reasoning"]), thoughtIn(message["reasoning_content"]))
	for _, name := range slices.Sorted(maps.Keys(message)) {
		if !slices.Contains(knownFields, name) && failure.IsGiven(message[name]) {
			e.extra = e.extra.With(name, message[name])
		}
	}
}

// addText adds a message's text, which may begin and end with half a character.
func (e *event) addText(raw json.RawMessage) {
	raw, e.half = halves(raw, e.half)
	said := contentOf(raw, 0)
	e.text += said.text
	e.thought += said.thought
}

// content is a text, and how many bytes of thoughts stand in it.
type content struct {
	text    string
	thought int
}

// deepest bounds how many texts are read within each other.
const deepest = 4

// contentOf reads a text, or the texts among the parts that some servers write instead. Thoughts are parts, too.
func contentOf(raw json.RawMessage, depth int) (c content) {
	text := textOf(raw)
	if text != "" || depth > deepest {
		return content{text: text}
	}
	parts := listOf(raw)
	for _, part := range parts {
		inner := contentOf(part, depth+1)
		c.text += inner.text
		c.thought += inner.thought
	}
	fields := objectOf(raw)
	if fields == nil {
		return c
	}
	c.thought += thoughtIn(fields["thinking"])
	inner := contentOf(fields["text"], depth+1)
	if objectOf(fields["text"]) != nil {
		inner.text = textOf(objectOf(fields["text"])["value"])
	}
	switch textOf(fields["type"]) {
	case "text", "output_text", "":
		c.text += inner.text
	default:
		c.thought += len(inner.text)
	}
	return c
}

// thoughtIn returns how many bytes a thought has, which is a text, or parts with texts.
func thoughtIn(raw json.RawMessage) int {
	c := contentOf(raw, 0)
	return len(c.text) + c.thought
}

// Why answers end, as package chat names it.
const (
	finishedWell  = "stop"
	finishedLong  = "length"
	finishedCalls = "tool_calls"
	finishedBadly = "error"
	finishedTorn  = failure.TornCall // the model wrote a call that its server can't read
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
	finishedBadly:    finishedBadly, "network_error": finishedBadly,
	"malformed_function_call": finishedTorn, "malformed_tool_call": finishedTorn, "unexpected_tool_call": finishedTorn,
	"too_many_tool_calls": finishedTorn, "insufficient_system_resource": finishedBadly,
}

// finishOf returns why an answer ended; empty if it goes on.
func finishOf(raw json.RawMessage) string {
	if !failure.IsGiven(raw) {
		return ""
	}
	said := strings.ToLower(textOf(raw))
	_, detail, _ := strings.Cut(said, ": ") // Google: function_call_filter: MALFORMED_FUNCTION_CALL
	return cmp.Or(finishes[said], finishes[detail], finishedWell)
}
