package llm

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"hark/internal/chat"
)

// The two names of the longest answer. OpenAI's newer models know only the second, other servers only the first.
const (
	maxTokensField     = "max_tokens"
	maxCompletionField = "max_completion_tokens"
)

// reasoning matches OpenAI's models that take max_completion_tokens and no temperature.
var reasoning = regexp.MustCompile(`^(o\d|gpt-([5-9]|[1-9]\d))`)

func isReasoning(model string) bool {
	return reasoning.MatchString(model[strings.LastIndexByte(model, '/')+1:])
}

// body is a request as it is sent. go-openai sends it, but doesn't write it: its types have no place for what servers put
// beside messages and calls and want back, nor for fields of one's own.
type body struct {
	fields   map[string]any
	messages []json.RawMessage
	sent     sent
}

// write returns the request for at most maxTokens, or as many as the server likes if 0.
func write(c Config, r chat.Request, f form, maxTokens int) body {
	messages := f.shaped(r.Messages)
	b := body{fields: map[string]any{"model": c.Model}}
	b.sent.streamed = !f.unstreamed
	if !f.unstreamed {
		b.fields["stream"] = true
		b.fields["stream_options"] = openai.StreamOptions{IncludeUsage: true}
	}
	if maxTokens > 0 {
		b.fields[tokensField(c.Model, f)] = maxTokens
	}
	t := temperature(c, r)
	if t != nil && !isReasoning(c.Model) {
		b.fields["temperature"] = *t
	}
	addTools(&b, r, f)
	maps.Copy(b.fields, thinking(c, r.Brief, b.sent.tools))
	maps.Copy(b.fields, c.Extra)
	for _, name := range f.without {
		delete(b.fields, name)
	}
	for i, m := range messages {
		written := message(m, c.Vision && !f.blind)
		b.add(written, m, f.without)
		if i > 0 && canJoin(messages[i-1], m) {
			b.sent.neighbours = true
		}
	}
	top := slices.Sorted(maps.Keys(b.fields))
	top = slices.DeleteFunc(top, func(name string) bool { return name == "model" }) // nothing goes without it
	b.sent.fields = slices.Compact(append(b.sent.fields, top...))
	return b
}

func tokensField(model string, f form) string {
	if isReasoning(model) != f.otherTokens {
		return maxCompletionField
	}
	return maxTokensField
}

func temperature(c Config, r chat.Request) *float32 {
	if r.Temperature == nil {
		return c.Temperature
	}
	return new(float32(*r.Temperature))
}

// addTools offers the tools, unless the server takes none, or none beside outcomes that are a text.
func addTools(b *body, r chat.Request, f form) {
	if len(r.Tools) == 0 || f.noTools {
		return
	}
	if f.asText && slices.ContainsFunc(r.Messages, hasCalls) {
		return
	}
	tools := make([]openai.Tool, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = tool(t)
	}
	b.fields["tools"] = tools
	b.sent.tools = true
}

func hasCalls(m chat.Message) bool { return len(m.Calls) > 0 }

// add adds a message, with what its server put beside it and its calls.
func (b *body) add(m openai.ChatCompletionMessage, from chat.Message, without []string) {
	b.sent.length += len(from.Content)
	b.sent.system = b.sent.system || from.Role == chat.System
	b.sent.calls = b.sent.calls || len(from.Calls) > 0
	b.sent.images = b.sent.images || len(m.MultiContent) > 0
	fields := objectOf(m)
	if fields["content"] == nil { // go-openai leaves out an empty text beside calls, and some servers want the field
		fields["content"] = json.RawMessage("null")
	}
	b.addExtra(fields, from.Extra, without)
	b.addCalls(fields, from.Calls, without)
	b.messages = append(b.messages, encoded(fields))
}

func (b *body) addCalls(fields map[string]json.RawMessage, calls []chat.Call, without []string) {
	if len(calls) == 0 {
		return
	}
	var written []map[string]json.RawMessage
	_ = json.Unmarshal(fields["tool_calls"], &written) // it was encoded from objects
	for i, call := range calls {
		b.addExtra(written[i], call.Extra, without)
	}
	fields["tool_calls"] = encoded(written)
}

// addExtra adds fields that a server wants back.
func (b *body) addExtra(to map[string]json.RawMessage, extra chat.Extra, without []string) {
	for name, value := range extra {
		if slices.Contains(without, name) {
			continue
		}
		if !slices.Contains(b.sent.fields, name) {
			b.sent.fields = append(b.sent.fields, name)
		}
		if name == "function" {
			function := chat.Extra(objectOf(to[name]))
			value = encoded(function.Merge(objectOf(value)))
		}
		to[name] = value
	}
}

// encode returns the request as JSON.
func (b body) encode() ([]byte, error) {
	fields := maps.Clone(b.fields)
	fields["messages"] = b.messages
	return json.Marshal(fields)
}

// objectOf returns the fields of v as JSON.
func objectOf(v any) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(encoded(v), &fields) // what is no object has none
	return fields
}

func encoded(v any) json.RawMessage {
	data, _ := json.Marshal(v) // go-openai's messages, texts and raw JSON always encode
	return data
}

// message returns m as it is sent: a plain text, unless there are images and the model sees.
func message(m chat.Message, sees bool) openai.ChatCompletionMessage {
	sent := openai.ChatCompletionMessage{
		Role:       m.Role,
		Content:    m.Content,
		ToolCallID: m.CallID,
	}
	for _, call := range m.Calls {
		sent.ToolCalls = append(sent.ToolCalls, toolCall(call))
	}
	if sees && len(m.Images) > 0 {
		sent.Content = ""
		sent.MultiContent = parts(m)
		return sent
	}
	if len(m.Images) > 0 {
		sent.Content = strings.TrimSpace(sent.Content + "\n" + unseen)
	}
	if sent.Content == "" && len(m.Calls) == 0 {
		sent.Content = nothing // go-openai would leave it out, and servers refuse that
	}
	return sent
}

func toolCall(c chat.Call) openai.ToolCall {
	return openai.ToolCall{
		ID:   c.ID,
		Type: openai.ToolTypeFunction,
		Function: openai.FunctionCall{
			Name:      functionName(c.Name),
			Arguments: object(c.Arguments),
		},
	}
}

const (
	// unseen tells a model that can't see that there are images, which its fallback may see.
	unseen = "(There are images here that you can't see.)"
	// nothing replaces an empty text.
	nothing = "(nothing)"
)

// parts returns a message's text and then its images.
func parts(m chat.Message) (parts []openai.ChatMessagePart) {
	if m.Content != "" {
		text := openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeText,
			Text: m.Content,
		}
		parts = append(parts, text)
	}
	for _, image := range m.Images {
		data := base64.StdEncoding.EncodeToString(image.Data)
		url := "data:" + image.Type + ";base64," + data
		picture := openai.ChatMessagePart{
			Type:     openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: url},
		}
		parts = append(parts, picture)
	}
	return parts
}

func tool(t chat.Tool) openai.Tool {
	schema := t.Parameters
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{
		Type: openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{
			Name:        t.Name,
			Description: t.Description,
			Parameters:  schema,
		},
	}
}

// object returns a call's arguments as servers take them back. Ollama, vLLM and llama.cpp refuse arguments that
// aren't a JSON object, even those that their own model wrote.
func object(arguments string) string {
	if strings.HasPrefix(strings.TrimLeft(arguments, " \t\r\n"), "{") && json.Valid([]byte(arguments)) {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	return `{"unreadable":` + string(encoded(arguments)) + `}`
}

// notInNames are the characters that OpenAI refuses in a function's name, even in one that a model made up.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func functionName(name string) string {
	name = notInNames.ReplaceAllString(name, "_")
	return name[:min(len(name), 64)]
}
