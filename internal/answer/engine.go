package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/memory"
	"hark/search"
)

// Log is what the engine asks of the store. See memory.Store.
type Log interface {
	Guilds(ctx context.Context) ([]memory.GuildID, error)
	Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error)
	People(ctx context.Context, guild memory.GuildID) ([]memory.Person, error)
	Lore(ctx context.Context, guild memory.GuildID) ([]memory.Lore, error)
	Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error)
	Messages(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) ([]memory.Message, error)
	Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID, before, after int) ([]memory.Message, error)
	Trace(ctx context.Context, channel memory.ChannelID, answer memory.MessageID) (memory.Trace, error)
	OptedOut(ctx context.Context, guild memory.GuildID, user memory.UserID) (bool, error)
}

// Searcher recalls. See search.Engine.
type Searcher interface {
	Search(ctx context.Context, q search.Query) (search.Result, error)
}

// Model writes answers.
type Model interface {
	Name() string
	// Chat passes what the model writes to delta, piece by piece, and returns all of it. With an error it
	// returns what came before. An error with a method TooLong() (room, asked int, is bool) can say that the prompt
	// was too long: how many tokens of one the model takes and how many it counted in this, 0 if it doesn't say.
	Chat(ctx context.Context, messages []builder.ChatMessage, delta func(string)) (string, error)
}

// Options say how an engine answers.
type Options struct {
	Persona    string         // the admins' words on who Hark is; empty for the builder's
	Zone       *time.Location // in which times are told; nil means UTC
	SessionGap time.Duration  // the silence that ends a session; 0 means 30 minutes
	// Policy says what of the log may be recalled.
	Policy memory.Policy
	// Rewrite has the model rewrite questions that refer back before they are searched for.
	Rewrite bool
	// NoSummaries leaves the summaries of earlier sessions out.
	NoSummaries bool
	// KeepPrompts has traces hold the prompt as it was sent.
	KeepPrompts bool
}

// Engine answers questions.
type Engine struct {
	log     Log
	search  Searcher
	builder *builder.Builder
	model   Model // nil: answers are extractive
	options Options
	meter   meter
}

// New is an engine that recalls from log by searcher, builds with b, and asks model, which may be nil.
func New(log Log, searcher Searcher, b *builder.Builder, model Model, o Options) *Engine {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.SessionGap <= 0 {
		o.SessionGap = 30 * time.Minute
	}
	return &Engine{log: log, search: searcher, builder: b, model: model, options: o}
}

// Answer answers q. While the model writes, stream, if not nil, is called with the whole text so far. When the
// model fails before it wrote anything, the answer is extractive and Away says why; when it fails in the middle,
// the error is returned with the part that came.
func (e *Engine) Answer(ctx context.Context, q Question, stream func(text string)) (Answer, error) {
	if stream == nil {
		stream = func(string) {}
	}
	r, err := e.recall(ctx, q)
	if err != nil {
		return Answer{}, fmt.Errorf("recall for an answer: %w", err)
	}
	a, err := e.write(ctx, q, r, stream)
	if err == nil {
		e.countHeldBack(ctx, q, r, &a.Trace)
	}
	return a, err
}

// write has the answer written, by the model or without one.
func (e *Engine) write(ctx context.Context, q Question, r *recalled, stream func(text string)) (Answer, error) {
	if e.model == nil {
		return e.quote(ctx, q, r, noModel)
	}
	full, err := e.ask(ctx, r, stream)
	var shortened error
	if most := smaller(r.Prompt.Report.Tokens, err); most > 0 && strings.TrimSpace(full) == "" && ctx.Err() == nil {
		was, refused := r.Prompt, err
		// All is looked at again: of what the first prompt held, nothing was shown to anybody.
		if err := e.recallAgain(ctx, q, r, most); err != nil {
			return Answer{}, err
		}
		if !slices.Equal(was.Messages, r.Prompt.Messages) {
			shortened = fmt.Errorf("%w; the prompt of %d tokens was made again with %d", refused, was.Report.Tokens, r.Prompt.Report.Tokens)
			full, err = e.ask(ctx, r, stream)
		}
	}
	if ctx.Err() == nil {
		ok, checkErr := e.holds(ctx, q, r)
		if checkErr != nil { // what nobody could look at again isn't shown
			err, ok = fmt.Errorf("look again at what an answer is made from: %w", checkErr), false
		}
		if !ok {
			return Answer{Text: withdrawn, Away: err, Trace: memory.Trace{Guild: q.Guild, Channel: q.Channel, Question: q.ID, Asker: q.Asker}}, nil
		}
	}
	if err != nil && strings.TrimSpace(full) == "" && ctx.Err() == nil {
		// What was found and not sent wasn't looked at again: it may be gone, or closed, since.
		again, quoteErr := e.recallFor(ctx, q, r.sought, 0)
		if quoteErr != nil {
			return Answer{}, fmt.Errorf("recall for an answer: %w", quoteErr)
		}
		a, quoteErr := e.quote(ctx, q, again, modelAway)
		a.Away = err
		return a, quoteErr
	}
	a := e.cite(q, r, full)
	a.Shortened = shortened
	a.Model = e.model.Name()
	a.Trace.Model = a.Model
	e.tellPrompt(&a.Trace, q, r)
	a.Trace.Total = r.elapsed()
	if err == nil && strings.TrimSpace(a.Text) == "" {
		err = errors.New("the model answered nothing")
	}
	return a, err
}

// ask has the model go on after the prompt.
func (e *Engine) ask(ctx context.Context, r *recalled, stream func(text string)) (string, error) {
	e.meter.sent(r.Prompt.Report)
	var text strings.Builder
	return e.model.Chat(ctx, r.Prompt.Messages, func(delta string) {
		text.WriteString(delta)
		stream(text.String())
	})
}

// Recall is what would go into an answer to q.
func (e *Engine) Recall(ctx context.Context, q Question) (Recalled, error) {
	r, err := e.recall(ctx, q)
	if err != nil {
		return Recalled{}, fmt.Errorf("recall: %w", err)
	}
	return Recalled{Result: r.result, Prompt: r.Prompt, Earlier: r.summaries, Mode: r.mode}, nil
}
