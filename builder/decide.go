package builder

import (
	"fmt"
	"hark/builder/escape"
	"slices"
	"strings"
	"unicode/utf8"
)

// leastTokens returns those of the smallest prompt there can be but for its query.
func (b *Builder) leastTokens() int {
	w := b.begin(Input{})
	w.plan()
	w.decide(0)
	w.render()
	return w.counted()
}

// instructions are a mode's rules and what they take.
type instructions struct {
	lines  []string
	tokens []int // of the first n lines together, n being the index
}

func newInstructions(lines []string, count Counter) *instructions {
	i := &instructions{lines: lines, tokens: []int{0}}
	for n, line := range lines {
		i.tokens = append(i.tokens, i.tokens[n]+count.Count(line)+1)
	}
	return i
}

// all returns what all lines take.
func (i *instructions) all() int { return i.tokens[len(i.lines)] }

// within returns how many lines so many tokens hold.
func (i *instructions) within(tokens int) int {
	next, _ := slices.BinarySearch(i.tokens, max(0, tokens)+1)
	return next - 1
}

func (w *work) planPersona() {
	if w.persona = strings.TrimSpace(w.in.Persona); w.persona == "" {
		w.persona, w.personaSize = defaultPersona, w.b.costs.persona
		if w.plain() {
			w.persona = plainPersona
		}
		return
	}
	w.personaSize = w.count(w.persona, escape.OwnText) + 2
}

func (w *work) planQuery() {
	q := &w.in.Query
	w.query, w.queryFixed = strings.TrimSpace(q.Content), 0
	switch {
	case !w.plain():
		w.queryFixed = w.speakerTokens(q) + w.b.costs.stampYear
	case w.isAsked():
		w.queryFixed = w.speakerTokens(q)
	}
	if n := w.b.stored(w.query, q.Tokens); n > 0 && w.b.escape.IsSafe(w.query, w.queryBlock()) {
		w.querySize = n + 1
		return
	}
	w.querySize = w.count(w.query, w.queryBlock()) + 1
}

// isAsked reports whether it is known who asks.
func (w *work) isAsked() bool {
	q := &w.in.Query
	return q.Role != RoleAssistant && (q.Author != 0 || strings.TrimSpace(q.Speaker) != "")
}

// queryBlock returns how the query is laid out: a line begins with it where nothing stands before it.
func (w *work) queryBlock() *escape.Block {
	if !w.queryHead {
		return escape.BareText
	}
	return escape.Indented
}

// count returns the tokens of text as it will stand in the prompt.
func (w *work) count(text string, b *escape.Block) int {
	w.scratch = w.b.escape.AppendSafe(w.scratch[:0], text, b)
	return w.b.tally.of(w.scratch)
}

// What the query and what stands before it may always have, in tokens and as a part of the budget.
const (
	queryAlways = 100
	headPart    = 8 // an eighth
)

// decide divides a budget of tokens: what is always there first, then the query, the rules, the persona, and
// what is left among the sections. It reckons in fractions of a token, so that rounding can't take from one
// part what a larger budget gives another. A mode's own rules, and what it raises, come last: whatever the
// general mode would show is shown in every mode, so that a mode inferred wrongly costs nothing that was
// recalled.
func (w *work) decide(budget int) {
	shares := &w.b.shares
	whole, all := shares.whole, int64(budget)
	left := max(0, all-int64(w.b.fixed)) * whole
	take := func(wanted, most int64) int64 { // wanted in tokens
		part := max(0, min(wanted*whole, most, left))
		left -= part
		return part
	}
	query := take(int64(w.querySize), max(shares.query*all, queryAlways*whole))
	head := take(int64(w.queryFixed), all*whole/headPart)
	spare := take(int64(w.b.costs.spare()), all*whole)
	general := w.b.modes[toolingOf(w.in.Tools)][ModeGeneral].all()
	// Two fifths of the system's share are kept for the persona, as far as it needs them; each may have what
	// the other leaves.
	told := take(int64(general), shares.system*all-min(int64(w.personaSize)*whole, shares.system*all*2/5))
	persona := take(int64(w.personaSize), shares.system*all-told)

	var demands [sectionKinds]demand
	var parts [sectionKinds]int64
	together := shares.together * all
	for k := range demands {
		s := &shares.sections[k]
		ceiling := s.ceiling * all
		demands[k] = demand{int64(w.wants(kind(k)).tokens) * whole, s.floor * all, ceiling,
			ceiling * raised[w.mode][k] / 1000, nil}
		if w.plain() && kind(k).isRecalled() {
			demands[k].room = &together
		}
	}
	left = distribute(left, shares.order[:], &demands, &parts)
	told += take(int64(general), min(int64(general)*whole, shares.systemMost*all-persona)-told)
	persona += take(int64(w.personaSize), min(int64(w.personaSize)*whole, shares.systemMost*all-told)-persona)
	if !w.modest {
		own := func(most int64) { // of the mode's rules
			told += take(int64(w.rules.all()), min(int64(w.rules.all())*whole, most*all-persona)-told)
		}
		own(shares.system)
		left = serve(left, shares.order[:], &demands, &parts, func(d *demand) int64 { return d.ceiling + d.raised })
		own(shares.systemMost)
	}

	w.queryHead = head >= int64(w.queryFixed)*whole && (!w.plain() || w.isAsked())
	w.queryShown = w.fitQuery(int(query / whole))
	w.rulesShown = w.rules.within(int(told / whole))
	w.personaShown = w.fitPersona(int(persona / whole))
	w.bare = spare < int64(w.b.costs.spare())*whole
	w.tokens = w.b.fixed + w.systemTokens() + min(w.querySize, int(query/whole))
	if w.queryHead {
		w.tokens += w.queryFixed
	}
	if !w.bare {
		w.tokens += w.b.costs.reminder
	}
	for k := range w.sections {
		s := &w.sections[k]
		s.floor, s.ceiling = int(demands[k].floor/whole), int((demands[k].ceiling+demands[k].raised)/whole)
		w.fill(s, size{int(parts[k] / whole), w.charRoom[k]})
		w.tokens += s.used.tokens
	}
	if !w.bare && w.recalledAny(howManyShown) == w.plain() {
		w.tokens += w.b.costs.nothing
	}
}

// insteadOf returns what stands where nothing is shown of what was recalled: that there was nothing, or how
// much of the history there was.
func (w *work) insteadOf() string {
	text := w.b.labels.Nothing
	if w.recalledAny(func(s *section) int { return s.items }) {
		text = ""
	}
	if n := w.sections[kindHistory].items; n > 0 {
		text = w.moreText(n)
	}
	if w.bare || w.charsCount && utf8.RuneCountInString(text) > w.b.options.MaxChars {
		return ""
	}
	return text
}

// recalledAny reports whether there is any of the sections that stand under the previous context's heading.
func (w *work) recalledAny(of func(*section) int) bool {
	for k := range w.sections {
		if kind(k).isRecalled() && of(&w.sections[k]) > 0 {
			return true
		}
	}
	return false
}

func howManyShown(s *section) int { return s.shown }

// systemTokens returns those of the persona and the rules that are shown.
func (w *work) systemTokens() int {
	tokens := w.rules.tokens[w.rulesShown]
	switch {
	case w.personaShown == w.persona:
		tokens += w.personaSize
	case w.personaShown != "":
		tokens += w.count(w.personaShown, escape.OwnText) + 2
	}
	return tokens
}

// wordsOfMark is how many tokens of a query leave room to say in words that it was cut.
const wordsOfMark = 20

// fitQuery returns the query in at most so many tokens, without its middle if it is longer.
func (w *work) fitQuery(tokens int) string {
	if tokens >= w.querySize || w.query == "" {
		return w.query
	}
	chars, mark := utf8.RuneCountInString(w.query), middleMark
	if tokens < wordsOfMark {
		mark = shortMark
	}
	for keep := chars * max(0, tokens) / w.querySize; keep > 0; keep = keep*9/10 - 1 {
		if text := withoutMiddle(w.query, keep, mark); w.count(text, w.queryBlock()) < tokens {
			return text
		}
	}
	return strings.TrimSpace(mark)
}

// fitPersona returns the persona in at most so many tokens, without its end if it is longer.
func (w *work) fitPersona(tokens int) string {
	if tokens >= w.personaSize {
		return w.persona
	}
	if w.in.Persona == "" {
		return "" // half of the sentence that stands for one is worth nothing
	}
	chars := utf8.RuneCountInString(w.persona)
	for keep := chars * tokens / w.personaSize; keep > 0; keep = keep*9/10 - 1 {
		if text := w.persona[:cutAt(w.persona, keep)] + ellipsis; w.count(text, escape.OwnText)+2 <= tokens {
			return text
		}
	}
	return ""
}

func (w *work) sizeOfMore(n int) size {
	text := w.moreText(n)
	return size{w.b.Tokens(text) + 1, utf8.RuneCountInString(text) + 1}
}

func (w *work) moreText(n int) string {
	if n == 1 {
		return w.b.labels.MoreOne
	}
	return fmt.Sprintf(w.b.labels.More, n)
}

// InstructionTokens returns how many tokens the rules take that are told where there is room for all, with
// the modules of these modes. What is common to all modes counts once. The plain layout has no modules.
func (b *Builder) InstructionTokens(modes ...Mode) int {
	common := newInstructions(rules(b.options, "", noTools), b.tally.count).all()
	tokens := common
	for _, m := range modes {
		tokens += b.modes[noTools][m].all() - common
	}
	return tokens
}
