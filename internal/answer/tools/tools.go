// Package tools asks a model for an answer, and runs the tools that it calls: search_memory, get_participant,
// recall_lore, remember, current_time and conversation_history.
//
// It asks Answer, which internal/answer implements, for what may be used, and adds what it showed the model to the
// manifest. It may import memory, search, builder, internal/digest and internal/answer/manifest. Begin with Set.Ask.
package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/chat"
	"hark/internal/metrics"
	"hark/memory"
	"hark/search"
)

// Options bound a Set.
type Options struct {
	Rounds    int           // how often at most the model may call tools for one answer; 0: there are none
	Tokens    int           // of calls and outcomes, all together; 0: as many as a prompt
	Time      time.Duration // how long after the first call tools may be called; 0 means a minute
	RecordKey []byte        // of the fingerprints in records; empty: one that lasts as long as the process
	NoRecords bool          // whether conversation_history is left out
	Metrics   *metrics.Metrics
	Now       func() time.Time
}

// Set is an engine's tools.
type Set struct {
	Options
	Tools   []Tool
	refused refusals
}

// New returns a Set of all tools.
func New(o Options) *Set {
	if o.Time <= 0 {
		o.Time = time.Minute
	}
	if len(o.RecordKey) == 0 {
		o.RecordKey = make([]byte, memory.FingerprintKeyBytes)
		rand.Read(o.RecordKey) // never fails
	}
	s := &Set{Options: o, Tools: []Tool{searchMemory(), getParticipant(), recallLore(), rememberLore(), currentTime()}}
	if !o.NoRecords {
		s.Tools = append(s.Tools, s.conversationHistory())
	}
	return s
}

// Question is what the answer is asked for.
type Question struct {
	ID       memory.MessageID // 0: no message asks
	Guild    memory.GuildID
	Channel  memory.ChannelID
	Asker    memory.UserID
	Name     string // the asker's
	Text     string
	Mentions []memory.UserID
	Now      time.Time
	Using    func(tool string) // called before each call; may be nil
}

// Turn is the answer that a model writes and calls tools for.
type Turn struct {
	Question    Question
	Model       chat.Model
	Builder     *builder.Builder
	Temperature *float64
	Prompt      *builder.Prompt
	Shown       *manifest.Manifest
	Talk        *Talk
	Log         *CallLog
	Answer      Answer
	Room        int // tokens that the text of a tool's outcome may have
}

// Answer is a question's prompt, and what may be used to answer it: what everybody who will read the answer
// may read, as of the last Refresh, without people who opted out.
type Answer interface {
	// Messages is the prompt as the model is sent it.
	Messages() []chat.Message
	HasImages() bool
	// LayOut builds the prompt and Turn.Shown anew for what Turn.Talk offers.
	LayOut(withoutImages bool)
	// Refresh looks up who may read what now.
	Refresh(context.Context) error
	// KeepsRecords reports whether records of the question may be kept.
	KeepsRecords() bool
	// MayRemember reports whether lore may be proposed to the asker.
	MayRemember(context.Context) (bool, error)

	Zone() *time.Location
	Scope() memory.Scope
	People() memory.People
	Channels() map[memory.ChannelID]memory.Channel
	// In returns which of ids are in, or are threads of, the channels in.
	In(ids, in []memory.ChannelID) []memory.ChannelID

	// Query is the search that the prompt was made with, in scope, without the messages to skip.
	Query(scope memory.Scope, skip []memory.MessageID) search.Query
	Search(context.Context, search.Query) (search.Result, error)
	Introduce(context.Context, search.Query) ([]search.Participant, error)
	// Facts removes the facts whose messages may not be used, and returns the messages of the others.
	Facts(context.Context, []search.Participant) ([]search.Participant, map[memory.MessageRef]memory.Message, error)
	// HasLore reports whether there is lore to read.
	HasLore() bool
	// Lore returns lore by name, and the messages it was made from.
	Lore(context.Context) ([]memory.Lore, map[memory.MessageRef]memory.Message, error)
	// Records returns up to limit records of the channel that match, of the most that q.Limit allows to look
	// at, and whether there may be more. It refreshes what may be used for itself alone.
	Records(ctx context.Context, q memory.RecordQuery, matches func(Record) bool, limit int) (found []Record,
		more bool, err error)
	// Input is a result as the builder takes it.
	Input(search.Result) builder.Input
}

// Record is a record of a call, with its question and answer; nil if they are gone or their authors opted out.
type Record struct {
	memory.Record
	Question, Answer *memory.Message
}

// Tool is something that the model may call while it answers. What it shows must be within what the Turn's
// Answer allows.
type Tool struct {
	chat.Tool         // what the model is shown of it
	schema    *schema // of its parameters
	// offered reports whether the model is shown it in an answer; nil: always.
	offered func(*Turn, context.Context) (bool, error)
	// Call does what arguments say: a JSON object that fits the schema, without nulls. The model is shown a
	// CallError, and may call again. Of another error it is told only that there was one; that is for the log.
	Call func(t *Turn, ctx context.Context, arguments json.RawMessage) (Outcome, error)
}

// NewTool returns a tool whose arguments are read into an A. It panics if parameters are no JSON schema of an
// object.
func NewTool[A any](name, description, parameters string, call func(*Turn, context.Context, A) (Outcome, error)) Tool {
	s, err := schemaOf(json.RawMessage(parameters))
	if err != nil || s.Type != "object" {
		panic(fmt.Sprintf("tool %q: its parameters are no JSON schema of an object: %v", name, err))
	}
	return Tool{
		Tool:   chat.Tool{Name: name, Description: description, Parameters: json.RawMessage(parameters)},
		schema: s,
		Call: func(t *Turn, ctx context.Context, arguments json.RawMessage) (Outcome, error) {
			var a A
			if err := json.Unmarshal(arguments, &a); err != nil {
				return Outcome{}, err
			}
			return call(t, ctx, a)
		},
	}
}

// CallError is what is wrong with a call, in words by which a model can mend it. It holds nothing except what is in
// the call or whoever reads the answer may know.
type CallError string

func (m CallError) Error() string { return string(m) }

func callErrorf(format string, args ...any) error { return CallError(fmt.Sprintf(format, args...)) }

// Outcome is what a tool's call came to.
type Outcome struct {
	manifest.Emission // what Text shows
	// Text is for the model. What members wrote in it is escaped as in a prompt.
	Text string
	// Summary says in a few words for the record how the call came out, such as "3 messages". It holds nothing
	// that anybody wrote.
	Summary string
	// Proposals are to be remembered if the asker agrees: without an id, a time and who said it.
	Proposals []memory.Lore
}
