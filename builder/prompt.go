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

// MessageOverhead is the tokens that a chat model adds to each message, and promptOverhead those that begin
// its answer. OpenAI's models add three and one, and three.
const (
	MessageOverhead = 4
	promptOverhead  = 3
)

// ChatMessage is one message to a model.
type ChatMessage struct {
	Role    string
	Content string
}

// Prompt is the input of a model.
type Prompt struct {
	Messages []ChatMessage
	Numbers  []Number // of the history items shown, in order; none without Options.Citations
	Shown    []Shown  // the history's lines, in order
	Turns    []int    // the indices in Input.Session of the turns that are in it, in order
	// Condensed is set if Input.Condensed is included, at least in part.
	Condensed bool
	Report    Report

	Boundaries []Boundary // of the sections that are there, in order

	layout Layout
}

// Number is what a [n] of a prompt refers to.
type Number struct {
	N       int              // from 1
	Item    int              // the index in Input.History
	Message memory.MessageID // the one that was found
}

// Shown is a history line in a prompt.
type Shown struct {
	Item     int // the index in Input.History
	Message  memory.MessageID
	Fraction float64 // of its content, in characters: 1 unless it was cut
}

// Report is the use of a prompt's budget. Sections' tokens are sums of their parts, a few percent above the
// real count. So is Tokens if the prompt has fewer bytes than MaxTokens and needs no count; otherwise it is
// exact.
type Report struct {
	Sections  []SectionReport // in the order of the prompt
	Tokens    int             // of all messages with their overhead, at most MaxTokens; see below
	MaxTokens int
	Window    int // of the model, as Options say
	Answer    int // of that, what is kept free for the answer
}

// SectionReport is a section's use of the budget, in tokens, and the fate of its items.
type SectionReport struct {
	Type     SectionType
	Title    string
	Tokens   int // used, its title included
	Floor    int // reserved before sections of higher priority get more than theirs
	Ceiling  int
	Included int // items in the prompt
	Cut      int // of those, incomplete ones
	Dropped  int // items left out
	Why      Why // what the first of those lacked; empty if nothing was cut or left out
}

// Why is the reason that something was left out of a prompt.
type Why string

// Reasons.
const (
	WhyCeiling    Why = "ceiling"    // the section had all that it may have
	WhyBudget     Why = "budget"     // the prompt's budget, part of which is reserved for other sections
	WhyCharacters Why = "characters" // Options.MaxChars
	WhyCount      Why = "count"      // LayoutPlain shows only so many
	WhyMode       Why = "mode"       // the section isn't shown in this mode
)

// SectionType is the content of a section.
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

// String returns the whole prompt as the model gets it, system message first. In the chat layout each message
// follows a line with its role.
func (p Prompt) String() string { return p.layout.Join(p.Messages) }

// Input is the content of a prompt. Content, names and data are as members wrote them: the builder escapes
// what could pass for the prompt's own structure.
type Input struct {
	Now     time.Time // in the guild's zone, used for all times
	Persona string    // who answers, in the admin's words; empty: the layout's own sentence
	Mode    Mode      // kind of task; an unknown mode counts as ModeGeneral

	// summaries of earlier sessions, oldest first: the most relevant are kept, of equals the newest
	PreviousContext []Earlier
	Participants    []Participant // in the order they are shown: the first are kept
	History         []Item        // in any order: shown and kept by relevance, equals as given
	Lore            []string      // what the guild was told to remember: the first are kept
	Condensed       string        // what was said in the session before Session, summed up; empty: nothing was
	Session         []Turn        // oldest first: the newest are kept
	Query           Turn          // the question
	Files           []File        // that came with it: the first are kept

	// MaxTokens lowers the budget for this prompt; 0: don't. It is at least the layout's minimum.
	MaxTokens int
	// Tools are the names of the model's tools, for the instructions.
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

// Participant is a person introduced in the prompt.
type Participant struct {
	ID         memory.UserID
	Name       string
	LastActive time.Time // zero: left out
	Data       string    // what is known about them; empty: left out
	Main       bool      // the asker, and whoever the question is about
}

// Item is a recalled message with the neighbours needed to understand it.
type Item struct {
	Relevance float64 // in [0, 1], calibrated
	Channel   string  // its name, if it isn't the answer's channel
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

// Turn is a message of the current session, or of earlier ones.
type Turn struct {
	Speaker string // the name; empty: User or Assistant
	Role    string // RoleUser or RoleAssistant; empty: RoleUser
	Author  memory.UserID
	Time    time.Time // zero: left out
	Content string
	Tokens  int  // of Content by o200k, as stored with it; 0: it is counted
	Replied bool // the question is a reply to it: kept as if it were the newest
}
