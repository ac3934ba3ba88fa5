package builder

import (
	"strings"
	"time"

	"hark/memory"
)

// The roles of a prompt's messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// MessageOverhead is the tokens that a chat model adds to each message (OpenAI's: three and one), and
// promptOverhead those that begin its answer (three).
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
	Turns    []int    // the indices in Input.Session of the turns shown, in order
	// Condensed is set if Input.Condensed is included, at least in part.
	Condensed bool
	Report    Report

	Boundaries []Boundary // of the sections shown, in order
	Spans      []Span     // of the people, lines, lore, summaries and turns shown, in order

	layout Layout
}

// Number is a [n] in a prompt.
type Number struct {
	N       int              // from 1
	Item    int              // the index in Input.History
	Message memory.MessageID // the hit
}

// Shown is a history line in a prompt.
type Shown struct {
	Item     int // the index in Input.History
	Message  memory.MessageID
	Fraction float64 // of its content, in characters: 1 unless it was cut
}

// Report is the use of a prompt's budget. Sections' tokens are sums of their parts, a few percent above the
// real count. So is Tokens if the prompt has fewer bytes than MaxTokens; otherwise it is exact.
type Report struct {
	Sections  []SectionReport // in the order of the prompt
	Tokens    int             // of all messages with their overhead, at most MaxTokens
	MaxTokens int
	Window    int // see Options
	Answer    int // see Options
}

// SectionReport is a section's use of the budget, in tokens.
type SectionReport struct {
	Type     SectionType
	Title    string
	Tokens   int // used, its title included
	Floor    int // see Limits
	Ceiling  int
	Included int // items in the prompt
	Cut      int // of those, incomplete ones
	Dropped  int // items left out
	Why      Why // reason for the first cut or drop; empty if none
}

// Why is the reason that something was cut or left out.
type Why string

// Reasons.
const (
	WhyCeiling    Why = "ceiling"    // the section's ceiling
	WhyBudget     Why = "budget"     // the prompt's budget, part of which is reserved for other sections
	WhyCharacters Why = "characters" // Options.MaxChars
	WhyCount      Why = "count"      // LayoutPlain limits the number
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
	SectionFiles           SectionType = "files" // attached to the query
	SectionInstruction     SectionType = "instruction"
)

// String returns the whole prompt, system message first. In the chat layout each message follows a line with
// its role.
func (p Prompt) String() string { return p.layout.Join(p.Messages) }

// Input is the content of a prompt. Texts are as members wrote them: the builder escapes whatever could pass
// for the prompt's own structure.
type Input struct {
	Now     time.Time // in the guild's zone, used for all times
	Persona string    // who answers, in the admin's words; empty: the layout's own sentence
	Mode    Mode      // an unknown mode counts as ModeGeneral

	PreviousContext []Earlier     // oldest first; the most relevant are kept, of equals the newest
	Participants    []Participant // in display order; the first are kept
	History         []Item        // in any order; shown and kept by relevance, equals as given
	Lore            []string      // the first are kept
	Condensed       string        // summary of the session before Session; empty: none
	Session         []Turn        // oldest first; the newest are kept
	Query           Turn          // the question
	Replied         Replied       // what it replies to
	// Channel and Title are of the thread in which it is asked; zero: it isn't asked in a thread.
	Channel string
	Title   memory.Title
	Files   []File // attached to Query; the first are kept

	MaxTokens   int      // a lower budget for this prompt, but at least the layout's minimum; 0: Options'
	Tools       []string // names of the model's tools, for the instructions
	FirstNumber int      // the [n] of the first history item; 0: 1
}

// Earlier is a summary of an earlier session.
type Earlier struct {
	Text      string
	Time      time.Time // of the session; zero: left out
	Relevance float64   // only its order counts
}

// Participant is a person introduced in the prompt.
type Participant struct {
	ID         memory.UserID
	Name       string
	LastActive time.Time // zero: left out
	Data       string    // known facts; empty: left out
	Main       bool      // the asker, and whoever the question is about
}

// Item is a recalled message with the neighbours needed to understand it.
type Item struct {
	Relevance float64 // in [0, 1], calibrated
	Channel   string  // its name, if it isn't the answer's channel
	// Title is that of the thread in Channel where it was said, if it isn't the answer's.
	Title memory.Title
	Lines []Line // in order of time
	Hit   int    // the index in Lines of the hit
}

// isElsewhere reports whether item names where it was said.
func (item *Item) isElsewhere() bool { return item.Channel != "" || item.Title.Name != "" }

// Line is a message of an item.
type Line struct {
	Message memory.MessageID
	Author  memory.UserID
	Name    string // of the author, for LayoutPlain if no participant has it; empty: unknown
	Time    time.Time
	Content string
	Tokens  int // stored o200k count of Content; 0: unknown
	Starred bool
	ReplyTo string // the name of whom it replies to; empty: nobody, or unknown
}

// Turn is a message of the current session, or of earlier ones.
type Turn struct {
	Speaker string // the name; empty: User or Assistant
	Role    string // RoleUser or RoleAssistant; empty: RoleUser
	Author  memory.UserID
	Time    time.Time // zero: left out
	Content string
	Tokens  int    // stored o200k count of Content; 0: unknown
	Replied bool   // the question is a reply to it; kept as if it were the newest
	ReplyTo string // the name of whom it replies to; empty: nobody, or unknown. Only members' turns show it
}

// Replied is the message that the question replies to. Its beginning stands before the question.
type Replied struct {
	Name string // of its author; empty: the question is no reply
	Text string
}

// Layout is the form of a prompt.
type Layout string

const (
	// LayoutSections has a system message and one user message with all sections.
	LayoutSections Layout = "sections"
	// LayoutPlain is short and without marks, for small models.
	LayoutPlain Layout = "plain"
	// LayoutChat is LayoutSections with each of the session's turns as a message.
	LayoutChat Layout = "chat"
)

// Boundary is a section's place in a prompt: the bytes from Start to End of a message's content, with its
// title and without the empty lines around it. The heading of recalled data belongs to SectionPreviousContext.
// In the chat layout each turn is a section.
type Boundary struct {
	Type       SectionType
	Message    int // the index in Prompt.Messages
	Start, End int
}

// Span is the place of an item of the input in a prompt: the bytes from Start to End of a message's content.
type Span struct {
	Type       SectionType
	Item       int // the index in the section's list in Input
	Line       int // the index in a history item's Lines
	Message    int // the index in Prompt.Messages
	Start, End int
}

// File is a text or an image attached to the question. Images go to the model beside the prompt.
type File struct {
	Name  string
	Text  string // contents; empty for an image
	Image int    // tokens of the image; 0 for a text
}

// Join returns messages of this layout as one text, as Prompt.String does.
func (l Layout) Join(messages []ChatMessage) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if l == LayoutChat {
			b.WriteString("[" + m.Role + "]\n")
		}
		b.WriteString(m.Content)
	}
	return b.String()
}

// Counter counts the tokens of a text. It must be safe for concurrent use. A text has no more tokens than
// bytes.
type Counter interface {
	Count(text string) int
	// Stored returns Count of a text by its stored o200k count; 0 if the text must be counted.
	Stored(text string, stored int) int
}
