// Package answer turns a question into an answer: it recalls what everybody who will read the answer may read,
// has the prompt built, asks the model, and keeps how the answer came about. It knows nothing of Discord.
//
// Without a model, or while the model is away, the answer quotes what was recalled.
package answer

import (
	"context"
	"time"

	"hark/builder"
	"hark/internal/answer/tools"
	"hark/memory"
	"hark/search"
)

// Question is something Hark was asked.
type Question struct {
	ID       memory.MessageID // of the message that asks; 0 where there is none, as for a slash command
	Guild    memory.GuildID
	Channel  memory.ChannelID // where the answer will be read
	Asker    memory.UserID
	Name     string // the asker's
	Text     string // without the mention of Hark
	Mentions []memory.UserID
	ReplyTo  memory.MessageID
	Edited   time.Time // of the version of the message that is answered; zero if it was never edited
	Now      time.Time
	// Session is what was said in the channel before, oldest first, where nothing is logged; nil where the log
	// tells. It is of this moment only: nothing of it is recalled or kept.
	Session []memory.Message
	// Settled, if not nil, is called before it is decided what may be used, and returns once it is known who may read
	// what in Guild.
	Settled func(context.Context) error
	// Attended is from which message on all who can read a channel could read what was said there. Where not
	// all of them may read its past, what was said before counts for nothing. nil: that isn't known of any.
	// See search.Attendance.
	Attended func(*memory.Guild, memory.ChannelID) memory.MessageID
	// Sets are the sets of roles that members of a guild have, or nil where not all are known. nil: of none are
	// they. See search.MemberRoles.
	Sets func(*memory.Guild) *search.RoleSets
	// Files came with the question, and with the message that it replies to: what the model may be shown of them. They
	// are of this moment only: nothing of their contents is recalled or kept.
	Files []File
	// Using, if not nil, is told the name of each tool that the model uses, before it does its work.
	Using func(tool string)
	// fetched are the files while an answer is being made.
	fetched *attachments
	// OnlyAsker is set when nobody but the asker will see the answer.
	OnlyAsker bool
	// Roles are the asker's, as Discord told them with the question; nil if it didn't. They count where
	// OnlyAsker is set.
	Roles []memory.RoleID
	// Operator is set at the command line, where whoever holds the files reads the answer, and may read what
	// Discord hasn't placed.
	Operator bool
	// Everywhere lets the operator's question reach all guilds at once. Direct messages stay among those who
	// wrote them.
	Everywhere bool
	// Confirms is set with Operator where the asker is there to agree to what the model would have
	// remembered. Else nothing is proposed to the operator.
	Confirms bool
	// Filter narrows down what is recalled. The zero Filter leaves it as it is.
	Filter Filter
	// NoModel is set where the model isn't to be asked: the answer quotes, and says that there are no tokens left.
	NoModel bool
	// Mode is the mode to answer in; empty: the one chosen for the channel, or else one that is inferred.
	Mode builder.Mode
	// Local keeps the text within this process where it is searched for: no server is given it.
	Local bool
	// Limit is how many hits are found; 0 means search.DefaultLimit.
	Limit int
}

// File is an attachment that the model may be shown.
type File struct {
	Name        string
	Description string           // what its sender wrote about it
	Type        string           // what its sender says it is, such as "image/png"; its data tell better
	Size        int              // in bytes, as its sender says; 0: not known
	Message     memory.MessageID // that it came with; 0: the question
	// Load fetches its data, if it has at most so many bytes; it is called once, while it is searched. What
	// it fails with is ErrFileGone, ErrFileTooLarge, or anything else. nil: nothing but the name is known.
	Load func(ctx context.Context, most int) ([]byte, error)
}

// Answer is what Hark says.
type Answer struct {
	Text    string   // Markdown with [n] where it cites source n; unsplit, any length
	Sources []Source // those that Text cites, by number
	Model   string   // the model that wrote it; empty when it was extractive
	// Away is why the model didn't write the answer although there is one: to be logged, not shown.
	Away error
	// Instead is why another model wrote it than was to; nil if none did: to be logged, not shown.
	Instead error
	// Shortened is why the model was given a smaller prompt than it was to have: to be logged, not shown.
	Shortened error
	// Unranked is why what was recalled isn't in the order of the reranker that there is: to be logged, not shown.
	Unranked error
	// ToolFailed is what the first of the tools that failed did so with: to be logged, not shown.
	ToolFailed error
	Trace      memory.Trace // to be logged as memory.Answered with the answer, once that has been sent and has an id
	// Records are the calls that were made for it, in order, to be logged with it.
	Records []memory.Record
	// Proposals are what the model would have remembered, which somebody has to agree to.
	Proposals []Proposal
	Usage     Usage
}

// Usage is what an answer took of models, over all calls for it.
type Usage = tools.Usage

// Proposal is lore that the model would like to be remembered. It isn't kept until the asker agrees.
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
	Place   string // the channel's name, without #
	Time    time.Time
	// Unplaced is set where Discord, as far as is known, has no message to jump to.
	Unplaced bool
}

// Recalled is what would go into an answer: what /context and "hark context" show.
type Recalled struct {
	Result search.Result
	Left   []search.Hit // found, but with too little to do with the question to be in Result
	Prompt builder.Prompt
	// Earlier are the summaries of earlier sessions that were looked at for the prompt, best first.
	Earlier []search.SummaryHit
	// Condensed is what the older part of the session was condensed to, if that is in the prompt.
	Condensed *memory.Condensed
	Mode      Mode
	// Settings are those that hold where it was asked.
	Settings Settings
	Usage    Usage // of the model that rewrote the question, if it did
}
