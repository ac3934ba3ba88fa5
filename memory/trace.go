package memory

import (
	"context"
	"fmt"
	"time"
)

// Trace is all that went into one answer. But for Prompt it holds ids and numbers, no text: what was said is in the
// messages it points to, and goes with them. A store gives Sources and Named each once and in order, with those that
// the answer has since something that it was made from was written anew, or by way of a summary.
type Trace struct {
	Guild    GuildID     `json:"guild"`
	Channel  ChannelID   `json:"channel"`
	Answer   MessageID   `json:"answer"`
	Parts    []MessageID `json:"parts,omitempty"` // further messages, where the answer didn't fit into one
	Question MessageID   `json:"question"`
	Asker    UserID      `json:"asker"`
	Model    string      `json:"model,omitempty"` // empty when the answer was extractive
	// the name of the mode whose instructions the model had; empty without a model
	Mode     string     `json:"mode,omitempty"`
	Recalled []TraceHit `json:"recalled"` // best first
	// Sources are the question and all that the model was shown, in the versions that it was shown.
	Sources []Source `json:"sources,omitempty"`
	// Named are those whom the prompt names, whether it is kept or not. A store gives the asker among them.
	Named    []UserID   `json:"named,omitempty"`
	Sections []TraceUse `json:"sections"` // in the prompt's order
	// Tokens are those of the whole prompt, MaxTokens what it might have had, Reserved those kept for the
	// answer, Window what the model can take in of both, 0 if that isn't known.
	Tokens    int    `json:"tokens,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Reserved  int    `json:"reserved,omitempty"`
	Window    int    `json:"window,omitempty"`
	Layout    string `json:"layout,omitempty"` // the prompt's form
	// Prompt is what the model was sent, where it is to be kept. Traces are read with it only where that is asked for.
	Prompt *Prompt `json:"-"`
	// Calls are those of tools that the model made, in order.
	Calls []TraceCall `json:"calls,omitempty"`
	// TextOnly says that vectors couldn't be searched, so that only full text found anything.
	TextOnly bool `json:"text_only,omitempty"`
	// HeldBack is how many of the messages that matter most to the question weren't used, since not everybody who can
	// read the answer may read them.
	HeldBack int           `json:"held_back,omitempty"`
	Search   time.Duration `json:"search"`
	Total    time.Duration `json:"total"`
}

// TraceHit is a message that was recalled.
type TraceHit struct {
	Channel   ChannelID `json:"channel"`
	Message   MessageID `json:"message"`
	Relevance float64   `json:"relevance"` // in [0, 1], kept in thousandths
	Why       []string  `json:"why"`
	Number    int       `json:"number,omitempty"` // the [n] it had in the prompt; 0 if it was dropped
	Cited     bool      `json:"cited,omitempty"`
	// Context marks a message that the model was shown, under a number of its own or not.
	Context bool `json:"context,omitempty"`
	// Edited is when the text that was used was last edited, in milliseconds since 1970; 0 if it never was.
	Edited int64 `json:"edited,omitempty"`
}

// TraceCall is a call of a tool, without what it was called with and what it told.
type TraceCall struct {
	// its name; "unknown" if there is no tool of the name that the model called
	Tool    string        `json:"tool"`
	Outcome string        `json:"outcome"`          // in a word or two, such as "ok" or "bad arguments"
	Round   int           `json:"round"`            // calls of one reply of the model have the same, from 1
	Shown   int           `json:"shown,omitempty"`  // messages that the model was shown
	Tokens  int           `json:"tokens,omitempty"` // of what the model was told
	Took    time.Duration `json:"took,omitempty"`
}

// TraceUse is what a section of the prompt used, in tokens, and what became of its items.
type TraceUse struct {
	Section  string `json:"section"`
	Tokens   int    `json:"tokens"`
	Floor    int    `json:"floor,omitempty"`
	Ceiling  int    `json:"ceiling,omitempty"`
	Included int    `json:"included,omitempty"`
	Cut      int    `json:"cut,omitempty"`     // of those included, the ones that aren't there in full
	Dropped  int    `json:"dropped,omitempty"` // items left out
	Why      string `json:"why,omitempty"`     // what kept them out or had them cut, in a word
}

// TraceQuery says which traces are asked for. What is zero doesn't count.
type TraceQuery struct {
	// Channel and Answer name one answer by the id of any of its messages.
	Channel ChannelID
	Answer  MessageID
	// Answers name some of Channel, likewise. Of these only the ids of their messages and questions are told, and
	// Sources without their versions.
	Answers []MessageID
	Before  MessageID // those of answers with smaller ids
	Asker   UserID    // those of answers to their questions
	Limit   int
	Prompts bool // with what the model was sent, where that is kept
}

// TraceOf is the trace of an answer, by the id of any of its messages; ErrNotFound if none was kept.
func TraceOf(ctx context.Context, store interface {
	Traces(ctx context.Context, q TraceQuery) ([]Trace, error)
}, channel ChannelID, answer MessageID) (Trace, error) {
	all, err := store.Traces(ctx, TraceQuery{Channel: channel, Answer: answer})
	if err != nil {
		return Trace{}, err
	}
	if len(all) == 0 {
		return Trace{}, fmt.Errorf("trace of answer %d: %w", answer, ErrNotFound)
	}
	return all[0], nil
}

// Use is how much of the model's window the prompt took with what was kept for the answer, from 0 to 1; 0 if
// the window isn't known.
func (t Trace) Use() float64 {
	if t.Window <= 0 {
		return 0
	}
	return float64(t.Tokens+t.Reserved) / float64(t.Window)
}

// NearlyFull is the use of a window from which on people are warned.
const NearlyFull = 0.8
