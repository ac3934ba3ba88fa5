package memory

import "time"

// Prompt is what was sent to a model for an answer. Unlike the rest of a Trace it holds text and names of
// people, so it is kept separately and for a limited time, and goes when any of its contents goes.
type Prompt struct {
	Built      time.Time       `json:"-"` // by the caller's clock
	Messages   []PromptMessage `json:"messages"`
	Boundaries []Boundary      `json:"boundaries"` // of the sections in it, in order
}

// PromptMessage is one message to a model.
type PromptMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Boundary is the place of a section: the bytes from Start to End of a message's content.
type Boundary struct {
	Section string `json:"section"`
	Message int    `json:"message"` // the index in Prompt.Messages
	Start   int    `json:"start"`
	End     int    `json:"end"`
}
