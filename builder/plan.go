package builder

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"hark/builder/escape"
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

func (b *Builder) begin(in Input) *work {
	w := &work{
		b:          b,
		in:         in,
		charsCount: b.options.MaxChars > 0,
		first:      max(1, in.FirstNumber),
		mode:       in.Mode,
	}
	if !w.mode.Known() {
		w.mode = ModeGeneral
	}
	w.rules = b.modes[toolingOf(in.Tools)][w.mode]
	for i := range w.sections {
		w.sections[i].kind = kind(i)
	}
	return w
}

// items returns the number of items in the input.
func (w *work) items(k kind) int {
	turns := len(w.in.Session)
	if strings.TrimSpace(w.in.Condensed) != "" {
		turns++
	}
	return [sectionKinds]int{
		kindSession:      turns,
		kindParticipants: len(w.in.Participants),
		kindHistory:      len(w.in.History),
		kindEarlier:      len(w.in.PreviousContext),
		kindLore:         len(w.in.Lore),
		kindFiles:        len(w.in.Files),
	}[k]
}

// mostOf returns a size that a section can't exceed.
func (w *work) mostOf(k kind) size {
	o := w.b.options
	s := w.b.shares
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
	s.items = len(w.in.PreviousContext)
	s.head = w.head(kindEarlier)
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
		if !w.add(s, entry{
			index:  i,
			fixed:  fixed.plus(w.earlierStamp(e)),
			pieces: []piece{w.measure(e.Text, 0, escape.BareLine, chars)},
		}, most) {
			return
		}
	}
}

func (w *work) planLore(s *section, most size) {
	s.items = len(w.in.Lore)
	s.head = w.head(kindLore)
	fixed := w.textFixed(w.b.costs.person, w.b.labels.Person)
	for i, text := range w.in.Lore {
		if !w.add(s, entry{
			index:  i,
			fixed:  fixed,
			pieces: []piece{w.measure(text, 0, escape.BareLine, loreChars)},
		}, most) {
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
		demands[k] = demand{
			need:    int64(w.wants(kind(k)).chars) * charShares.whole,
			floor:   s.floor * total,
			ceiling: s.ceiling * total,
		}
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
