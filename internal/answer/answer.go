// Package answer turns a question into an answer: it recalls what everybody who will read the answer may read, builds
// the prompt, asks the model, and records how the answer was made. It knows nothing of Discord.
//
// Without a model, or while the model is away, the answer quotes what was recalled. Begin with Engine.Answer; the files
// follow a question: recall, session, search, turn, revalidate, cite, record. What may be used at all is in
// readable_scope.go, consent.go and answer_audience.go.
package answer

import (
	"context"
	"slices"
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
	// Session is what was said in the channel before, oldest first, where nothing is logged; nil: read the log.
	// Nothing of it is recalled or kept.
	Session []memory.Message
	// WaitReady, if not nil, waits until it is known who may read what in Guild.
	WaitReady func(context.Context) error
	// Attended returns since which message all who can read a channel could read what was said there. Where not
	// all of them may read its past, earlier messages aren't used. nil: unknown. See search.Attendance.
	Attended func(*memory.Guild, memory.ChannelID) memory.MessageID
	// RoleSets returns the sets of roles that members of a guild have; nil if not all are known. See
	// search.MemberRoles.
	RoleSets func(*memory.Guild) *search.RoleSets
	// Files came with the question, and with the message that it replies to. Nothing of their contents is
	// recalled or kept.
	Files []File
	// Using, if not nil, is called with each tool that the model calls, before it runs.
	Using func(tool string)
	// fetched are the files while an answer is being made.
	fetched *attachments
	// OnlyAsker is set if nobody else will see the answer.
	OnlyAsker bool
	// Roles are the asker's, if Discord sent them with the question; else nil. They count with OnlyAsker.
	Roles []memory.RoleID
	// Operator is set at the command line: who holds the files may read what Discord hasn't placed.
	Operator bool
	// Everywhere lets the operator's question reach all guilds, without direct messages of others.
	Everywhere bool
	// Confirms is set with Operator if the asker can agree to proposals. Else none are made.
	Confirms bool
	// Filter narrows down what is recalled.
	Filter Filter
	// NoModel has the answer quote, and say that there are no tokens left.
	NoModel bool
	// Mode is the mode to answer in; empty: the channel's, or else inferred.
	Mode builder.Mode
	// Local keeps the text from servers when it is searched for.
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
	// ModelError is why the model didn't write the answer although there is one: to be logged, not shown.
	ModelError error
	// FallbackReason is why another model wrote it than was to; nil if none did: to be logged, not shown.
	FallbackReason error
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

// Filter narrows what is recalled down by time, author and place. It never widens what may be read.
type Filter struct {
	Since, Until time.Time            // from Since on, and before Until; zero: without a bound
	From         []memory.UserID      // only what they said; empty: what anybody said
	In           []memory.ChannelID   // only there and in the threads there; empty: everywhere
	Summaries    search.SummaryFilter // of earlier sessions only those; messages are recalled all the same
}

// narrow filters scope; channels are those of its guilds.
func (f Filter) narrow(scope memory.Scope, channels map[memory.ChannelID]memory.Channel) memory.Scope {
	scope.Since, scope.Until, scope.Authors = f.Since, f.Until, f.From
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
