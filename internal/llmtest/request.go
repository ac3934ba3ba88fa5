package llmtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Message is one of a chat request.
type Message struct {
	Role       string  `json:"role"`
	Content    string  `json:"-"` // its text; that of all parts if it has several
	Images     []Image `json:"-"` // among its parts
	ToolCalls  []call  `json:"tool_calls"`
	ToolCallID string  `json:"tool_call_id"`

	silent bool // without content
}

// Image is one that was sent as a data URL.
type Image struct {
	Type string // such as "image/png"
	Data []byte
}

// Request is one that the server received.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte // as it came

	Model         string    `json:"model"`
	Messages      []Message `json:"messages"`
	Stream        bool      `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           *int          `json:"max_tokens"`
	MaxCompletionTokens *int          `json:"max_completion_tokens"`
	Temperature         *float64      `json:"temperature"`
	Tools               []offeredTool `json:"tools"`

	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions"`
}

// Prompt returns the content of all messages, a line feed between them.
func (r Request) Prompt() string {
	parts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		parts[i] = m.Content
	}
	return strings.Join(parts, "\n")
}

// Last returns the content of the last message.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// check says what a real server would refuse.
func (r Request) check() error {
	if r.Method != http.MethodPost {
		return nil
	}
	if r.Model == "" {
		return errors.New("no model is given")
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return fmt.Errorf("content type %q isn't JSON", r.Header.Get("Content-Type"))
	}
	if strings.HasSuffix(r.Path, "/embeddings") {
		return r.checkInput()
	}
	return r.checkChat()
}

func (r Request) checkInput() error {
	if len(r.Input) == 0 || len(r.Input) > 2048 {
		return fmt.Errorf("%d inputs; want 1 to 2048", len(r.Input))
	}
	for i, text := range r.Input {
		if strings.TrimSpace(text) == "" {
			return fmt.Errorf("input %d is empty", i)
		}
	}
	if r.Dimensions < 0 {
		return fmt.Errorf("dimensions %d", r.Dimensions)
	}
	return nil
}

func (r Request) checkChat() error {
	if len(r.Messages) == 0 {
		return errors.New("no messages")
	}
	for i, m := range r.Messages {
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return fmt.Errorf("message %d has the role %q", i, m.Role)
		}
	}
	if err := checkTalk(r.Messages); err != nil {
		return err
	}
	if last := r.Messages[len(r.Messages)-1]; last.Content == "" && len(last.Images) == 0 {
		return errors.New("the last message is empty")
	}
	if err := checkTools(r.Tools); err != nil {
		return err
	}
	if r.MaxTokens != nil && r.MaxCompletionTokens != nil {
		return errors.New("max_tokens beside max_completion_tokens")
	}
	for _, n := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		if n != nil && *n < 1 {
			return fmt.Errorf("%d tokens at most", *n)
		}
	}
	if t := r.Temperature; t != nil && (*t < 0 || *t > 2) {
		return fmt.Errorf("temperature %g", *t)
	}
	if r.StreamOptions != nil && !r.Stream {
		return errors.New("stream_options without stream")
	}
	return nil
}

// Reply is how the server answers one chat call. The zero Reply is an empty answer that ends well. Streamed,
// it comes in the order of the fields; unstreamed as one JSON document.
type Reply struct {
	Hold <-chan struct{} // the reply begins when Hold is closed; nil: at once

	Events           []string // whole lines sent before all else: comments, error events, chunks of one's own
	ReasoningContent []string // thoughts as DeepSeek, vLLM and llama.cpp send them, a chunk each
	Reasoning        []string // thoughts as OpenRouter and Ollama send them
	Text             []string // chunks of the answer
	Tools            []ToolCall
	Pause            <-chan struct{} // what follows waits for Pause to be closed; nil: doesn't
	After            []string        // whole lines sent after the text
	Finish           string          // "stop", or "tool_calls" where there are some, if empty
	Cut              Cut
	CutAt            int // with CutBytes: how many bytes of the body are sent

	Status      int // 200 if 0
	Header      http.Header
	ContentType string // of the stream; text/event-stream if empty
	Body        string // if not empty, sent as it is instead of all of the above but Hold
}

// ToolCall is one that the model makes. Arguments are streamed in these pieces.
type ToolCall struct {
	ID, Name  string
	Arguments []string
}

// Cut is how a stream ends before its time.
type Cut int

const (
	Whole    Cut = iota // it doesn't
	NoFinish            // the body ends in an orderly way, with neither a finish reason nor [DONE]
	OnlyDone            // [DONE] comes without a finish reason
	NoDone              // the finish reason comes, [DONE] doesn't
	CutBytes            // the connection breaks after CutAt bytes of the body
	Reset               // the connection is reset before anything is sent
)

// Say returns a reply of text in these chunks.
func Say(chunks ...string) Reply { return Reply{Text: chunks} }

// Fail returns an error in OpenAI's form, such as Fail(400, "context_length_exceeded", "This model's maximum
// …").
func Fail(status int, code, message string) Reply {
	return Reply{
		Status: status, ContentType: "application/json",
		Body: marshal(map[string]any{"error": map[string]any{
			"message": message, "type": "invalid_request_error", "param": nil, "code": code,
		}}),
	}
}

// TooLong returns the refusal of a prompt that is longer than the model's window.
func TooLong() Reply {
	return Fail(http.StatusBadRequest, "context_length_exceeded",
		"This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.")
}

// RateLimited returns a 429 with Retry-After in seconds.
func RateLimited(after time.Duration) Reply {
	r := Fail(http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached")
	r.Header = http.Header{"Retry-After": {strconv.Itoa(int(after.Seconds()))}}
	return r
}

// RateLimitedUntil returns a 429 with Retry-After as an HTTP date.
func RateLimitedUntil(t time.Time) Reply {
	r := RateLimited(0)
	r.Header = http.Header{"Retry-After": {t.UTC().Format(http.TimeFormat)}}
	return r
}

// Page returns a page of HTML, as proxies answer.
func Page(status int) Reply {
	return Reply{
		Status: status, ContentType: "text/html; charset=utf-8",
		Body: "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body>data: {}</body></html>\n",
	}
}

// KeepAlive are n comments, each with the empty line that ends it.
func KeepAlive(n int) []string {
	return slices.Repeat([]string{": keep-alive", ""}, n)
}

// Empty is a chunk without choices, as some servers send at first.
const Empty = `data: {"id":"chatcmpl-0","object":"chat.completion.chunk","choices":[],"prompt_filter_results":[]}`

// ErrorEvents returns the ways in which servers report an error in mid-stream, with status 503.
func ErrorEvents() []string {
	return []string{
		`data: {"error":{"message":"overloaded","type":"server_error","code":503}}`,
		`data:{"error":{"message":"overloaded","type":"server_error","code":"503"}}`,
		`data: { "error" : { "message" : "overloaded", "code" : 503 } }`,
		`data: {"id":"x","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":503,"message":"overloaded"}}`,
		`data: {"error":"overloaded"}`,
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		`data: {"object":"error","message":"overloaded","type":"ServiceUnavailable","code":503}`,
		`data: {"type":"error","code":"server_error","message":"overloaded"}`,
		"event: error\ndata: {\"message\":\"overloaded\",\"code\":503}",
		"event: error\ndata: overloaded",
		`error: {"code":503,"message":"overloaded","type":"unavailable_error"}`,
		`{"error":{"message":"overloaded","type":"server_error","code":503}}`,
	}
}
