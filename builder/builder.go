package builder

import (
	"cmp"
	"fmt"
	"hark/builder/escape"
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

// DefaultTokens returns the budget of a prompt of this layout unless Options say otherwise.
func (l Layout) DefaultTokens() int {
	if l == LayoutPlain {
		return PlainMaxTokens
	}
	return DefaultMaxTokens
}

const (
	// DefaultMaxTokens is the budget of a prompt unless Options say otherwise, and PlainMaxTokens of
	// LayoutPlain.
	DefaultMaxTokens = 4000
	PlainMaxTokens   = 700
	// MinTokens is a budget that is enough for every layout with the labels of every language: for the
	// headings, one sentence of instructions and a few words of the query.
	MinTokens = 50

	// DefaultLineChars and DefaultDataChars are how much of a history line and of a person's data is shown,
	// in characters, before there is room for more.
	DefaultLineChars = 150
	DefaultDataChars = 100
)

// Options are how a Builder builds.
type Options struct {
	Layout    Layout // empty: LayoutSections
	MaxTokens int    // of all messages with their overhead; 0: the layout's DefaultTokens
	Window    int    // of the model, in tokens: the most that prompt and answer may have together; 0: not known
	Answer    int    // how much of Window is kept free for the answer
	MaxChars  int    // of what stands under the previous context's heading, in characters; 0: no such limit
	Citations bool   // whether history items are numbered, and the model told to cite them
	Labels    Labels // the zero value: DefaultLabels

	// LineChars and DataChars are how many characters of a history line and of a person's data are shown at
	// first, and of a neighbour's line four fifths. While the section has room they grow, those of the best
	// items first. 0: the defaults.
	LineChars, DataChars int
	// Sections are the limits of sections that differ from DefaultSections of the layout.
	Sections map[SectionType]Limits
}

// Counter counts the tokens of a text. It may be called from several goroutines. A text has no more tokens
// than bytes.
type Counter interface {
	Count(text string) int
	// Stored is Count of a text, found from what is stored with it, its count by o200k; 0 if that doesn't
	// help and the text must be counted.
	Stored(text string, stored int) int
}

// Builder builds prompts. It may be used by several goroutines.
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
	least   int // tokens of the smallest budget
}

// New returns an error if there is no such layout, a label or a section's limits can't be used, or the budget
// is too small for the headings and a few words of the query.
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
	if err := b.checkWindow(); err != nil {
		return nil, err
	}
	return b, nil
}

const (
	spareTokens = 2 // where parts meet that are counted by themselves
	leastQuery  = 4 // of the query, at the least
)

func (o Options) withDefaults() Options {
	if o.Layout == "" {
		o.Layout = LayoutSections
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = o.Layout.DefaultTokens()
	}
	if o.Labels == (Labels{}) {
		o.Labels = DefaultLabels()
	}
	if o.LineChars == 0 {
		o.LineChars = DefaultLineChars
	}
	if o.DataChars == 0 {
		o.DataChars = DefaultDataChars
	}
	return o
}

func (o Options) check() (shares, error) {
	switch o.Layout {
	case LayoutSections, LayoutPlain, LayoutChat:
	default:
		return shares{}, fmt.Errorf("prompt layout %q: want %q, %q or %q", o.Layout, LayoutSections,
			LayoutPlain, LayoutChat)
	}
	if o.MaxChars < 0 {
		return shares{}, fmt.Errorf("prompt of %d characters of context: want a number above 0, or 0 for no limit", o.MaxChars)
	}
	if o.LineChars < 0 || o.DataChars < 0 {
		return shares{}, fmt.Errorf("prompt lines of %d and data of %d characters: want numbers above 0",
			o.LineChars, o.DataChars)
	}
	if err := o.Labels.Check(); err != nil {
		return shares{}, fmt.Errorf("prompt labels: %w", err)
	}
	return sharesOf(o.Layout, o.Sections)
}

// Labels returns those of b's prompts.
func (b *Builder) Labels() Labels { return b.labels }

// Build lays in out.
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
			// A smaller budget never holds what a larger one doesn't. Going down by ones finds the most that
			// the tokens as counted allow, and more budget still never loses an item. It is hardly ever
			// needed.
			budget--
		}
	}
}

// History is in's history section alone, at most maxChars characters long, and the lines that it holds, in
// the order they stand there.
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
	return string(w.buf), w.shownLines(s)
}

func (b *Builder) checkWindow() error {
	o := b.options
	switch {
	case o.Window < 0 || o.Answer < 0:
		return fmt.Errorf("window of %d tokens, %d of them for the answer: want numbers above 0, or 0 if they aren't known", o.Window, o.Answer)
	case o.Window > 0 && o.MaxTokens+o.Answer > o.Window:
		return fmt.Errorf("prompt of %d tokens and answer of %d: the window has %d", o.MaxTokens, o.Answer, o.Window)
	}
	return nil
}

// maxTokens returns the budget of the prompt being built.
func (w *work) maxTokens() int {
	most := w.b.options.MaxTokens
	if w.in.MaxTokens > 0 {
		most = min(most, max(w.in.MaxTokens, w.b.least))
	}
	return most
}

// stored returns how many tokens text has, by the count that is stored with it; 0 if that doesn't tell.
func (b *Builder) stored(text string, tokens int) int {
	if tokens <= 0 {
		return 0
	}
	return min(b.tally.count.Stored(text, tokens), len(text))
}

// Use returns the part of the model's window that the prompt and the longest answer take, from 0 to 1. Where
// no window is known it is the part of what the longest prompt and answer take.
func (r Report) Use() float64 {
	return float64(r.Tokens+r.Answer) / float64(max(1, cmp.Or(r.Window, r.MaxTokens+r.Answer)))
}
