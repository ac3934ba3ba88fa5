package builder

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hark/builder/escape"
)

func newInstructions(lines []string, count Counter) *instructions {
	i := &instructions{lines: lines, tokens: []int{0}}
	for n, line := range lines {
		i.tokens = append(i.tokens, i.tokens[n]+count.Count(line)+1)
	}
	return i
}

// all returns the tokens of all lines.
func (i *instructions) all() int { return i.tokens[len(i.lines)] }

// within returns how many lines fit into tokens.
func (i *instructions) within(tokens int) int {
	next, _ := slices.BinarySearch(i.tokens, max(0, tokens)+1)
	return next - 1
}

func (w *work) planPersona() {
	w.persona = strings.TrimSpace(w.in.Persona)
	if w.persona == "" {
		w.persona = defaultPersona
		w.personaSize = w.b.costs.persona
		if w.plain() {
			w.persona = plainPersona
		}
		return
	}
	w.personaSize = w.count(w.persona, escape.OwnText) + 2
}

func (w *work) planQuery() {
	q := &w.in.Query
	w.query = strings.TrimSpace(q.Content)
	w.queryFixed = 0
	switch {
	case !w.plain():
		w.queryFixed = w.speakerTokens(q) + w.b.costs.stampYear
	case w.isAsked():
		w.queryFixed = w.speakerTokens(q)
	}
	w.replied = w.replyLines(w.in.Replied)
	w.placeFixed = 0
	if w.in.Title.Name != "" {
		w.placeFixed = 2 + w.b.tally.of(w.place(w.in.Channel, w.in.Title))
	}
	if n := w.b.stored(w.query, q.Tokens); n > 0 && w.b.escape.IsSafe(w.query, w.queryBlock()) {
		w.querySize = n + 1
		return
	}
	w.querySize = w.count(w.query, w.queryBlock()) + 1
}

// isAsked reports whether the asker is known.
func (w *work) isAsked() bool {
	q := &w.in.Query
	return q.Role != RoleAssistant && (q.Author != 0 || strings.TrimSpace(q.Speaker) != "")
}

// queryBlock returns the query's layout: without a head it begins a line.
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

const (
	queryAlways = 100 // tokens that the query may always have
	headPart    = 8   // the query's head may have an eighth of the budget
)

// decide divides a budget of tokens: first the fixed parts, then the query, the rules, the persona, and the
// rest among the sections. It counts in fractions of a token, because rounding could take from one part what a
// larger budget gives another. A mode's own rules and raised ceilings come last: every mode shows whatever
// ModeGeneral would show, so a wrongly inferred mode loses nothing that was recalled.
func (w *work) decide(budget int) {
	shares := &w.b.shares
	whole := shares.whole
	all := int64(budget)
	left := max(0, all-int64(w.b.fixed)) * whole
	take := func(wanted, most int64) int64 { // wanted in tokens
		part := max(0, min(wanted*whole, most, left))
		left -= part
		return part
	}
	query := take(int64(w.querySize), max(shares.query*all, queryAlways*whole))
	head := take(int64(w.queryFixed), all*whole/headPart)
	replied := take(int64(longest(w.replied)), all*whole/headPart)
	place := take(int64(w.placeFixed), all*whole/headPart)
	spare := take(int64(w.b.costs.spare()), all*whole)
	general := w.b.modes[toolingOf(w.in.Tools)][ModeGeneral].all()
	// Up to two fifths of the system's share are for the persona; each may have what the other leaves.
	ruled := take(int64(general), shares.system*all-min(int64(w.personaSize)*whole, shares.system*all*2/5))
	persona := take(int64(w.personaSize), shares.system*all-ruled)

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
	ruled += take(int64(general), min(int64(general)*whole, shares.systemMost*all-persona)-ruled)
	persona += take(int64(w.personaSize), min(int64(w.personaSize)*whole, shares.systemMost*all-ruled)-persona)
	if !w.modest {
		takeOwnRules := func(most int64) {
			ruled += take(int64(w.rules.all()), min(int64(w.rules.all())*whole, most*all-persona)-ruled)
		}
		takeOwnRules(shares.system)
		left = serve(left, shares.order[:], &demands, &parts, func(d *demand) int64 { return d.ceiling + d.raised })
		takeOwnRules(shares.systemMost)
	}

	w.queryHead = head >= int64(w.queryFixed)*whole && (!w.plain() || w.isAsked())
	w.repliedShown = replyLine{}
	if w.queryHead {
		w.repliedShown = fitting(w.replied, int(replied/whole))
	}
	w.queryPlace = w.queryHead && w.placeFixed > 0 && place >= int64(w.placeFixed)*whole
	w.queryShown = w.fitQuery(int(query / whole))
	w.rulesShown = w.rules.within(int(ruled / whole))
	w.personaShown = w.fitPersona(int(persona / whole))
	w.bare = spare < int64(w.b.costs.spare())*whole
	w.tokens = w.b.fixed + w.systemTokens() + min(w.querySize, int(query/whole))
	if w.queryHead {
		w.tokens += w.queryFixed + w.repliedShown.tokens
	}
	if w.queryPlace {
		w.tokens += w.placeFixed
	}
	if !w.bare {
		w.tokens += w.b.costs.reminder
	}
	for k := range w.sections {
		s := &w.sections[k]
		s.floor = int(demands[k].floor / whole)
		s.ceiling = int((demands[k].ceiling + demands[k].raised) / whole)
		w.fill(s, size{int(parts[k] / whole), w.charRoom[k]})
		w.tokens += s.used.tokens
	}
	if !w.bare && w.recalledAny(howManyShown) == w.plain() {
		w.tokens += w.b.costs.nothing
	}
}

// insteadOf returns the line shown in place of recalled data: that there is none, or how many history items
// were left out.
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

// recalledAny reports whether any section of recalled data has a count above 0.
func (w *work) recalledAny(of func(*section) int) bool {
	for k := range w.sections {
		if kind(k).isRecalled() && of(&w.sections[k]) > 0 {
			return true
		}
	}
	return false
}

func howManyShown(s *section) int { return s.shown }

// systemTokens returns the tokens of the shown persona and rules.
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

// wordsOfMark is the least tokens of a query with room for the long mark of a cut.
const wordsOfMark = 20

// fitQuery returns the query in at most that many tokens, without its middle if it is longer.
func (w *work) fitQuery(tokens int) string {
	if tokens >= w.querySize || w.query == "" {
		return w.query
	}
	chars := utf8.RuneCountInString(w.query)
	mark := middleMark
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

// fitPersona returns the persona in at most that many tokens, without its end if it is longer.
func (w *work) fitPersona(tokens int) string {
	if tokens >= w.personaSize {
		return w.persona
	}
	if w.in.Persona == "" {
		return "" // half of the default sentence is worth nothing
	}
	chars := utf8.RuneCountInString(w.persona)
	for keep := chars * tokens / w.personaSize; keep > 0; keep = keep*9/10 - 1 {
		if text := w.persona[:cutAt(w.persona, keep)] + ellipsis; w.count(text, escape.OwnText)+2 <= tokens {
			return text
		}
	}
	return ""
}

// InstructionTokens returns the tokens of all rules of these modes without tools. Rules common to all modes
// count once. The plain layout has no modules.
func (b *Builder) InstructionTokens(modes ...Mode) int {
	common := newInstructions(rules(b.options, "", noTools), b.tally.count).all()
	tokens := common
	for _, m := range modes {
		tokens += b.modes[noTools][m].all() - common
	}
	return tokens
}
