package llm

import (
	"math"
	"regexp"
	"strings"

	"github.com/sashabaranov/go-openai"

	"hark/builder"
)

// reasoning matches OpenAI's models that take max_completion_tokens and no temperature. go-openai refuses, by
// name, to send them anything else.
var reasoning = regexp.MustCompile(`^(o\d|gpt-([5-9]|[1-9]\d))`)

func isReasoning(model string) bool {
	return reasoning.MatchString(model[strings.LastIndexByte(model, '/')+1:])
}

// request asks for an answer of at most maxTokens; 0: as many as the server likes.
func (c *Client) request(messages []builder.ChatMessage, maxTokens int) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{
		Model:         c.config.Model,
		Messages:      make([]openai.ChatCompletionMessage, len(messages)),
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	for i, m := range messages {
		r.Messages[i] = openai.ChatCompletionMessage{Role: m.Role, Content: m.Content}
	}
	if isReasoning(c.config.Model) {
		r.MaxCompletionTokens = maxTokens
		return r
	}
	//lint:ignore SA1019 it is the name that servers other than OpenAI's know
	r.MaxTokens = maxTokens
	if t := c.config.Temperature; t != nil {
		// go-openai leaves out a 0, and the server would take its own instead.
		r.Temperature = max(*t, math.SmallestNonzeroFloat32)
	}
	return r
}
