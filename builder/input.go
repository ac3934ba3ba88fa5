package builder

import (
	"time"

	"hark/memory"
)

// Input is what a prompt is made of. Content, names and data are as members wrote them: the builder
// neutralises what could be taken for the prompt's own structure.
type Input struct {
	Now     time.Time // in the guild's zone, which all times are shown in
	Persona string    // who answers, in the admin's words; empty: the layout's own sentence
	Mode    Mode      // what kind of work the question asks for; one that isn't Known is ModeGeneral

	// summaries of earlier sessions, oldest first: the most relevant are kept, of equals the newest
	PreviousContext []Earlier
	Participants    []Participant // in the order they are shown: the first are kept
	History         []Item        // in any order: shown and kept by relevance, equals as given
	Lore            []string      // what the guild was told to remember: the first are kept
	Condensed       string        // what was said in the session before Session, summed up; empty: nothing was
	Session         []Turn        // oldest first: the newest are kept
	Query           Turn          // the question
	Files           []File        // that came with it: the first are kept

	// MaxTokens is a smaller budget than Options.MaxTokens for this prompt alone; 0: none. Below the least that the
	// layout needs it is that.
	MaxTokens int
	// Tools are the names of the tools that the model may call: the instructions speak of them.
	Tools []string
	// FirstNumber is the [n] of the first item of the history; 0: 1.
	FirstNumber int
}

// Earlier is a summary of an earlier session.
type Earlier struct {
	Text      string
	Time      time.Time // when that was; zero: left out
	Relevance float64   // only its order counts
}

// Participant is somebody the prompt introduces.
type Participant struct {
	ID         memory.UserID
	Name       string
	LastActive time.Time // zero: left out
	Data       string    // what is known about them; empty: left out
	Main       bool      // the asker, and whoever the question is about
}

// Item is a recalled message with the neighbours that make it understandable.
type Item struct {
	Relevance float64 // in [0, 1], calibrated
	Channel   string  // its name, where it isn't the one that the answer is read in
	Lines     []Line  // in order of time
	Hit       int     // the index in Lines of the message that was found
}

// Line is a message of an item.
type Line struct {
	Message memory.MessageID
	Author  memory.UserID
	Time    time.Time
	Content string
	Tokens  int // of Content by o200k, as stored with it; 0: it is counted
	Starred bool
}

// Turn is what somebody says at a time in the session going on, or said before it.
type Turn struct {
	Speaker string // the name; empty: User or Assistant
	Role    string // RoleUser or RoleAssistant; empty: RoleUser
	Author  memory.UserID
	Time    time.Time // zero: left out
	Content string
	Tokens  int  // of Content by o200k, as stored with it; 0: it is counted
	Replied bool // the question is a reply to it: kept as if it were the newest
}
