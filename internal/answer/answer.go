// Package answer turns a question into an answer: it recalls what every reader of the answer may read, builds the
// prompt, asks the model, and records how the answer was made. It knows nothing of Discord.
//
// Without a model the answer quotes what was recalled. Begin with Engine.Answer; the files follow a question:
// recall, session, search, turn, revalidate, cite, record. What may be used at all is in readable_scope.go,
// consent.go and answer_audience.go.
package answer

import (
	"context"
	"slices"
	"sync"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/memory"
	"hark/search"
)

// Question is a question to Hark.
type Question struct {
	ID       memory.MessageID // of the message that asks; 0: none does, as for a slash command
	Guild    memory.GuildID
	Channel  memory.ChannelID // where the answer will be read
	Asker    memory.UserID
	Name     string // the asker's
	Text     string // without the mention of Hark; empty: the message replied to is the question
	Mentions []memory.UserID
	ReplyTo  memory.MessageID
	Replied  *Replied  // the message of ReplyTo, if that may be used and isn't logged
	Edited   time.Time // of the message, in the version that is answered; zero: never
	Now      time.Time
	// Session is what was said in the channel before, oldest first, where nothing is logged; nil: read the log. It
	// is neither recalled nor kept.
	Session []memory.Message
	// SessionStands, if not nil, reports whether Session's messages are still there unchanged.
	SessionStands func() bool
	// WaitReady, if not nil, waits until it is known who may read what in Guild.
	WaitReady func(context.Context) error
	// Attended returns the first message of a channel that all who can read the channel could read when it was
	// sent. Where not all may read its past, earlier messages aren't used. nil: unknown. See search.Attendance.
	Attended func(*memory.Guild, memory.ChannelID) memory.MessageID
	// RoleSets returns the sets of roles that members of a guild have; nil: not all are known. See
	// search.MemberRoles.
	RoleSets func(*memory.Guild) *search.RoleSets
	// Files came with the question and the message that it replies to. Their contents are neither recalled nor
	// kept.
	Files []File
	// Using, if not nil, is called before each tool call of the model.
	Using func(tool string)
	// Agree asks the asker whether a tool that isn't read-only may run, and waits for the answer; nil: nobody can
	// be asked, and such tools aren't offered.
	Agree func(context.Context, ToolRequest) Consent
	// quoted is set during an answer if Text is that of the message replied to.
	quoted bool
	// fetched are Files during an answer.
	fetched *attachments
	// OnlyAsker: nobody else will see the answer.
	OnlyAsker bool
	// Roles are the asker's, if Discord sent them; else nil. With OnlyAsker they decide what may be used; otherwise they
	// only disprove what admins stated of roles.
	Roles []memory.RoleID
	// Operator is set at the command line: the operator may read what Discord hasn't placed.
	Operator bool
	// Everywhere lets the operator's question reach all guilds, without others' direct messages.
	Everywhere bool
	// Confirms is set with Operator if the asker can agree to proposals; else none are made.
	Confirms bool
	// Proxied is set if a webhook asks for somebody, who can't agree to anything.
	Proxied bool
	// Filter narrows down what is recalled.
	Filter Filter
	// NoModel has the answer quote, and say that no tokens are left.
	NoModel bool
	// Mode is empty for the channel's mode, or an inferred one.
	Mode builder.Mode
	// Layout of the prompt; empty: as configured.
	Layout builder.Layout
	// Local keeps the text from remote servers in the search.
	Local bool
	// Limit bounds the hits; 0 means search.DefaultLimit.
	Limit int
}

// Replied is a message that a question replies to and that isn't logged, as a bot's. It is shown for one answer only.
type Replied struct {
	memory.Message
	Name string // its author's
}

// File is an attachment that the model may be shown.
type File struct {
	Name        string
	Description string           // what its sender wrote about it
	Type        string           // as its sender says, such as "image/png"
	Size        int              // in bytes, as its sender says; 0: not known
	Message     memory.MessageID // that it came with; 0: the question
	// Load fetches its data, of at most so many bytes. It is called once, during the search. Its errors are
	// ErrFileGone, ErrFileTooLarge, or anything else. nil: only the name is known.
	Load func(ctx context.Context, most int) ([]byte, error)
}

// Answer is an answer to a Question.
type Answer struct {
	Text    string   // Markdown with [n] where it cites source n; of any length
	Sources []Source // those that Text cites, by number
	Model   string   // that wrote it; empty: the answer is extractive
	Cut     bool     // the model stopped in the middle, because it had written as much as it may
	// These say why the model didn't write the answer, why another model did, why the prompt was made smaller, why
	// the reranker's order is missing, and how the first tool failed. Log them; don't show them. nil: it didn't
	// happen.
	ModelError     error
	FallbackReason error
	Shortened      error
	Unranked       error
	ToolFailed     error
	Trace          memory.Trace // to be logged as memory.Answered once the sent answer has an id
	// Records are the calls made for it, in order, to be logged with it.
	Records []memory.Record
	// Ran are the tools of other programs that ran for it, with their servers' names.
	Ran []string
	// Proposals are what the model would have remembered.
	Proposals []Proposal
	Usage     Usage
}

// Usage is what an answer took of models, over all calls.
type Usage = tools.Usage

// ToolRequest asks whether a tool may run, and Consent is the answer.
type (
	ToolRequest = tools.Request
	Consent     = tools.Consent
)

// Unless the asker Agreed, the tool doesn't run.
const (
	Unanswered = tools.Unanswered
	Refused    = tools.Refused
	NotAsked   = tools.NotAsked
	Agreed     = tools.Agreed
	TooLong    = tools.TooLong
)

// Proposal is lore that the model proposes. It is kept only if the asker agrees.
type Proposal struct {
	Lore memory.Lore // without an id, a time and who said it
}

// Source is a message that an answer cites.
type Source struct {
	Number  int // the n of [n]
	Guild   memory.GuildID
	Channel memory.ChannelID
	Message memory.MessageID
	Author  string // display name
	Place   string // the channel's name, without #; for a thread after its parent's: "help › VPN does not connect"
	Time    time.Time
	// Unplaced is set where Discord is known to have no message to jump to.
	Unplaced bool
	// Forwarded says that Author forwarded the message, and the readers may not know who wrote it.
	Forwarded bool
	// Original is where the readers can read what was forwarded: Author, Place and Time are its. Zero: nowhere else.
	Original memory.MessageRef
}

// By returns who wrote the message, or who forwarded it.
func (s Source) By() string {
	if s.Forwarded {
		return "forwarded by " + s.Author
	}
	return s.Author
}

// JumpTo returns the message to link to.
func (s Source) JumpTo() memory.MessageRef {
	if s.Original.Message != 0 {
		return s.Original
	}
	return memory.MessageRef{Channel: s.Channel, Message: s.Message}
}

// Recalled is what would go into an answer, for /context and "hark context".
type Recalled struct {
	Result search.Result
	Left   []search.Hit // found, but too weak for Result
	Prompt builder.Prompt
	// Earlier are the summaries considered for the prompt, best first.
	Earlier []search.SummaryHit
	// Condensed is the condensed part of the session, if it is in the prompt.
	Condensed *memory.Condensed
	Mode      Mode
	// Settings are those that hold where it was asked.
	Settings Settings
	// Parts are the people, lines, lore, summaries and turns of Prompt, in order.
	Parts []Part
	// HeldBack is as in a memory.Trace, for the operator's questions.
	HeldBack int
	Took     time.Duration // of the search
	Usage    Usage         // of rewriting the question
}

// Part is a part of a prompt: the bytes from Start to End of a message's content.
type Part struct {
	Section    builder.SectionType
	Message    int // the index in Prompt.Messages
	Start, End int
	Source     memory.Source // what it tells, without a version; empty for a person
	User       memory.UserID // the person that it introduces; else 0
	Guild      memory.GuildID
}

// Filter narrows down what is recalled. It never widens what may be read.
type Filter struct {
	Since, Until time.Time            // from Since on, and before Until; zero: without a bound
	From         []memory.UserID      // only their messages; empty: anybody's
	In           []memory.ChannelID   // only these channels and their threads; empty: all
	Summaries    search.SummaryFilter // only these summaries; messages are recalled all the same
}

// narrow filters scope; channels are those of its guilds.
func (f Filter) narrow(scope memory.Scope, channels map[memory.ChannelID]memory.Channel) memory.Scope {
	scope.Since = f.Since
	scope.Until = f.Until
	scope.Authors = f.From
	scope.Channels = f.channels(scope.Channels, channels)
	return scope
}

// channels filters ids.
func (f Filter) channels(ids []memory.ChannelID, channels map[memory.ChannelID]memory.Channel) []memory.ChannelID {
	if len(f.In) == 0 {
		return ids
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id memory.ChannelID) bool {
		c := channels[id]
		return !slices.Contains(f.In, id) && (!c.Kind.IsThread() || !slices.Contains(f.In, c.Parent))
	})
}

type attachments struct {
	all  []attachment
	done sync.WaitGroup
}

// Mode is the mode of an answer, and its reason.
type Mode struct {
	Is builder.Mode
	By ModeBy
	// Why are the words it was inferred from; empty if it wasn't, or is the general one.
	Why string
}

type attachment struct {
	File
	use     fileUse
	text    string
	image   chat.Image
	tokens  int    // of the image
	problem string // why not, as the model is told
}

// ModeBy is what decided on a mode.
type ModeBy string

type fileUse int
