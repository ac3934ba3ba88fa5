// Package builder lays out what was recalled as a prompt within a budget.
//
// It has no clock, no I/O and no context: the same input gives the same bytes. Its promises:
//
//   - A prompt is never longer than its budget, as the tokenizer counts it.
//   - Items are left out whole, by priority, and reported. A larger budget never loses an item that a smaller one
//     holds. It shows less of an item only if it shows more items.
//   - Text is cut between graphemes, with a mark.
//   - Instructions come before data. Nothing that members wrote is in the system message, begins a section, speaks
//     as somebody else, or looks like the prompt's own words. A prompt can be parsed back into its input.
//
// Begin with Input, New and Builder.Build.
package builder

import (
	"cmp"
	"fmt"
	"slices"

	"hark/builder/escape"
)

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

// Layouts returns all layouts, the default first.
func Layouts() []Layout { return []Layout{LayoutSections, LayoutPlain, LayoutChat} }

// DefaultTokens returns the layout's default budget.
func (l Layout) DefaultTokens() int {
	if l == LayoutPlain {
		return PlainMaxTokens
	}
	return DefaultMaxTokens
}

// UsefulTokens returns the least budget with which the layout's prompts are worth an answer.
func (l Layout) UsefulTokens() int {
	if l == LayoutPlain {
		return PlainMaxTokens / 3
	}
	return UsefulTokens
}

const (
	// DefaultMaxTokens is the default budget of a prompt, PlainMaxTokens that of LayoutPlain.
	DefaultMaxTokens = 4000
	PlainMaxTokens   = 700
	// MinTokens is enough for every layout with the labels of every language: headings, one sentence of
	// instructions and some words of the query.
	MinTokens = 100
	// UsefulTokens is the least budget of a prompt that is worth an answer, but in LayoutPlain: it has the rules, a
	// question and some of what was said. Below it the question still stands, and little else.
	UsefulTokens = 700

	// Characters of a history line and of a person's data that are shown at first.
	DefaultLineChars = 150
	DefaultDataChars = 100
)

// Options configure a Builder.
type Options struct {
	Layout    Layout // empty: LayoutSections
	MaxTokens int    // of all messages with their overhead; 0: the layout's DefaultTokens
	Window    int    // tokens of prompt and answer together that the model takes; 0: unknown
	Answer    int    // tokens of Window reserved for the answer
	MaxChars  int    // characters of recalled data; 0: no limit
	Citations bool   // number history items, and tell the model to cite them
	Labels    Labels // the zero value: DefaultLabels

	// LineChars and DataChars are the characters of a history line and of a person's data that are shown at
	// first; a neighbour's line gets four fifths. They grow while the section has room, best items first.
	// 0: the defaults.
	LineChars, DataChars int
	// Sections replace limits of the layout's DefaultSections.
	Sections map[SectionType]Limits
}

// Counter counts the tokens of a text. It must be safe for concurrent use. A text has no more tokens than
// bytes.
type Counter interface {
	Count(text string) int
	// Stored returns Count of a text by its stored o200k count; 0 if the text must be counted.
	Stored(text string, stored int) int
}

// Builder builds prompts. It is safe for concurrent use.
type Builder struct {
	options Options
	labels  Labels
	marks   [6]string
	escape  *escape.Escaper
	tally   *tally
	costs   costs
	shares  shares
	modes   [toolsAndHistory + 1]map[Mode]*instructions
	fixed   int // tokens of a prompt without persona, rules, recalled text, session and query
	least   int // the smallest budget
}

// New returns an error for an unknown layout, an invalid label or section limit, or a budget too small for
// the headings and some words of the query.
func New(o Options, count Counter) (*Builder, error) {
	o = o.withDefaults()
	shares, err := o.check()
	if err != nil {
		return nil, err
	}
	b := &Builder{
		options: o, labels: o.Labels, marks: o.Labels.marks(), escape: escaperOf(o.Labels,
			o.Citations), tally: newTally(count), shares: shares,
	}
	b.costs = newCosts(&b.labels, o.Layout, count)
	for t := range b.modes {
		b.modes[t] = map[Mode]*instructions{}
		for _, m := range Modes() {
			b.modes[t][m] = newInstructions(rules(o, m, tooling(t)), count)
		}
	}
	b.fixed = b.leastTokens() + spareTokens
	b.least = b.fixed + leastQuery
	if o.MaxTokens < b.least {
		return nil, fmt.Errorf("prompt of %d tokens: the %s layout needs at least %d", o.MaxTokens, o.Layout, b.least)
	}
	return b, nil
}

const (
	spareTokens = 2  // where parts meet that are counted separately
	leastQuery  = 24 // least tokens of the query
)

func (o Options) withDefaults() Options {
	o.Layout = cmp.Or(o.Layout, LayoutSections)
	o.MaxTokens = cmp.Or(o.MaxTokens, o.Layout.DefaultTokens())
	o.Labels = cmp.Or(o.Labels, DefaultLabels())
	o.LineChars = cmp.Or(o.LineChars, DefaultLineChars)
	o.DataChars = cmp.Or(o.DataChars, DefaultDataChars)
	return o
}

func (o Options) check() (shares, error) {
	switch {
	case !slices.Contains(Layouts(), o.Layout):
		return shares{}, fmt.Errorf("prompt layout %q: want %q, %q or %q", o.Layout, LayoutSections,
			LayoutPlain, LayoutChat)
	case o.MaxChars < 0:
		return shares{}, fmt.Errorf("prompt of %d characters of context: want a number above 0, or 0 for no limit",
			o.MaxChars)
	case o.LineChars < 0 || o.DataChars < 0:
		return shares{}, fmt.Errorf("prompt lines of %d and data of %d characters: want numbers above 0",
			o.LineChars, o.DataChars)
	case o.Window < 0 || o.Answer < 0:
		return shares{}, fmt.Errorf("window of %d tokens, %d of them for the answer: want numbers above 0, "+
			"or 0 if they aren't known", o.Window, o.Answer)
	case o.Window > 0 && o.MaxTokens+o.Answer > o.Window:
		return shares{}, fmt.Errorf("prompt of %d tokens and answer of %d: the window has %d", o.MaxTokens,
			o.Answer, o.Window)
	}
	if err := o.Labels.Check(); err != nil {
		return shares{}, fmt.Errorf("prompt labels: %w", err)
	}
	return sharesOf(o.Layout, o.Sections)
}

// Labels returns the labels of b's prompts.
func (b *Builder) Labels() Labels { return b.labels }

// Build lays out a prompt.
func (b *Builder) Build(in Input) Prompt {
	w := b.begin(in)
	w.plan()
	budget := w.maxTokens()
	for {
		w.decide(budget)
		w.render()
		tokens, within := w.check()
		switch {
		case within || budget <= b.fixed:
			return w.prompt(tokens)
		case w.mode != ModeGeneral && !w.modest:
			w.modest = true // what only this mode has goes first
		default:
			// A smaller budget never holds what a larger one doesn't, so steps of one find the largest that
			// fits by count, and more budget still loses no item. Rarely needed.
			budget--
		}
	}
}

// History returns the history section alone, in at most maxChars characters, and the lines in it, in order.
func (b *Builder) History(in Input, maxChars int) (string, []Shown) {
	w := b.begin(in)
	w.charsCount = true
	s := &w.sections[kindHistory]
	w.planHistory(s, size{tokens: noLimit, chars: maxChars})
	w.fill(s, size{tokens: noLimit, chars: maxChars})
	if s.shown == 0 {
		return "", nil
	}
	w.putHistory(s)
	return string(w.buf), w.shownLines()
}

// maxTokens returns the budget of the prompt being built.
func (w *work) maxTokens() int {
	most := w.b.options.MaxTokens
	if w.in.MaxTokens > 0 {
		most = min(most, max(w.in.MaxTokens, w.b.least))
	}
	return most
}

// stored returns the tokens of text by its stored count; 0 if text must be counted.
func (b *Builder) stored(text string, tokens int) int {
	if tokens <= 0 {
		return 0
	}
	return min(b.tally.count.Stored(text, tokens), len(text))
}
