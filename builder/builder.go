// Package builder lays out what was recalled as a prompt.
//
// It is pure: no clock, no I/O, no context; the same input gives the same bytes. A prompt is never over its
// budget, whatever the input; text is never torn inside a grapheme; nothing that somebody wrote can pass for a
// heading, a speaker or an instruction; and what doesn't fit is left out whole, by priority, and reported.
package builder

import (
	"time"

	"hark/memory"
)

// The roles of a chat message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// ChatMessage is a message as chat models take it.
type ChatMessage struct {
	Role    string
	Content string
}

// Layout is how sections become messages.
type Layout string

const (
	LayoutSections Layout = "sections" // headings between "===", instructions as the system message
	LayoutPlain    Layout = "plain"    // headings with a colon, for small models
	LayoutChat     Layout = "chat"     // as sections, but the session as messages of its own
)

// Counter counts the tokens of a text.
type Counter interface {
	Count(text string) int
}

// Participant is somebody the context introduces.
type Participant struct {
	ID         memory.UserID
	Name       string
	LastActive time.Time // zero if unknown, which is left out
	Data       string    // what they told about themselves
	Main       bool      // a main participant: the asker, and whoever the question is about
}

// Item is a recalled message with its neighbours.
type Item struct {
	Relevance float64 // calibrated, in [0, 1]
	Channel   string  // the channel's name, if it isn't the one where the answer will be read
	Lines     []Line  // in order of time
	Hit       int     // the index in Lines of the message that was found
}

// Line is one message of an item.
type Line struct {
	Message memory.MessageID
	Author  memory.UserID
	Time    time.Time
	Content string
	Tokens  int // of Content, as the store counted them; 0 if unknown
	Starred bool
}

// Turn is one message of the session, or the question.
type Turn struct {
	Message memory.MessageID
	Speaker string // display name
	Role    string // RoleUser or RoleAssistant
	Author  memory.UserID
	Time    time.Time
	Content string
	Tokens  int // of Content, as the store counted them; 0 if unknown
}

// Input is what a prompt is built from.
type Input struct {
	Now          time.Time // in the guild's time zone
	Persona      string    // the admins' own words on who Hark is; empty for the default
	Summaries    []string  // of earlier sessions, best first
	Participants []Participant
	History      []Item // best first
	Session      []Turn // oldest first
	Query        Turn
}

// Shown is a message that is in the history section.
type Shown struct {
	Message  memory.MessageID
	Fraction float64 // of its content's characters that are there, in (0, 1]
	Number   int     // the n of its item's [n]; 0 without citations
}

// Prompt is what the model is sent.
type Prompt struct {
	Messages []ChatMessage
	Shown    []Shown            // in the order of the prompt
	Session  []memory.MessageID // of the turns that are in the prompt
	Report   Report
}

// Report tells what became of the input.
type Report struct {
	Sections  []SectionReport // in the prompt's order
	Tokens    int             // of all messages together, with their overhead; never above MaxTokens
	MaxTokens int
}

// SectionReport tells what became of one section.
type SectionReport struct {
	Type     string // "system_prompt", "previous_context", "participants", "history", "current_session", "current_query", "instruction"
	Tokens   int
	Floor    int // tokens
	Ceiling  int // tokens
	Included int // items
	Cut      int // of those included, how many were shortened
	Dropped  int // items left out
}
