package builder

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hark/builder/escape"
)

// size returns the size of an entry with the given size of each piece.
func (e *entry) size(of func(*piece) size) size {
	total := e.fixed
	for i := range e.pieces {
		total = total.plus(of(&e.pieces[i]))
	}
	return total
}

func (e *entry) whole() size { return e.size(func(p *piece) size { return p.whole }) }

func (e *entry) short() size { return e.size(func(p *piece) size { return p.short }) }

func (e *entry) isCut() bool {
	for i := range e.pieces {
		if e.pieces[i].at < len(e.pieces[i].text) {
			return true
		}
	}
	return false
}

// measure returns text as a piece that is first cut to limit characters. tokens is its stored count, or 0.
func (w *work) measure(text string, tokens int, b *escape.Block, limit int) piece {
	text = strings.TrimSpace(text)
	p := piece{
		text:  text,
		block: b,
		cut:   len(text),
		safe:  text != "" && w.b.escape.IsSafe(text, b),
	}
	p.whole = w.sizeOf(&p, len(text), tokens)
	p.short = p.whole
	if len(text) > limit && runeOffset(text, limit) < len(text) {
		p.chars = utf8.RuneCountInString(text)
		p.cut = cutAt(text, limit-1)
		p.short = w.sizeOf(&p, p.cut, 0)
		p.whole = p.whole.atLeast(p.short)
	}
	p.at = p.cut
	return p
}

// claimOf returns p cut to limit characters.
func (w *work) claimOf(p *piece, limit int) claim {
	if p.cut == len(p.text) {
		return claim{}
	}
	if runeOffset(p.text, limit) == len(p.text) {
		return claim{len(p.text), p.whole}
	}
	at := cutAt(p.text, limit-1)
	c := claim{at, w.sizeOf(p, at, 0)}
	// A cut text may be larger than the whole, because only complete mention tags are rewritten.
	p.whole = p.whole.atLeast(c.size)
	return c
}

// sizeOf returns the size of the first bytes of p.
func (w *work) sizeOf(p *piece, bytes, tokens int) (s size) {
	if p.safe && bytes == len(p.text) {
		tokens = w.b.stored(p.text, tokens)
	} else {
		tokens = 0
	}
	if tokens == 0 || w.charsCount {
		w.scratch = w.appendPiece(w.scratch[:0], p, bytes)
	}
	if tokens == 0 {
		tokens = w.b.tally.of(w.scratch)
	}
	if w.charsCount {
		s.chars = runes(w.scratch)
	}
	s.tokens = tokens + spaceTokens(p.text)
	return s
}

// spaceTokens returns the tokens of a space before text: none before a word, because most tokens include a
// leading space.
func spaceTokens(text string) int {
	if text != "" && (text[0]|0x20) >= 'a' && (text[0]|0x20) <= 'z' {
		return 0
	}
	return 1
}

// appendPiece appends the first bytes of p.
func (w *work) appendPiece(dst []byte, p *piece, bytes int) []byte {
	start := len(dst)
	if p.safe {
		dst = append(dst, p.text[:bytes]...)
	} else {
		dst = w.b.escape.AppendSafe(dst, p.text[:bytes], p.block)
	}
	if bytes < len(p.text) {
		return append(dst, ellipsis...)
	}
	if len(dst) == start {
		return append(dst, w.b.labels.NoText...)
	}
	return dst
}

// add adds an entry to s unless no budget up to most can hold it. It reports whether another may fit.
func (w *work) add(s *section, e entry, most size) bool {
	if len(s.entries) == 0 {
		w.shortSum = s.head
	}
	w.shortSum = w.shortSum.plus(e.short())
	s.entries = append(s.entries, e)
	s.need = s.need.plus(e.whole())
	if w.shortSum.within(most) {
		return true
	}
	// If not everything is in reach, the need is unlimited in both budgets. Otherwise a larger budget of one
	// kind would take room of the other kind from sections of lower priority.
	s.need = size{noLimit, noLimit}
	return false
}

// fill decides what of s is shown in room: the best entries until one doesn't fit beside the earlier claims, a
// line about the rest, and then more of the cut texts, best first. It stops at the first step that doesn't
// fit, so that with more room nothing gets shorter unless more entries are shown.
func (w *work) fill(s *section, room size) {
	s.shown = 0
	s.more = false
	s.used = s.head
	s.room = room
	claimed := s.head
	for i := range s.entries {
		e := &s.entries[i]
		for j := range e.pieces {
			p := &e.pieces[j]
			p.at = p.cut
			p.taken = p.short
		}
		next := claimed.plus(e.short())
		if s.shown < i || !next.within(room) {
			continue
		}
		s.shown, s.used, claimed = i+1, s.used.plus(e.short()), next
		if e.claim.at > 0 {
			claimed = next.minus(e.pieces[e.lead].short).plus(e.claim.size)
		}
	}
	if s.shown == 0 {
		s.used = size{}
		return
	}
	if s.kind == kindHistory && s.shown < s.items {
		with := s.used.plus(w.sizeOfMore(s.items - s.shown))
		if !with.within(room) {
			return // growth would be undone once that line fits
		}
		s.more = true
		s.used = with
	}
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		if e.claim.at > 0 && !w.show(s, &e.pieces[e.lead], e.claim, room) {
			w.growPart(s, &e.pieces[e.lead], e.claim.at, room)
			return
		}
	}
	for i := range s.entries[:s.shown] {
		if !w.grow(s, &s.entries[i], room) {
			return
		}
	}
}

// grow shows more of an entry's texts and reports whether they are complete.
func (w *work) grow(s *section, e *entry, room size) bool {
	for i := range e.pieces {
		p := &e.pieces[leadFirst(i, e.lead)]
		if p.at == len(p.text) {
			continue
		}
		if !w.show(s, p, claim{len(p.text), p.whole}, room) {
			w.growPart(s, p, len(p.text), room)
			return false
		}
	}
	return true
}

// show shows that much of p, if it fits.
func (w *work) show(s *section, p *piece, c claim, room size) bool {
	with := s.used.minus(p.taken).plus(c.size)
	if !with.within(room) {
		return false
	}
	p.at = c.at
	p.taken = c.size
	s.used = with
	return true
}

// leadFirst returns the i-th of 0, 1, 2, … with lead moved to the front.
func leadFirst(i, lead int) int {
	switch {
	case i == 0:
		return lead
	case i <= lead:
		return i - 1
	}
	return i
}

// leastGrowth is the least gain in characters for a new cut, and mostGrowth the most steps of growth.
const (
	leastGrowth = 30
	mostGrowth  = 40
)

// growPart shows as much of p as fits, but less than most bytes, estimated from its ratio of characters to
// tokens. The possible cuts don't depend on the room, so that more room never shows less.
func (w *work) growPart(s *section, p *piece, most int, room size) {
	left := room.minus(s.used).plus(p.taken)
	keep := p.chars
	if p.whole.tokens > left.tokens {
		keep = min(keep, p.chars*left.tokens/p.whole.tokens)
	}
	if p.whole.chars > left.chars {
		keep = min(keep, p.chars*left.chars/p.whole.chars)
	}
	step := max(leastGrowth, p.chars/mostGrowth)
	for keep -= keep % step; keep > 0; keep -= step {
		at := cutAt(p.text, keep-1)
		if at < p.at+leastGrowth || at < most && w.show(s, p, claim{at, w.sizeOf(p, at, 0)}, room) {
			return
		}
	}
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
