package builder

import (
	"time"

	"hark/memory"
)

// The roles of a prompt's messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// MessageOverhead is what a chat model adds to each message, and promptOverhead what it adds to begin its
// answer, in tokens. OpenAI's models add three and one, and three.
const (
	MessageOverhead = 4
	promptOverhead  = 3
)

// ChatMessage is one message to a model.
type ChatMessage struct {
	Role    string
	Content string
}

// Prompt is what a model gets.
type Prompt struct {
	Messages []ChatMessage
	Numbers  []Number // of the history items shown, in order; none without Options.Citations
	Shown    []Shown  // the history's lines, in order
	Turns    []int    // the indices in Input.Session of the turns that are in it, in order
	// Condensed says that Input.Condensed is in it, whole or in part.
	Condensed bool
	Report    Report

	Boundaries []Boundary // of the sections that are there, in order

	layout Layout
}

// Number says what a [n] of a prompt stands for.
type Number struct {
	N       int              // from 1
	Item    int              // the index in Input.History
	Message memory.MessageID // the one that was found
}

// Shown is a history line that is in a prompt.
type Shown struct {
	Item     int // the index in Input.History
	Message  memory.MessageID
	Fraction float64 // of its content, in characters: 1 unless it was cut
}

// Report says what a prompt's budget went to. The tokens of sections are sums of their parts, a few in a
// hundred above what the sections have. So is Tokens where a prompt has fewer bytes than MaxTokens, so that
// it needn't be counted; else it is the exact count.
type Report struct {
	Sections  []SectionReport // in the order of the prompt
	Tokens    int             // of all messages with their overhead, at most MaxTokens; see below
	MaxTokens int
	Window    int // of the model, as Options say
	Answer    int // of that, what is kept free for the answer
}

// SectionReport is a section's part of the budget, in tokens, and what became of its items.
type SectionReport struct {
	Type     SectionType
	Title    string
	Tokens   int // used, its title included
	Floor    int // kept free for it before sections of higher priority may have more than theirs
	Ceiling  int
	Included int // items in the prompt
	Cut      int // of those, the ones that aren't there in full
	Dropped  int // items left out
	Why      Why // what the first of those lacked; empty if nothing was cut or left out
}

// Why says what kept something out of a prompt.
type Why string

// What may keep something out.
const (
	WhyCeiling    Why = "ceiling"    // the section had all that it may have
	WhyBudget     Why = "budget"     // the prompt's, of which a part is kept for other sections
	WhyCharacters Why = "characters" // Options.MaxChars
	WhyCount      Why = "count"      // LayoutPlain shows only so many
	WhyMode       Why = "mode"       // the section isn't shown in this mode
)

// SectionType says what a section holds.
type SectionType string

// The sections, in the order of the prompt.
const (
	SectionSystem          SectionType = "system_prompt"
	SectionPreviousContext SectionType = "previous_context"
	SectionParticipants    SectionType = "participants"
	SectionHistory         SectionType = "history"
	SectionLore            SectionType = "lore"
	SectionSession         SectionType = "current_session"
	SectionQuery           SectionType = "current_query"
	SectionFiles           SectionType = "files" // that came with the query, if any did
	SectionInstruction     SectionType = "instruction"
)

// String is the whole prompt as the model gets it, the system message first. In the chat layout a line with
// its role stands above each message.
func (p Prompt) String() string { return p.layout.Join(p.Messages) }

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

	// MaxTokens is a smaller budget than Options.MaxTokens for this prompt alone; 0: none. Below the least
	// that the layout needs it is that.
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
	Name    string // of the author, for LayoutPlain, where no participant tells it; empty: not known
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
