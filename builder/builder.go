package builder

import (
	"fmt"
	"sync"
)

// Layout is the form of a prompt.
type Layout string

const (
	// LayoutSections has a system message, and one message of the user's with all sections.
	LayoutSections Layout = "sections"
	// LayoutPlain is short and without marks, for small models.
	LayoutPlain Layout = "plain"
	// LayoutChat is as LayoutSections, with the session's turns as messages of their own.
	LayoutChat Layout = "chat"
)

const (
	// DefaultMaxTokens is the budget of a prompt unless Options say otherwise.
	DefaultMaxTokens = 4000
	// MinTokens is a budget that is enough for every layout with the default labels. The least that New
	// takes is smaller for some.
	MinTokens = 400
)

// Options are how a Builder builds.
type Options struct {
	Layout    Layout // empty: LayoutSections
	MaxTokens int    // of all messages with their overhead; 0: DefaultMaxTokens
	MaxChars  int    // of what stands under the previous context's heading, in characters; 0: no such limit
	Citations bool   // whether history items are numbered, and the model told to cite them
	Labels    Labels // the zero value: DefaultLabels
}

// Counter counts the tokens of a text. It may be called from several goroutines. A text has no more tokens
// than bytes.
type Counter interface {
	Count(text string) int
}

// Builder builds prompts. It may be used by several goroutines.
type Builder struct {
	options Options
	labels  Labels
	marks   [6]string
	escape  *escaper
	tally   *tally
	costs   costs
	shares  shares
	fixed   int // tokens of a prompt without persona, recalled text, session and query
	works   sync.Pool
}

// New returns an error if there is no such layout, a label can't be used, or the budget is too small for the
// instructions and a few words of the query.
func New(o Options, count Counter) (*Builder, error) {
	if o.Layout == "" {
		o.Layout = LayoutSections
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if o.Labels == (Labels{}) {
		o.Labels = DefaultLabels()
	}
	switch o.Layout {
	case LayoutSections, LayoutPlain, LayoutChat:
	default:
		return nil, fmt.Errorf("prompt layout %q: want %q, %q or %q", o.Layout, LayoutSections, LayoutPlain, LayoutChat)
	}
	if o.MaxChars < 0 {
		return nil, fmt.Errorf("prompt of %d characters of context: want a number above 0, or 0 for no limit", o.MaxChars)
	}
	if err := o.Labels.check(); err != nil {
		return nil, fmt.Errorf("prompt labels: %w", err)
	}
	b := &Builder{options: o, labels: o.Labels, marks: o.Labels.marks(), escape: newEscaper(o.Labels, o.Citations), tally: newTally(count), shares: tokenShares(o.Layout)}
	b.costs = newCosts(b.labels, count)
	b.works.New = func() any { return new(work) }
	b.fixed = max(b.fixedTokens(count), b.leastTokens())
	least := b.fixed + b.costs.persona(o.Layout) + b.costs.speakerMost + 16
	if o.MaxTokens < least {
		return nil, fmt.Errorf("prompt of %d tokens: the %s layout needs at least %d", o.MaxTokens, o.Layout, least)
	}
	return b, nil
}

// Build lays in out.
func (b *Builder) Build(in Input) Prompt {
	w := b.begin(in)
	defer b.end(w)
	w.plan()
	budget := b.options.MaxTokens
	for {
		w.decide(budget)
		w.render()
		if tokens, within := w.check(); within || budget <= b.fixed {
			return w.prompt(tokens)
		}
		budget = w.nextBudget(budget)
	}
}

// History is in's history section alone, at most maxChars characters long, and the lines that it holds, in
// the order they stand there.
func (b *Builder) History(in Input, maxChars int) (string, []Shown) {
	w := b.begin(in)
	defer b.end(w)
	w.charsCount, w.tokensDont = true, true
	s := &w.sections[kindHistory]
	w.planHistory(s, size{tokens: noLimit, chars: maxChars})
	w.fill(s, size{tokens: noLimit, chars: maxChars})
	if s.shown == 0 {
		return "", nil
	}
	w.buf = w.appendHistory(w.buf[:0], s)
	return string(w.buf), w.shownLines(s)
}
