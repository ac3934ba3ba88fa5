package memory

import "time"

// Prompt is what a model was sent for an answer, as it was sent. Unlike the rest of a Trace it holds what people said and
// what they are called, so that it is kept for a time only, apart from the numbers, and goes with any of it.
type Prompt struct {
	Built      time.Time // by the clock of whoever keeps it
	Messages   []PromptMessage
	Boundaries []Boundary // of the sections that are there, in order
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

// Use is how much of the model's window the prompt took with what was kept for the answer, from 0 to 1; 0 if the window isn't
// known.
func (t Trace) Use() float64 {
	if t.Window <= 0 {
		return 0
	}
	return float64(t.Tokens+t.Reserved) / float64(t.Window)
}

// NearlyFull is the use of a window from which on people are warned.
const NearlyFull = 0.8
