package llm

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"regexp"
	"strings"

	"github.com/sashabaranov/go-openai"

	"hark/internal/chat"
)

// reasoning matches OpenAI's models that take max_completion_tokens and no temperature. go-openai refuses to send
// them anything else.
var reasoning = regexp.MustCompile(`^(o\d|gpt-([5-9]|[1-9]\d))`)

func isReasoning(model string) bool {
	return reasoning.MatchString(model[strings.LastIndexByte(model, '/')+1:])
}

// request asks for at most maxTokens; 0: as many as the server likes.
func (c *Client) request(asked chat.Request, maxTokens int) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{
		Model:         c.config.Model,
		Messages:      make([]openai.ChatCompletionMessage, len(asked.Messages)),
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	for i, m := range asked.Messages {
		r.Messages[i] = c.message(m)
	}
	for _, t := range asked.Tools {
		r.Tools = append(r.Tools, tool(t))
	}
	if isReasoning(c.config.Model) {
		r.MaxCompletionTokens = maxTokens
		return r
	}
	//lint:ignore SA1019 it is the name that servers other than OpenAI's know
	r.MaxTokens = maxTokens
	if t := c.temperature(asked); t != nil {
		// go-openai leaves out a 0, and the server would take its own instead.
		r.Temperature = max(*t, math.SmallestNonzeroFloat32)
	}
	return r
}

func (c *Client) temperature(asked chat.Request) *float32 {
	if asked.Temperature == nil {
		return c.config.Temperature
	}
	t := float32(*asked.Temperature)
	return &t
}

// message returns m as it is sent: a plain text, unless there are images that the model can see.
func (c *Client) message(m chat.Message) openai.ChatCompletionMessage {
	sent := openai.ChatCompletionMessage{Role: m.Role, Content: m.Content, ToolCallID: m.CallID}
	for _, call := range m.Calls {
		sent.ToolCalls = append(sent.ToolCalls, openai.ToolCall{
			ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: functionName(call.Name), Arguments: object(call.Arguments)},
		})
	}
	if c.config.Vision && len(m.Images) > 0 {
		sent.Content, sent.MultiContent = "", parts(m)
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

const (
	// unseen tells a model that can't see that there are images, which its fallback may see.
	unseen = "(There are images here that you can't see.)"
	// nothing replaces an empty text.
	nothing = "(nothing)"
)

// parts returns a message's text and then its images.
func parts(m chat.Message) (parts []openai.ChatMessagePart) {
	if m.Content != "" {
		parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: m.Content})
	}
	for _, image := range m.Images {
		parts = append(parts, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: "data:" + image.Type + ";base64," +
				base64.StdEncoding.EncodeToString(image.Data)},
		})
	}
	return parts
}

func tool(t chat.Tool) openai.Tool {
	schema := t.Parameters
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: t.Name, Description: t.Description, Parameters: schema,
	}}
}

// object returns a call's arguments as servers take them back. Ollama, vLLM and llama.cpp refuse arguments that
// aren't a JSON object, even those that their own model wrote.
func object(arguments string) string {
	if isObject(arguments) {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	quoted, _ := json.Marshal(arguments) // a string always encodes
	return `{"unreadable":` + string(quoted) + `}`
}

func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

// notInNames are the characters that OpenAI refuses in a function's name, even in one that a model made up.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func functionName(name string) string {
	name = notInNames.ReplaceAllString(name, "_")
	return name[:min(len(name), 64)]
}
