// Package tools asks a model for an answer, and runs the tools that it calls.
//
// It asks Answer, which internal/answer implements, for what may be used, and adds what it showed the model to the
// manifest. It may import memory, search, builder, internal/digest and internal/answer/manifest. Begin with
// Set.Ask.
package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/chat"
	"hark/internal/metrics"
	"hark/memory"
	"hark/search"
)

// Names of tools that are called outside answers, too.
const (
	SearchMemory   = "search_memory"
	GetParticipant = "get_participant"
	RecallLore     = "recall_lore"
)

// Options of a Set.
type Options struct {
	Rounds    int           // how often the model may call tools for one answer; 0: never
	Tokens    int           // of all calls and outcomes; 0: as many as a prompt
	Time      time.Duration // how long tools may be called after the first call; 0 means a minute
	RecordKey []byte        // of fingerprints in records; empty: it lasts as long as the process
	NoRecords bool          // whether conversation_history is left out
	Remote    Remote        // nil: no tools of other programs
	Metrics   *metrics.Metrics
	Now       func() time.Time
}

// Set is an engine's tools.
type Set struct {
	Options
	Tools []Tool
}

// Tool returns a tool by name. It panics if there is none.
func (s *Set) Tool(name string) Tool {
	return s.Tools[slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name })]
}

// Question is what is answered.
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
	// Agree asks the asker whether a tool that isn't read-only may run, and waits for the answer; nil: nobody can
	// be asked.
	Agree func(context.Context, Request) Consent
}

// Turn is an answer that a model writes with the help of tools.
type Turn struct {
	Question    Question
	Model       chat.Model
	Builder     *builder.Builder
	Temperature *float64
	Brief       bool // small talk: the model needs no thought
	Prompt      *builder.Prompt
	Shown       *manifest.Manifest
	Talk        *Talk
	Log         *CallLog
	Answer      Answer
	Room        int      // tokens of a tool's text
	Servers     []string // whose tools are offered, of Options.Remote
}

// Answer is a question's prompt, and what may be used to answer it: what every reader of the answer may read, as of
// the last Refresh, without people who opted out.
type Answer interface {
	// Messages is the prompt as it is sent.
	Messages() []chat.Message
	// Refresh looks up who may read what now.
	Refresh(context.Context) error
	// Valid is Refresh, and reports whether all that the model was shown is unchanged, and every reader of the
	// answer may still read it.
	Valid(context.Context) (bool, error)
	// IsOn reports whether a server's tools may be used in the channel, as of the last Refresh.
	IsOn(server string) bool
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

	// Query is the prompt's search, in scope and without the messages to skip.
	Query(scope memory.Scope, skip []memory.MessageID) search.Query
	Search(context.Context, search.Query) (search.Result, error)
	Introduce(context.Context, search.Query) ([]search.Participant, error)
	// Facts removes the facts whose messages may not be used, and returns the others' messages.
	Facts(context.Context, []search.Participant) ([]search.Participant, map[memory.MessageRef]memory.Message, error)
	// HasLore reports whether there is lore to read.
	HasLore() bool
	// Lore returns lore by name, and the messages it was made from.
	Lore(context.Context) ([]memory.Lore, map[memory.MessageRef]memory.Message, error)
	// Records returns up to limit records of the channel that match, of the q.Limit that it looks at, and whether
	// there may be more. It refreshes what may be used for itself alone.
	Records(ctx context.Context, q memory.RecordQuery, matches func(Record) bool, limit int) (found []Record,
		more bool, err error)
	// Named returns a text with names and dates for its tags.
	Named(said string) string
	// Input returns a result for the builder.
	Input(search.Result) builder.Input
}

// Record is a call's record with its question and answer; nil if they are gone or their authors opted out.
type Record struct {
	memory.Record
	Question, Answer *memory.Message
}

// Tool is something that the model may call. It may show only what the Turn's Answer allows.
type Tool struct {
	chat.Tool         // what the model is shown of it
	schema    *schema // of its parameters; nil: of a remote tool
	remote    *RemoteTool
	// offered reports whether the model is shown it in an answer; nil: always.
	offered func(*Turn, context.Context) (bool, error)
	// Call takes a JSON object that fits the schema, without nulls. The model is shown a CallError, and may call
	// again. Another error is for the log.
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
		Tool: chat.Tool{
			Name:        name,
			Description: description,
			Parameters:  json.RawMessage(parameters),
		},
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

// mended returns a call's arguments as the tool's parameters have them. See the function.
func (t *Tool) mended(arguments string) string {
	if t.schema != nil {
		return mended(t.schema.document, arguments)
	}
	document, ok := decoded(string(t.Parameters))
	if !ok {
		return arguments
	}
	return mended(document, arguments)
}

func (m CallError) Error() string { return string(m) }

// Outcome is the result of a call.
type Outcome struct {
	manifest.Emission // what Text shows
	// Text is for the model. Members' words in it are escaped as in a prompt.
	Text string
	// Summary is the outcome for the record, such as "3 messages", without anybody's words.
	Summary string
	// Proposals are lore to remember if the asker agrees: without an id, a time and who said it.
	Proposals []memory.Lore
}

// Consent is the answer to a Request.
type Consent int

// Request asks whether a tool may run.
type Request struct {
	Server, Tool string
	Arguments    string // all that the tool is sent, in JSON whose characters can all be seen
}

// RemoteTool is another program's tool. All that it returns is anybody's text.
type RemoteTool struct {
	chat.Tool        // Name begins with its server's, and is no other tool's
	Server    string // the program's name
	Title     string // the tool's name there
	ReadOnly  bool   // it changes nothing, so it runs without asking
	// Call sends a JSON object, and returns what the tool says. failed: the tool says that it failed. The error is
	// for the log, and has no text of the server or the model.
	Call func(ctx context.Context, arguments json.RawMessage) (text string, failed bool, err error)
}

// Remote offers the tools of other programs.
type Remote interface {
	// Servers returns the programs' names.
	Servers() []string
	// Tools returns the tools of those of servers that can be used now. It waits a moment for a server at most.
	Tools(ctx context.Context, servers []string) []RemoteTool
}

// CallLog is what an answer's calls of models and tools took, and their records, over all its restarts.
type CallLog struct {
	Question Question
	Started  time.Time

	Usage     Usage
	Calls     []memory.TraceCall
	Records   []memory.Record
	Rounds    int
	Failed    error    // of the first tool that failed
	Ran       []string // remote tools that ran, with their servers, each once
	Restarted bool     // whether Restart left out records
}

// Talk is what the model is offered and shown beside the prompt.
type Talk struct {
	Messages  []chat.Message // the calls and their outcomes
	Tokens    int            // of Messages
	Proposals []memory.Lore

	foreign       map[string]string // what is kept of remote tools' outcomes, by the call's id
	offered       []Tool
	offeredTokens int // of the tools' descriptions
}

// loop asks a model about one prompt until it answers. What the model writes before it calls tools begins its
// answer: what was shown stays.
type loop struct {
	set      *Set
	t        *Turn
	stream   func(text string)
	text     string
	reply    chat.Reply // the last
	ended    string     // why tools can't be called any more; empty: they can
	flat     bool       // outcomes are sent as text, because the model went on calling
	rounds   int
	started  time.Time       // when the first call came
	answered map[string]int  // the calls that were answered, by number
	count    int             // calls
	ids      map[string]bool // of calls
	silence  Consent         // Unanswered or NotAsked once a request to run a tool came to nothing
	stale    bool            // what the model was shown isn't valid any more
}

func (r *RemoteTool) name() string { return r.Server + ": " + r.Title }

// Usage is what an answer took of models.
type Usage struct {
	Calls      int
	Prompt     int // tokens, as the servers count, or else estimated
	Completion int
}
