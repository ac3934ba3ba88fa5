package builder

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"hark/builder/escape"
	"hark/memory"
)

// Characters of a text shown at first.
const (
	turnChars           = 400
	summaryChars        = 600
	loreChars           = 200
	condensedChars      = 500 // of the session's summary, before older turns
	plainCondensedChars = 250
	plainSummaryChars   = 250
	plainExchangeChars  = 500 // of all turns of an exchange
)

// bestItems is how many of the best history items get bestLines thirds of the usual length (400 characters
// for 150) before later items are shown at all: whole hits matter more than many partial ones.
const (
	bestItems = 10
	bestLines = 8
)

// besideFifths is the share of the usual length that a hit's neighbours get: they need room for their times.
const besideFifths = 4

// The most summaries and exchanges in the plain layout.
const (
	plainSummaries = 3
	plainExchanges = 3
)

// work is the state of building one prompt.
type work struct {
	b          *Builder
	in         Input
	charsCount bool                     // characters are limited
	allTurns   bool                     // the number of exchanges is unlimited
	alone      bool                     // this is a Part, without titles
	first      int                      // the history's first number
	whoHas     map[string]memory.UserID // by name; see namesakes

	sections [sectionKinds]section
	shortSum size // of the section being planned
	charRoom [sectionKinds]int

	mode         Mode
	rules        *instructions
	modest       bool // the mode has no more room than ModeGeneral
	rulesShown   int  // lines
	persona      string
	personaSize  int
	personaShown string
	query        string
	querySize    int
	queryShown   string
	queryFixed   int
	queryHead    bool // the time and the asker precede the query
	replied      []replyLine
	repliedShown replyLine
	placeFixed   int
	queryPlace   bool // and so does the thread that it is asked in
	bare         bool // optional parts are left out

	scratch []byte
	nameBuf []byte
	buf     []byte
	ends    []int    // of the messages in buf
	roles   []string // of the messages
	bounds  []Boundary
	spans   []Span
	tokens  int // as decided
}

func (b *Builder) begin(in Input) *work {
	w := &work{b: b, in: in, charsCount: b.options.MaxChars > 0, first: max(1, in.FirstNumber), mode: in.Mode}
	if !w.mode.Known() {
		w.mode = ModeGeneral
	}
	w.rules = b.modes[toolingOf(in.Tools)][w.mode]
	for i := range w.sections {
		w.sections[i].kind = kind(i)
	}
	return w
}

// plan measures whatever the largest budget could show.
func (w *work) plan() {
	for k, plan := range [sectionKinds]func(*section, size){
		w.planSession, w.planParticipants, w.planHistory, w.planEarlier, w.planLore, w.planFiles} {
		s, k := &w.sections[k], kind(k)
		if modes := w.b.shares.sections[k].modes; len(modes) > 0 && !slices.Contains(modes, w.mode) {
			s.items, s.absent = w.items(k), true
			continue
		}
		plan(s, w.mostOf(k))
	}
	w.planPersona()
	w.planQuery()
	w.planChars()
}

// items returns the number of items in the input.
func (w *work) items(k kind) int {
	turns := len(w.in.Session)
	if strings.TrimSpace(w.in.Condensed) != "" {
		turns++
	}
	return [sectionKinds]int{
		kindSession: turns, kindParticipants: len(w.in.Participants), kindHistory: len(w.in.History),
		kindEarlier: len(w.in.PreviousContext), kindLore: len(w.in.Lore), kindFiles: len(w.in.Files),
	}[k]
}

// mostOf returns a size that a section can't exceed.
func (w *work) mostOf(k kind) size {
	o, s := w.b.options, w.b.shares
	ceiling := s.sections[k].ceiling * (1000 + raised[w.mode][k])
	most := size{tokens: int(int64(w.maxTokens()) * ceiling / (1000 * s.whole)), chars: noLimit}
	if o.MaxChars > 0 && k.isRecalled() {
		most.chars = o.MaxChars
	}
	return most
}

// head returns the size of a section's title with the empty lines around it.
func (w *work) head(k kind) size {
	if w.alone {
		return size{}
	}
	if w.plain() && k != kindSession {
		return size{2, 2}
	}
	return size{w.b.costs.titles[k], utf8.RuneCountInString(w.b.labels.sectionTitles()[k]) + 2}
}

func (w *work) plain() bool { return w.b.options.Layout == LayoutPlain }

func (w *work) planParticipants(s *section, most size) {
	if w.plain() && (!w.alone || len(w.in.History) > 0) {
		return
	}
	s.items, s.head = len(w.in.Participants), w.head(kindParticipants)
	c := &w.b.costs
	for i := range w.in.Participants {
		p := &w.in.Participants[i]
		e := entry{index: i}
		name := w.name(p.Name)
		e.fixed.tokens = c.person + w.tagTokens(p.ID) + c.around + w.b.tally.of(name)
		if strings.TrimSpace(p.Data) != "" {
			e.pieces = []piece{w.measure(p.Data, 0, escape.InLine, w.b.options.DataChars)}
			e.fixed.tokens += c.data
		}
		if w.charsCount {
			w.scratch = w.appendParticipant(w.scratch[:0], p)
			e.fixed.chars = runes(w.scratch) + 1
			if len(e.pieces) > 0 {
				e.fixed.chars += runes([]byte(w.b.labels.DataMark)) + runes([]byte(w.b.labels.Data)) + 1
			}
		}
		if !w.add(s, e, most) {
			return
		}
	}
}

func (w *work) planHistory(s *section, most size) {
	order := w.byRelevance()
	s.items, s.head = len(order), w.head(kindHistory)
	for _, i := range order {
		item := &w.in.History[i]
		e := entry{index: i, lead: item.lead()}
		if !w.plain() {
			e.marks = w.marks(item)
		}
		e.fixed = w.historyFixed(item, &e, w.first+len(s.entries))
		for j, line := range item.Lines {
			chars := w.b.options.LineChars
			if j != e.lead {
				chars = chars * besideFifths / 5
			}
			e.pieces = append(e.pieces, w.measure(line.Content, line.Tokens, escape.InLine, chars))
		}
		if len(s.entries) < bestItems {
			e.claim = w.claimOf(&e.pieces[e.lead], bestLines*w.b.options.LineChars/3)
		}
		if !w.add(s, e, most) {
			return
		}
	}
}

// upTo returns 0 to n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// byRelevance returns the indices of history items with lines, most relevant first.
func (w *work) byRelevance() []int {
	order := slices.DeleteFunc(upTo(len(w.in.History)), func(i int) bool { return len(w.in.History[i].Lines) == 0 })
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(w.in.History[b].Relevance, w.in.History[a].Relevance)
	})
	return order
}

// found returns the hit.
func (item *Item) found() *Line { return &item.Lines[item.lead()] }

// lead returns the index of the hit in Lines.
func (item *Item) lead() int { return min(max(0, item.Hit), len(item.Lines)-1) }

// historyFixed returns the size of the builder's own words in an item.
func (w *work) historyFixed(item *Item, e *entry, n int) (s size) {
	if w.charsCount {
		for i := range item.Lines {
			w.scratch = w.appendLineStart(w.scratch[:0], item, e, i, n)
			s.chars += runes(w.scratch) + 1
		}
	}
	s.tokens = w.stampTokens(item.Lines[e.lead].Time)
	if w.isApart(e) {
		s = s.plus(size{w.b.costs.gap, 1})
	}
	if w.b.options.Citations {
		s.tokens += w.b.tally.of(appendNumber(nil, n))
	}
	s.tokens += w.b.marksTokens(e.marks)
	if item.isElsewhere() {
		s.tokens += 2 + w.b.tally.of(w.place(item.Channel, item.Title))
	}
	for i := range item.Lines {
		line := &item.Lines[i]
		if w.plain() {
			w.scratch = w.appendAuthor(w.scratch[:0], line.Author, w.authorName(line))
			w.scratch = append(w.appendReply(w.scratch, line.ReplyTo), ':')
			s.tokens += w.b.tally.of(w.scratch)
		} else {
			s.tokens += w.tagTokens(line.Author) + w.replyTokens(line.ReplyTo)
		}
		if i != e.lead {
			s.tokens += w.besideTokens(line.Time, item.Lines[e.lead].Time)
		}
	}
	return s
}

// marks reports which of an item's marks are set, in display order.
func (w *work) marks(item *Item) (on [6]bool) {
	on[0] = item.Relevance > highRelevance
	on[1] = !on[0] && item.Relevance > mediumRelevance
	on[2] = !on[0] && !on[1]
	for i := range item.Lines {
		p := w.participant(item.Lines[i].Author)
		on[3] = on[3] || p != nil && p.Main
		on[5] = on[5] || item.Lines[i].Starred
	}
	on[4] = recent(item.found().Time, w.in.Now)
	return on
}

func (w *work) planEarlier(s *section, most size) {
	s.items, s.head = len(w.in.PreviousContext), w.head(kindEarlier)
	fixed := w.textFixed(w.b.costs.earlierMark, w.b.labels.EarlierMark)
	chars := summaryChars
	if w.plain() {
		chars = plainSummaryChars
	}
	for n, i := range w.earlierByRelevance() {
		if w.plain() && n == plainSummaries {
			return
		}
		e := &w.in.PreviousContext[i]
		if !w.add(s, entry{index: i, fixed: fixed.plus(w.earlierStamp(e)),
			pieces: []piece{w.measure(e.Text, 0, escape.BareLine, chars)}}, most) {
			return
		}
	}
}

func (w *work) planLore(s *section, most size) {
	s.items, s.head = len(w.in.Lore), w.head(kindLore)
	fixed := w.textFixed(w.b.costs.person, w.b.labels.Person)
	for i, text := range w.in.Lore {
		if !w.add(s, entry{index: i, fixed: fixed, pieces: []piece{w.measure(text, 0, escape.BareLine, loreChars)}}, most) {
			return
		}
	}
}

// textFixed returns the size of the words before a summary or lore.
func (w *work) textFixed(tokens int, mark string) size {
	if w.plain() {
		return size{2, 2}
	}
	return size{tokens, runes([]byte(mark)) + 1}
}

// planChars divides the character budget.
func (w *work) planChars() {
	var demands [sectionKinds]demand
	var parts [sectionKinds]int64
	total := int64(w.b.options.MaxChars)
	for k := range demands {
		s := charShares.sections[k]
		demands[k] = demand{need: int64(w.wants(kind(k)).chars) * charShares.whole, floor: s.floor * total,
			ceiling: s.ceiling * total}
	}
	distribute(total*charShares.whole, w.b.shares.order[:], &demands, &parts)
	for k := range parts {
		w.charRoom[k] = int(parts[k] / charShares.whole)
		if !w.charsCount || !kind(k).isRecalled() {
			w.charRoom[k] = noLimit
		}
	}
}

// wants returns the size of a whole section.
func (w *work) wants(k kind) size {
	s := &w.sections[k]
	if len(s.entries) == 0 {
		return size{}
	}
	return s.need.plus(s.head)
}
