package builder

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// fixedTokens are those of a prompt in which nothing is but the builder's own words, a few more than counted
// afresh, since parts are counted that are joined later.
func (b *Builder) fixedTokens(count Counter) int {
	parts := []string{headSystem, b.rules(), headPrevious, b.labels.Nothing, headQuery, reminder}
	messages := 2
	switch b.options.Layout {
	case LayoutPlain:
		parts = []string{plainSystem, b.rules(), plainPrevious, plainSession, plainQuery, reminder}
	case LayoutChat:
		messages = 3
	}
	tokens := promptOverhead + messages*messageOverhead
	for _, part := range parts {
		tokens += count.Count(part) + 2
	}
	return tokens
}

// leastTokens are fixedTokens of the smallest prompt there can be, counted as a whole.
func (b *Builder) leastTokens() int {
	w := b.begin(Input{})
	defer b.end(w)
	w.plan()
	w.decide(0)
	w.render()
	return w.counted() - w.personaSize - w.queryFixed
}

// rules are the instructions besides the persona.
func (b *Builder) rules() string {
	switch {
	case b.options.Layout == LayoutPlain && b.options.Citations:
		return plainCiteRule
	case b.options.Layout == LayoutPlain:
		return ""
	case b.options.Citations:
		return generalRules + "\n" + citeRule
	}
	return generalRules
}

func (w *work) planPersona() {
	w.persona = strings.TrimSpace(w.in.Persona)
	w.personaSize = w.b.costs.persona(w.b.options.Layout)
	if w.persona != "" {
		w.personaSize = w.count(w.persona, ownText) + 2
	}
}

func (w *work) planQuery() {
	q := &w.in.Query
	w.query, w.queryFixed = strings.TrimSpace(q.Content), 0
	if !w.plain() {
		w.queryFixed = w.speakerTokens(q) + w.b.costs.stampYear
	}
	if n := w.b.stored(w.query, q.Tokens); n > 0 && w.b.escape.isSafe(w.query, w.queryBlock()) {
		w.querySize = n + 1
		return
	}
	w.querySize = w.count(w.query, w.queryBlock()) + 1
}

func (w *work) queryBlock() *block {
	if w.plain() {
		return bareText
	}
	return indented
}

// count is the tokens of text as it will stand in the prompt.
func (w *work) count(text string, b *block) int {
	w.scratch = w.b.escape.appendSafe(w.scratch[:0], text, b)
	return w.b.tally.of(w.scratch)
}

// decide divides a budget of tokens: what is always there first, then the query, the persona, and what is
// left among the sections. It reckons in fractions of a token, so that rounding can't take from one part
// what a larger budget gives another.
func (w *work) decide(budget int) {
	shares := &w.b.shares
	whole, all := shares.whole, int64(budget)
	left := (all - int64(w.b.fixed) - int64(w.queryFixed)) * whole

	query := min(int64(w.querySize)*whole, shares.query*all, max(0, left))
	left -= query
	persona := int64(w.personaSize) * whole
	if w.persona != "" {
		persona = min(persona, max(0, shares.system*all-int64(w.rulesSize())*whole), max(0, left))
	}
	left -= persona

	var demands [sectionKinds]demand
	var parts [sectionKinds]int64
	for k := range demands {
		s := shares.sections[k]
		demands[k] = demand{int64(w.wants(kind(k)).tokens) * whole, s.floor * all, s.ceiling * all}
	}
	distribute(left, demands[:], parts[:])

	w.queryShown = w.fitQuery(int(query / whole))
	w.personaShown = w.fitPersona(int(persona / whole))
	w.tokens = w.b.fixed + w.queryFixed + int(query/whole) + int(persona/whole)
	for k := range w.sections {
		s := &w.sections[k]
		s.floor, s.ceiling = int(demands[k].floor/whole), int(demands[k].ceiling/whole)
		w.fill(s, size{int(parts[k] / whole), w.charRoom[k]})
		w.tokens += s.used.tokens
	}
}

func (w *work) rulesSize() int {
	return w.b.tally.of([]byte(w.b.rules())) + w.b.costs.titles[kindSession]
}

// fitQuery is the query in at most so many tokens, without its middle if it is longer.
func (w *work) fitQuery(tokens int) string {
	if tokens >= w.querySize {
		return w.query
	}
	chars := utf8.RuneCountInString(w.query)
	for keep := chars * max(0, tokens) / w.querySize; keep > 0; keep = keep*9/10 - 1 {
		if text := withoutMiddle(w.query, keep); w.count(text, w.queryBlock()) < tokens {
			return text
		}
	}
	return strings.TrimSpace(middleCut)
}

// fitPersona is the persona in at most so many tokens, without its end if it is longer.
func (w *work) fitPersona(tokens int) string {
	switch {
	case w.persona == "" && w.plain():
		return plainPersona
	case w.persona == "":
		return defaultPersona
	case tokens >= w.personaSize:
		return w.persona
	}
	chars := utf8.RuneCountInString(w.persona)
	for keep := chars * tokens / w.personaSize; keep > 0; keep = keep*9/10 - 1 {
		if text := w.persona[:cutAt(w.persona, keep)] + ellipsis; w.count(text, ownText)+2 <= tokens {
			return text
		}
	}
	return ""
}

func (w *work) sizeOfMore(n int) size {
	text := w.moreText(n)
	s := size{chars: utf8.RuneCountInString(text) + 1}
	if !w.tokensDont {
		s.tokens = w.b.tally.of([]byte(text)) + 1
	}
	return s
}

func (w *work) moreText(n int) string {
	if n == 1 {
		return w.b.labels.MoreOne
	}
	return fmt.Sprintf(w.b.labels.More, n)
}

// nextBudget is the largest budget below that decides otherwise. Since a smaller budget never holds what a
// larger one doesn't, walking down by ones finds the most that the tokens as counted allow, and more budget
// still never loses an item. It is hardly ever needed.
func (w *work) nextBudget(budget int) int {
	before := w.decisions()
	for budget > w.b.fixed {
		budget--
		w.decide(budget)
		if w.decisions() != before {
			break
		}
	}
	return budget
}

// decisions is a hash of all that was decided.
func (w *work) decisions() uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, w.queryShown, w.personaShown)
	for k := range w.sections {
		s := &w.sections[k]
		fmt.Fprintln(h, s.shown, s.more)
		for i := range s.entries[:s.shown] {
			for j := range s.entries[i].pieces {
				fmt.Fprintln(h, s.entries[i].pieces[j].at)
			}
		}
	}
	return h.Sum64()
}
