package llmtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	MaxTokens           *int     `json:"max_tokens"`
	MaxCompletionTokens *int     `json:"max_completion_tokens"`
	Temperature         *float64 `json:"temperature"`
	Tools               []tool   `json:"tools"`

	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions"`
}

// Prompt is the content of all messages, a line feed between them.
func (r Request) Prompt() string {
	parts := make([]string, len(r.Messages))
	for i, m := range r.Messages {
		parts[i] = m.Content
	}
	return strings.Join(parts, "\n")
}

// Last is the content of the last message.
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
