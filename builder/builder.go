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

// New returns an error for an unknown layout, an invalid label or section limit, or a budget too small for
// the headings and some words of the query.
func New(o Options, count Counter) (*Builder, error) {
	o = o.withDefaults()
	shares, err := o.check()
	if err != nil {
		return nil, err
	}
	b := &Builder{
		options: o,
		labels:  o.Labels,
		marks:   o.Labels.marks(),
		escape: escaperOf(o.Labels,
			o.Citations),
		tally:  newTally(count),
		shares: shares,
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

// leastTokens returns the tokens of the smallest prompt, without its query.
func (b *Builder) leastTokens() int {
	w := b.begin(Input{})
	w.plan()
	w.decide(0)
	w.render()
	return w.counted()
}

// plan measures whatever the largest budget could show.
func (w *work) plan() {
	for k, plan := range [sectionKinds]func(*section, size){
		w.planSession, w.planParticipants, w.planHistory, w.planEarlier, w.planLore, w.planFiles} {
		s := &w.sections[k]
		k := kind(k)
		if modes := w.b.shares.sections[k].modes; len(modes) > 0 && !slices.Contains(modes, w.mode) {
			s.items = w.items(k)
			s.absent = true
			continue
		}
		plan(s, w.mostOf(k))
	}
	w.planPersona()
	w.planQuery()
	w.planChars()
}
