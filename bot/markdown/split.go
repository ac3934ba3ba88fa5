// Package markdown makes what Discord shows: messages that keep their formatting when they are split, links to
// sources, long code as files. Nothing that a model or a member wrote can ping, invite or mislead.
//
// It doesn't know Discord's API. It may import memory, the answers' types and bot/locale. Begin with Answer.
package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// MessageLimit is Discord's limit of a message in characters; UTF-16 units are never fewer.
	MessageLimit = 2000

	// fence begins and ends a code block.
	fence = "```"
	// closing is the most that closing open formatting adds to a piece: a quoted code block and every kind of mark. It
	// is always kept free, because text after the cut may still turn a sign into a mark.
	closing = len("\n> "+fence) + len("***"+"**"+"*") + len("___"+"__"+"_") + len("~~") + len("||") + len("``")
)

// piece is one message of an answer: open + shown + shut. shown is body, its part of the answer, with citations as
// links. open and shut reopen and close formatting across cuts.
type piece struct{ open, body, shown, shut string }

func (p piece) String() string { return p.open + p.shown + p.shut }

// linker returns the link for a citation's number; "" for none. It is nil while an answer is being written: citations
// stay, and keep room for the longest link.
type linker func(number string) string

// split cuts text into pieces that show at most limit units. The joined bodies are text. A cut falls after a paragraph,
// else a line, a sentence, a word; never inside a grapheme, a link, a mention, a citation or a list marker, unless one
// alone exceeds a piece. Appending to text doesn't move cuts well before its end.
func split(text string, limit int, link linker) []piece {
	f := format(text, link)
	atoms := f.atomize(limit / 2)
	var pieces []piece
	for start, open := 0, ""; start < len(atoms); {
		end := cut(text, atoms, start, limit-Units(open))
		from := atoms[start].start
		to := atoms[end].end
		p := piece{
			open:  open,
			body:  text[from:to],
			shown: f.shown(from, to),
		}
		start = end + 1
		p.shut, open = f.closeAndReopen(to, atoms[end].state)
		pieces = append(pieces, p)
	}
	return pieces
}

// First returns the first message of at most limit units of text.
func First(text string, limit int) string { return split(text, limit, nil)[0].String() }

// cut returns the last atom of the piece that begins with atoms[start].
func cut(text string, atoms []atom, start, limit int) int {
	var best [ranks]int
	for r := range best {
		best[r] = -1
	}
	used := 0
	for i := start; i < len(atoms); i++ {
		used += atoms[i].width
		if used > limit {
			break
		}
		last := i == len(atoms)-1
		if used+closing > limit && (!last || atoms[i].state.code != "") {
			continue
		}
		if last {
			return i
		}
		r := rank(text, atoms, i)
		if used >= leastFill[r]*limit/100 {
			best[r] = i
		}
	}
	for r := ranks - 1; r >= 0; r-- {
		if best[r] >= 0 {
			return best[r]
		}
	}
	return start
}

// The ranks of places to cut.
const (
	atBad       = iota // would leave an empty code block or empty marks
	atAny              // between two graphemes
	atWord             // after a space
	atSentence         // after a sentence's end
	atLine             // after a line
	atParagraph        // after an empty line
	ranks
)

// leastFill is how full a piece must be for a cut of a rank, in percent.
var leastFill = [ranks]int{
	atWord:      25,
	atSentence:  50,
	atLine:      50,
	atParagraph: 50,
}

func rank(text string, atoms []atom, i int) int {
	if atoms[i].opens || atoms[i+1].closes {
		return atBad
	}
	before := text[:atoms[i].end]
	switch {
	case strings.HasSuffix(before, "\n\n"):
		return atParagraph
	case strings.HasSuffix(before, "\n"):
		return atLine
	}
	last, size := utf8.DecodeLastRuneInString(before)
	if strings.ContainsRune("。！？", last) {
		return atSentence
	}
	if !unicode.IsSpace(last) {
		return atAny
	}
	if end, _ := utf8.DecodeLastRuneInString(before[:len(before)-size]); strings.ContainsRune(".!?…", end) {
		return atSentence
	}
	return atWord
}

// atom is text that is never cut.
type atom struct {
	start, end int    // in bytes
	width      int    // in a message, in units
	state      *state // what is open after it
	opens      bool   // it begins a code block or a marked stretch
	closes     bool   // it ends one
}

// atomize splits text into atoms. A grapheme wider than most, which prose doesn't have, is split into runes.
func (f *formatted) atomize(most int) []atom {
	w := atomizer{
		text:  f.text,
		spans: f.spans,
		state: &state{},
		atoms: make([]atom, 0, len(f.text)),
	}
	rest := f.text
	state := -1
	for len(rest) > 0 {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if Units(cluster) <= most {
			w.step(len(cluster))
			continue
		}
		for len(cluster) > 0 {
			_, size := utf8.DecodeRuneInString(cluster)
			w.step(size)
			cluster = cluster[size:]
		}
	}
	return w.atoms
}

// atomizer walks through a text and joins what is in one span.
type atomizer struct {
	text  string
	spans []span // not yet passed
	state *state
	cur   atom
	atoms []atom
}

func (w *atomizer) step(size int) {
	end := w.cur.end + size
	w.cur.width += Units(w.text[w.cur.end:end])
	w.cur.end = end
	for len(w.spans) > 0 && w.spans[0].end <= end {
		s := w.spans[0]
		w.cur.width += s.extra
		w.cur.opens = w.cur.opens || s.opens
		w.cur.closes = w.cur.closes || s.closes
		w.state = s.state
		w.spans = w.spans[1:]
	}
	if len(w.spans) > 0 && w.spans[0].start < end {
		return
	}
	w.cur.state = w.state
	w.atoms = append(w.atoms, w.cur)
	w.cur = atom{start: end, end: end}
}

// Units returns the length of s in UTF-16 units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
