package memory

import "time"

// Prompt is what a model was sent for an answer, as it was sent. Unlike the rest of a Trace it holds what
// people said and what they are called, so that it is kept for a time only, apart from the numbers, and goes
// with any of it.
type Prompt struct {
	Built      time.Time       `json:"-"` // by the clock of whoever keeps it
	Messages   []PromptMessage `json:"messages"`
	Boundaries []Boundary      `json:"boundaries"` // of the sections that are there, in order
}

// PromptMessage is one message to a model.
type PromptMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Boundary is where a section stands: the bytes from Start to End of a message's content.
type Boundary struct {
	Section string `json:"section"`
	Message int    `json:"message"` // the index in Prompt.Messages
	Start   int    `json:"start"`
	End     int    `json:"end"`
}
