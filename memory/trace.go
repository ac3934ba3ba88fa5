package memory

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Trace describes how an answer was made. Except for Prompt it holds ids and numbers, no text: the text is in
// the messages that it points to, and goes with them. A store returns Sources and Named in order, each once,
// including inherited ones.
type Trace struct {
	Guild    GuildID     `json:"guild"`
	Channel  ChannelID   `json:"channel"`
	Answer   MessageID   `json:"answer"`
	Parts    []MessageID `json:"parts,omitempty"` // further messages of a long answer
	Question MessageID   `json:"question"`
	Asker    UserID      `json:"asker"`
	Model    string      `json:"model,omitempty"` // empty: extractive answer
	Origin   Origin      `json:"origin,omitzero"`
	// of the instructions; empty without a model
	Mode     string     `json:"mode,omitempty"`
	Recalled []TraceHit `json:"recalled"` // best first
	// Sources are the question and everything shown to the model, in the versions shown.
	Sources []Source `json:"sources,omitempty"`
	// Named are the people whom the prompt names, even if it isn't kept. A store adds the asker.
	Named    []UserID   `json:"named,omitempty"`
	Sections []TraceUse `json:"sections"` // in the prompt's order
	// Tokens counts the whole prompt, MaxTokens is its limit, Reserved is kept free for the answer, and
	// Window is the model's limit for both, 0 if unknown.
	Tokens    int    `json:"tokens,omitempty"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	Reserved  int    `json:"reserved,omitempty"`
	Window    int    `json:"window,omitempty"`
	Layout    string `json:"layout,omitempty"` // the prompt's form
	// Prompt is what was sent to the model, if kept. Traces returns it only if asked for.
	Prompt *Prompt `json:"-"`
	// Calls are the model's tool calls, in order.
	Calls []TraceCall `json:"calls,omitempty"`
	// TextOnly means that vectors couldn't be searched, only full text.
	TextOnly bool `json:"text_only,omitempty"`
	// HeldBack counts the best-matching messages that weren't used because some readers of the answer may not
	// read them.
	HeldBack int `json:"held_back,omitempty"`
	// Spent is how many tokens models read and wrote for it, over all calls.
	Spent int `json:"spent,omitempty"`
	// Search is how long the search took. The others are since it began: when the prompt was built, when the
	// model began to write (0: none did), and when all was done.
	Search time.Duration `json:"search"`
	Built  time.Duration `json:"built,omitempty"`
	Began  time.Duration `json:"began,omitempty"`
	Total  time.Duration `json:"total"`
}

// TraceHit is a recalled message.
type TraceHit struct {
	Channel   ChannelID `json:"channel"`
	Message   MessageID `json:"message"`
	Relevance float64   `json:"relevance"` // in [0, 1], kept in thousandths
	Why       []string  `json:"why"`
	Number    int       `json:"number,omitempty"` // its [n] in the prompt; 0: dropped
	Cited     bool      `json:"cited,omitempty"`
	// Context marks a message that the model saw, numbered or not.
	Context bool `json:"context,omitempty"`
	// Edited is when the used text was last edited, in milliseconds since 1970; 0: never.
	Edited int64 `json:"edited,omitempty"`
}

// TraceCall is a tool call, without its arguments and result.
type TraceCall struct {
	// "unknown" if the model called a tool that doesn't exist
	Tool    string        `json:"tool"`
	Outcome string        `json:"outcome"`          // in a word or two, such as "ok" or "bad arguments"
	Round   int           `json:"round"`            // from 1; calls in one reply of the model share it
	Shown   int           `json:"shown,omitempty"`  // messages shown to the model
	Tokens  int           `json:"tokens,omitempty"` // of the result
	Took    time.Duration `json:"took,omitempty"`
}

// TraceUse is what a section of the prompt used, in tokens, and what happened to its items.
type TraceUse struct {
	Section  string `json:"section"`
	Tokens   int    `json:"tokens"`
	Floor    int    `json:"floor,omitempty"`
	Ceiling  int    `json:"ceiling,omitempty"`
	Included int    `json:"included,omitempty"`
	Cut      int    `json:"cut,omitempty"`     // included items that were cut
	Dropped  int    `json:"dropped,omitempty"` // items left out
	Why      string `json:"why,omitempty"`     // reason for cutting or dropping, in a word
}

// TraceQuery selects the traces that match every field that is set.
type TraceQuery struct {
	Guilds     []GuildID // in one of these
	Channel    ChannelID
	Asker      UserID
	Model      string    // written by it
	Generated  bool      // written by any model
	Extractive bool      // written without a model
	Before     MessageID // answers with smaller ids
	// Answer selects one answer of Channel by the id of any of its messages. The fields above don't restrict it.
	Answer MessageID
	// Answers selects several answers of Channel likewise. Their traces have only the ids of messages and
	// questions, and Sources without Repeats.
	Answers []MessageID
	Limit   int  // 0: all
	Prompts bool // with prompts, if kept
}

// TraceOf returns the trace of an answer by the id of any of its messages; ErrNotFound if none was kept.
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

// Use returns the share of the model's window that the prompt and the room for the answer take; 0 if the
// window is unknown.
func (t Trace) Use() float64 {
	if t.Window <= 0 {
		return 0
	}
	return float64(t.Tokens+t.Reserved) / float64(t.Window)
}

// NearlyFull is the Use from which people are warned.
const NearlyFull = 0.8

// Prompt is what was sent to a model for an answer. Unlike the rest of a Trace it holds text and names, so it
// is kept separately and for a limited time, and goes when any of its contents goes.
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

// IDsOf returns the ids of t's sources of a kind.
func (t Trace) IDsOf(kind SourceKind) (ids []int64) {
	for _, s := range t.Sources {
		if s.Kind == kind {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// WithSources returns t with further sources, each once.
func (t Trace) WithSources(further ...Source) Trace {
	t.Sources = slices.Clone(t.Sources)
	for _, s := range further {
		i := slices.IndexFunc(t.Sources, func(o Source) bool {
			return o.Kind == s.Kind && o.Channel == s.Channel && o.ID == s.ID
		})
		if i < 0 {
			t.Sources = append(t.Sources, s)
		} else {
			t.Sources[i].Repeats = t.Sources[i].Repeats || s.Repeats
		}
	}
	return t
}
