package llm

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
)

// limitSaid find in a server's words how many tokens it takes, as OpenAI, vLLM, llama.cpp, SGLang, LM Studio,
// OpenRouter, Mistral, Anthropic, Google and TGI write it. The first that matches counts.
var limitSaid = []*regexp.Regexp{
	regexp.MustCompile(`(\d{1,9}) maximum context length`),
	regexp.MustCompile(`(?i)(?:context (?:length|size|window)|model length)[^0-9]{0,30}(\d{1,9})`),
	regexp.MustCompile(`tokens allowed \((\d{1,9})\)`),
	regexp.MustCompile(`(?:must be <=|must have less than) (\d{1,9})`),
	regexp.MustCompile(`\d tokens? > (\d{1,9}) maximum|limit: \d+ \+ \d+ > (\d{1,9})`),
}

// askedSaid find how many tokens of a prompt the server has counted.
var askedSaid = []*regexp.Regexp{
	regexp.MustCompile(`(\d{1,9}) (?:in (?:the messages|your prompt)|of text input|input tokens|tokens from the input|.inputs. tokens)`),
	regexp.MustCompile(`(?i)(?:resulted in|prompt contains|too long:|limit:|Given:) (\d{1,9})`),
	regexp.MustCompile(`(?i)(?:request|input|requested tokens|number of tokens|token count|prompt) \((?:length )?(\d{1,9})`),
}

// tooLong tells whether the prompt doesn't fit, which servers have many ways of saying.
func (f failure) tooLong() bool {
	if f.code == "context_length_exceeded" || f.code == "exceed_context_size_error" ||
		f.status == http.StatusRequestEntityTooLarge {
		return true
	}
	return (f.status == 0 || f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity) &&
		f.says("context length", "context size", "context window", "context limit", "model length",
			"prompt is too long",
			"maximum number of tokens allowed", "`max_new_tokens` must be <=", "`inputs` must have less than")
}

// lengths are how many tokens the server takes and how many of the prompt it has counted; 0 for what it doesn't say.
func (f failure) lengths() (limit, asked int) {
	limit, asked = f.limit, f.asked
	if limit <= 0 {
		limit = firstNumber(limitSaid, f.message)
	}
	if asked <= 0 {
		asked = firstNumber(askedSaid, f.message)
	}
	return limit, asked
}

func firstNumber(patterns []*regexp.Regexp, text string) int {
	for _, p := range patterns {
		for i, group := range p.FindStringSubmatch(text) {
			if n, err := strconv.Atoi(group); i > 0 && err == nil {
				return n
			}
		}
	}
	return 0
}

func (c *Client) tooLong(f failure) *Error {
	limit, asked := f.lengths()
	says := ""
	if limit > 0 {
		says = fmt.Sprintf("; by the server's words it takes %d tokens (llm.window)", limit)
	}
	e := c.problem(TooLong, false, "the prompt is longer than the model %q takes: lower builder.max_tokens or "+
		"llm.max_tokens%s", c.config.Model, says)
	e.room, e.asked = max(0, limit-c.config.MaxTokens), asked
	return e
}

// TooLong reports whether the prompt was longer than the model takes. Room is how many tokens of a prompt it takes
// beside the longest answer, and asked how many it counted in this one, each 0 if the server doesn't say.
func (e *Error) TooLong() (room, asked int, is bool) { return e.room, e.asked, e.Kind == TooLong }
