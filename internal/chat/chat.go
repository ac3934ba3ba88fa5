// Package chat has the requests to a model and its replies, in a form that is independent of the server.
package chat

import (
	"context"
	"encoding/json"
)

// The roles of messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
	FromTool  = "tool"
)

// Message is one message of a conversation with a model.
type Message struct {
	Role    string
	Content string
	Images  []Image // shown with Content, in a user's message only
	Calls   []Call  // of tools, in an assistant's message only
	CallID  string  // of the call whose outcome this is, in a tool's message only
	Extra   Extra   // what the server put beside an assistant's message; it gets that back
}

// ImageTypes are what models with vision take.
var ImageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Image is a picture for a model with vision.
type Image struct {
	Type string // of its data, such as "image/png"
	Data []byte
}

// Tool is something that a model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // the JSON schema of an object
}

// Call is a tool's call by a model.
type Call struct {
	ID        string
	Name      string
	Arguments string // as the model wrote them: a JSON object, if it did well
	Extra     Extra  // what the server put beside the call; it gets that back
}

// Request is a request to a model.
type Request struct {
	Messages    []Message
	Tools       []Tool   // that it may call; none: it has to answer
	Headings    []string // lines of the prompt that no answer has: they are taken out
	Temperature *float64 // from 0 to 2; nil: as configured
	Brief       bool     // no thoughts are wanted: small talk, or a chore such as rewriting a question
	Tenant      uint64   // whose request it is: tenants take turns at a busy server
	MaxTokens   int      // of the answer, if less than is configured; 0: as configured
}

// Reply is a model's answer.
type Reply struct {
	// Text is what members may see: everything that was streamed. Exception: if the model closes a thought
	// that it never opened, the text before that is the thought, and isn't in Text.
	Text             string
	Calls            []Call // in the order in which the model made them
	Extra            Extra  // what the server put beside Text
	Model            string // that wrote it, by its server's name for it
	Instead          error  // why another wrote it than was asked first; nil if none did
	FinishReason     string // "stop", "tool_calls", or "length" where the longest answer ended it
	PromptTokens     int    // as the server counts; 0 if it didn't say
	CompletionTokens int
}

// Model is a language model.
type Model interface {
	Name() string
	// Chat passes what the model writes to delta, piece by piece, and returns all of it. With an error it
	// returns what came before. An error may have methods that say why: TooLong() (room, asked int, is bool)
	// that the prompt was too long, with the tokens that the model accepts and those it counted, 0 if
	// unknown; Loading() bool that the model is still being loaded; Crowded() bool that the server had too much
	// to write at once.
	Chat(ctx context.Context, r Request, delta func(string)) (Reply, error)
}
