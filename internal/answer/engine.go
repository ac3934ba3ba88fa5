package answer

import (
	"context"
	"errors"
	"sync"
	"time"

	"hark/builder"
	"hark/internal/answer/manifest"
	"hark/internal/answer/tools"
	"hark/internal/chat"
	"hark/internal/digest"
	"hark/internal/metrics"
	"hark/memory"
	"hark/search"
)

// Searcher is the part of search.Engine that an engine needs.
type Searcher interface {
	Search(ctx context.Context, q search.Query) (search.Result, error)
	Rerank(ctx context.Context, r search.Result, skip []memory.MessageID,
		left func(context.Context, []search.Hit) ([]search.Hit, error)) (search.Result, error)
	SearchOutside(ctx context.Context, r search.Result, channels []memory.ChannelID, n int) ([]search.Hit, error)
	Introduce(ctx context.Context, q search.Query) ([]search.Participant, error)
}

// Model writes answers.
type Model = chat.Model

// Errors of an answer, besides the model's.
var (
	ErrRecall = errors.New("recall for an answer")
	ErrEmpty  = errors.New("the model answered nothing")
	// ErrNoQuestion is the error for a reply without a text to what isn't there, or may not be read.
	ErrNoQuestion = errors.New("the message replied to isn't there")
)

// Options of an engine.
type Options struct {
	Persona    string         // who Hark is, in the admins' words; empty: the builder's
	Zone       *time.Location // of times; nil means UTC
	SessionGap time.Duration  // the silence that ends a session; 0 means 30 minutes
	// At most SessionTurns of a session are shown (0 means 45); from CondenseTurns on it is condensed (0 means 32).
	SessionTurns, CondenseTurns int
	// Policy says what may be recalled.
	Policy memory.Policy
	// Rewrite has the model rewrite questions that refer back before the search.
	Rewrite bool
	// NoSummaries leaves out summaries of earlier sessions.
	NoSummaries bool
	// Long condenses the older part of a long session. It is called after an answer, and must not wait; nil: long
	// sessions are cut off.
	Long func(memory.ChannelID, digest.Long)
	// KeepPrompts keeps prompts in traces.
	KeepPrompts bool
	Language    string // of labels and Hark's own sentences, unless admins set another; empty: English
	// Models are those that admins may set, by name. Any other is ignored, and Missing, if not nil, is called with
	// it once, perhaps concurrently.
	Models  map[string]Model
	Missing func(model string)
	// Builder, if not nil, returns the builder for one of Models, a language and a layout, each as configured if
	// it is empty; nil: the engine's own.
	Builder func(ctx context.Context, model, language string, layout builder.Layout) *builder.Builder

	// ToolRounds is how often the model may call tools for one answer; 0: never.
	ToolRounds int
	// ToolTokens bounds all calls and outcomes together, within the model's window; 0: as many as a prompt.
	ToolTokens int
	// ToolTime is how long tools may be called after the first call; 0 means a minute.
	ToolTime time.Duration
	// RecordKey keys the fingerprints in records; empty: it lasts as long as the engine.
	RecordKey []byte
	// Remote has the tools of other programs, offered where admins chose them; nil: there are none.
	Remote tools.Remote
	// NoRecords offers the model no records, because none are kept.
	NoRecords bool
	// Metrics may be nil.
	Metrics *metrics.Metrics
	// Vision has images fetched. A Model's own method CanSee() bool overrides it.
	Vision bool
}

// Engine answers questions.
type Engine struct {
	log      checkedLog
	search   Searcher
	builder  *builder.Builder
	model    Model // nil: answers are extractive
	options  Options
	tools    *tools.Set
	now      func() time.Time
	noted    noteDays
	missing  sync.Map // reported as missing, by name
	upstream *upstream
}

// New returns an engine. model may be nil.
func New(log Log, searcher Searcher, b *builder.Builder, model Model, o Options) *Engine {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.SessionGap <= 0 {
		o.SessionGap = 30 * time.Minute
	}
	if o.SessionTurns <= 0 {
		o.SessionTurns = 45
	}
	if o.CondenseTurns <= 0 {
		o.CondenseTurns = 32
	}
	o.Metrics = metrics.Or(o.Metrics)
	e := &Engine{
		search:   searcher,
		builder:  b,
		model:    model,
		options:  o,
		now:      time.Now,
		upstream: &upstream{},
	}
	e.log = checkedLog{log, e.upstream}
	e.tools = tools.New(tools.Options{
		Rounds:    o.ToolRounds,
		Tokens:    o.ToolTokens,
		Time:      o.ToolTime,
		RecordKey: o.RecordKey,
		NoRecords: o.NoRecords,
		Remote:    o.Remote,
		Metrics:   o.Metrics,
		Now:       func() time.Time { return e.now() },
	})
	return e
}

// isCut reports whether a model wrote as much as it may, and counts that.
func (e *Engine) isCut(reply chat.Reply) bool {
	cut := reply.FinishReason == "length"
	if cut {
		e.options.Metrics.AnswersCut.Inc()
	}
	return cut
}

// isNothing reports whether nothing of a model's text would be shown.
func isNothing(text string, of manifest.Numbers) bool {
	kept, _ := manifest.Citations(text, of)
	return kept == ""
}

// Errors by which a model says that it is still being loaded, or gave an empty answer. See Model.
type (
	loading interface{ Loading() bool }
	empty   interface{ Empty() bool }
)

// failedWith says why quotes stand in for a model that failed with err.
func failedWith(err error) memory.AnswerWriter {
	var load loading
	var nothing empty
	switch {
	case errors.As(err, &load) && load.Loading():
		return memory.ModelLoading
	case errors.Is(err, ErrEmpty), errors.As(err, &nothing) && nothing.Empty():
		return memory.ModelEmpty
	}
	return memory.ModelFailed
}

// leastPrompt returns the tokens of the smallest prompt that is worth asking again with.
func leastPrompt(b *builder.Builder) int {
	const part = 2
	return min(b.Layout().UsefulTokens(), b.MaxTokens()/part)
}

// worthwhile returns how many tokens a prompt may have that is made again: most, but at least so many that it holds
// more than the question. Counts of tokens differ, so that may fit although the model says less; 0 if it says much
// less.
func worthwhile(most, least int, err error) int {
	if most == 0 || most >= least {
		return most
	}
	var refused tooLong
	room := 0
	if errors.As(err, &refused) {
		room, _, _ = refused.TooLong()
	}
	if room > 0 && 2*least > 3*room {
		return 0
	}
	return least
}

// tooLong is a model's error that refuses a prompt. See Model.
type tooLong interface {
	error
	TooLong() (room, asked int, is bool)
}

// smaller returns how many tokens a prompt may have after err refused one of sent tokens for its length; else 0.
// Our tokens aren't the model's: with its count of both, it is the ratio less a tenth for what it adds to each
// message; with its limit alone, that less a quarter; else half.
func smaller(sent int, err error) int {
	var refused tooLong
	if !errors.As(err, &refused) {
		return 0
	}
	room, asked, is := refused.TooLong()
	switch {
	case !is:
		return 0
	case 0 < room && room < asked:
		return max(1, int(0.9*float64(sent)*float64(room)/float64(asked)))
	case asked == 0 && 0 < room && room < sent:
		return max(1, int(0.75*float64(room)))
	}
	return max(1, sent/2)
}

type noteDays struct {
	mu   sync.Mutex
	day  string
	seen map[noteAt]bool
}

// noteAt is where a note was shown, and to whom alone; 0: to all.
type noteAt struct {
	channel memory.ChannelID
	asker   memory.UserID
}

// LookUpBy sets how messages are looked up before use. Call it before the first question.
func (e *Engine) LookUpBy(lookUp LookUp) { e.upstream.lookUp = lookUp }
