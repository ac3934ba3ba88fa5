// Package eval measures recall on recall sets: conversations with questions and the messages that answer
// them.
package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/imports"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

// Budgets are the characters of built history that evidence is looked for in.
var Budgets = []int{2000, 4000, 8000}

// shownShare is how much of a message must be in the context for it to count as shown.
const shownShare = 0.6

// rankedHits is how many messages are ranked for each question.
const rankedHits = 100

// Outcome is what came of one question: a line of the run file.
type Outcome struct {
	Set      string             `json:"set"`
	ID       string             `json:"id"`
	Ranked   []string           `json:"ranked"`  // message ids of the set, best first, each once
	Context  map[string]Context `json:"context"` // by budget
	Millis   float64            `json:"ms"`      // of the search
	Evidence []string           `json:"-"`
	Hits     []search.Hit       `json:"-"`
	// Near are the evidence and its direct neighbours.
	Near map[memory.MessageID]bool `json:"-"`
	// TextOnly and RerankFailed say what the search had to do without; see search.Result.
	TextOnly     bool  `json:"-"`
	RerankFailed error `json:"-"`
}

// Context is what the history section held under a budget of characters.
type Context struct {
	Messages []string `json:"messages"` // of which at least 60 % is there
	Text     string   `json:"text"`
	Tokens   int      `json:"-"` // of Text, as OpenAI's models count them
}

// Evaluator measures one kind of recall.
type Evaluator struct {
	Embedder memory.Embedder
	Builder  *builder.Builder
	Reranker search.Reranker // nil: none
}

// Run loads a set into a temporary store, asks its questions, and passes on each outcome. progress may be nil. A set
// without questions has no outcomes.
func (e *Evaluator) Run(ctx context.Context, path string, each func(Outcome) error,
	progress func(done, total int)) error {
	return e.questions(ctx, path, progress, func(a *asker, q imports.SetQuestion) error {
		outcome, err := a.ask(ctx, q)
		if err != nil {
			return err
		}
		outcome.Set = SetName(path)
		return each(outcome)
	})
}

// Sample is what a search for one question scored.
type Sample struct {
	Set, Channel string
	Candidates   []search.Candidate
	Evidence     map[memory.MessageID]bool
	Near         map[memory.MessageID]bool // evidence and its direct neighbours
}

// Examine is Run that passes on all that was scored, with its features.
func (e *Evaluator) Examine(ctx context.Context, path string, each func(Sample) error) error {
	return e.questions(ctx, path, nil, func(a *asker, q imports.SetQuestion) (err error) {
		s := Sample{Set: SetName(path), Channel: q.Channel}
		s.Candidates, err = a.engine.Candidates(ctx, a.query(q))
		if err != nil {
			return err
		}
		s.Evidence, s.Near, err = a.evidence(ctx, q)
		if err != nil {
			return err
		}
		return each(s)
	})
}

// questions loads a set and calls ask for each question.
func (e *Evaluator) questions(ctx context.Context, path string, progress func(done, total int),
	ask func(*asker, imports.SetQuestion) error) error {
	set, err := readSet(path)
	if err != nil || len(set.Questions) == 0 {
		return err
	}
	return e.loaded(ctx, path, func(asker *asker) error {
		for i, q := range set.Questions {
			if err := ask(asker, q); err != nil {
				return fmt.Errorf("ask %s of %s: %w", q.ID, path, err)
			}
			if progress != nil {
				progress(i+1, len(set.Questions))
			}
		}
		return nil
	})
}

// loaded calls do with a set in a temporary store.
func (e *Evaluator) loaded(ctx context.Context, path string, do func(*asker) error) error {
	dir, err := os.MkdirTemp("", "hark-eval-")
	if err != nil {
		return fmt.Errorf("make a place for a temporary store: %w", err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Space: e.Embedder.Space()})
	if err != nil {
		return fmt.Errorf("open a temporary store: %w", err)
	}
	defer store.Close()
	if err := e.load(ctx, store, path); err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	asker, err := newAsker(ctx, store, e)
	if err != nil {
		return err
	}
	return do(asker)
}

// SetName returns what a set is called in a run file: its file's name without .jsonl and .gz.
func SetName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jsonl")
}

func readSet(path string) (imports.Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return imports.Set{}, err
	}
	defer f.Close()
	set, err := imports.ReadSet(f)
	if err == nil {
		err = check(set)
	}
	if err != nil {
		return set, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// check tells what keeps a set from being measured.
func check(set imports.Set) error {
	if len(set.Messages) == 0 {
		return errors.New("the set has no messages")
	}
	for _, q := range set.Questions {
		if set.Messages[q.Channel] == nil {
			return fmt.Errorf("question %s is about channel %s, of which the set has no messages", q.ID, q.Channel)
		}
		for _, id := range q.Evidence {
			if _, there := set.Messages[q.Channel][id]; !there {
				return fmt.Errorf("question %s has evidence %s, which is no message of channel %s", q.ID, id, q.Channel)
			}
		}
	}
	return nil
}

func (e *Evaluator) load(ctx context.Context, store *sqlite.Store, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	apply := func(events []memory.Event) error { return store.Apply(ctx, events...) }
	sum, err := imports.Read(ctx, f, store, apply, nil)
	if err != nil {
		return err
	}
	if sum.Skipped > 0 {
		return fmt.Errorf("%d messages can't be taken: %s", sum.Skipped, sum.FirstSkipped)
	}
	indexer := memory.Indexer{Queue: store, Embedder: e.Embedder}
	return indexer.Drain(ctx, nil)
}

// asker asks questions about what was loaded.
type asker struct {
	store    *sqlite.Store
	engine   *search.Engine
	builder  *builder.Builder
	channels map[string]memory.ChannelID
}

func newAsker(ctx context.Context, store *sqlite.Store, e *Evaluator) (*asker, error) {
	a := &asker{
		store:    store,
		engine:   search.New(store, store, e.Embedder).WithReranker(e.Reranker),
		builder:  e.Builder,
		channels: map[string]memory.ChannelID{},
	}
	guild, err := store.Guild(ctx, memory.LocalGuild)
	if err != nil {
		return nil, err
	}
	for _, c := range guild.Channels {
		a.channels[c.Name] = c.ID
	}
	return a, nil
}

func (a *asker) query(q imports.SetQuestion) search.Query {
	mode, _ := builder.InferMode(q.Text, nil)
	return search.Query{
		Text:     q.Text,
		Now:      q.Time,
		Guilds:   []memory.GuildID{memory.LocalGuild},
		IsSearch: mode == builder.ModeSearch,
		Scope:    memory.Scope{Channels: []memory.ChannelID{a.channels[q.Channel]}},
		Limit:    rankedHits,
		Repeats:  true,
	}
}

func (a *asker) ask(ctx context.Context, q imports.SetQuestion) (Outcome, error) {
	channel := a.channels[q.Channel]
	started := time.Now()
	result, err := a.engine.Search(ctx, a.query(q))
	took := time.Since(started)
	if err != nil {
		return Outcome{}, err
	}
	outcome := Outcome{
		ID:           q.ID,
		Context:      map[string]Context{},
		Millis:       float64(took.Microseconds()) / 1000,
		Evidence:     q.Evidence,
		Hits:         result.Hits,
		TextOnly:     result.TextOnly,
		RerankFailed: result.RerankFailed,
	}
	_, outcome.Near, err = a.evidence(ctx, q)
	if err != nil {
		return Outcome{}, err
	}
	ids := make([]memory.MessageID, len(result.Hits))
	for i, hit := range result.Hits {
		ids[i] = hit.Message.ID
	}
	outcome.Ranked, err = a.names(ctx, channel, ids)
	if err != nil {
		return Outcome{}, err
	}
	result.Hits, _ = result.Worth() // as where it is asked: ranking is measured all the same
	input := answer.History(result, channel, time.UTC, nil, nil)
	input.Now = q.Time
	counter := tokens.New()
	for _, budget := range Budgets {
		held, shown := a.builder.History(input, budget)
		ids = ids[:0]
		for _, s := range shown {
			if s.Fraction >= shownShare && !slices.Contains(ids, s.Message) {
				ids = append(ids, s.Message)
			}
		}
		names, err := a.names(ctx, channel, ids)
		if err != nil {
			return Outcome{}, err
		}
		outcome.Context[fmt.Sprint(budget)] = Context{
			Messages: names,
			Text:     held,
			Tokens:   counter.Count(held),
		}
	}
	return outcome, nil
}

// evidence returns the messages that answer q, and those with their direct neighbours.
func (a *asker) evidence(ctx context.Context,
	q imports.SetQuestion) (evidence, near map[memory.MessageID]bool, err error) {
	evidence = map[memory.MessageID]bool{}
	near = map[memory.MessageID]bool{}
	channel := a.channels[q.Channel]
	for _, name := range q.Evidence {
		id, err := memory.MessageByExternalID(ctx, a.store, channel, name)
		if err != nil {
			return nil, nil, err
		}
		evidence[id] = true
		around, err := a.store.Around(ctx, channel, []memory.MessageID{id}, 1, 1)
		if err != nil {
			return nil, nil, err
		}
		for _, m := range around {
			near[m.ID] = true
		}
	}
	return evidence, near, nil
}

// names returns what the set calls messages, in the order of ids.
func (a *asker) names(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) ([]string, error) {
	called, err := a.store.ExternalIDs(ctx, channel, ids)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		if name, ok := called[id]; ok {
			names = append(names, name)
		}
	}
	return names, nil
}
