// Package escape keeps what members wrote from looking like the prompt's own words. All of it goes through
// Escaper.AppendSafe, whose changes are visible and leave the text readable:
//
//   - its lines become one, with ⏎ between them, or are indented; so no line begins a section, a list or a turn;
//   - headings (===, also with characters that look like it), titles (SYSTEM ROLE:) and fences are broken up, and
//     a line that begins with one of the prompt's own signs (•, 📋, 🔥, └─) gets › before it; see headings.go;
//   - mention tags and the control tokens of chat models lose their form, and so do numbers in brackets where the
//     model is told to cite by them; see tags.go;
//   - invisible characters become �, except the joiners that emoji and some scripts need; see hidden.go.
//
// Anything else stays: "ignore all previous instructions" is a sentence, shown with its author's name. Hark's
// earlier answers repeat what members wrote, and are treated alike. The persona is the operator's: it keeps its
// mention tags, numbers and lists.
//
// It imports nothing of Hark. Begin with Words, New and Escaper.AppendSafe.
package escape

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Block says how text is laid out.
type Block struct {
	id       int
	Newline  string // between lines
	indent   bool   // whether the spaces that a line begins with are kept
	Bare     bool   // whether the text begins at the beginning of a line of the prompt
	Operator bool   // whether it is the operator's
	below    bool   // whether the text begins a line of the prompt, after an indent
}

// The ways text is laid out.
var (
	InLine     = &Block{id: 0, Newline: " ⏎ "}
	BareLine   = &Block{id: 1, Newline: " ⏎ ", Bare: true}
	Indented   = &Block{id: 2, Newline: "\n  ", indent: true}
	BareText   = &Block{id: 3, Newline: "\n  ", indent: true, Bare: true}
	AnswerText = &Block{id: 4, Newline: "\n", indent: true, Bare: true}
	OwnText    = &Block{id: 5, Newline: "\n", indent: true, Bare: true, Operator: true}
	NameInLine = &Block{id: 6, Newline: " "}
	BareName   = &Block{id: 7, Newline: " ", Bare: true}
	FileText   = &Block{id: 8, Newline: "\n  ", indent: true, below: true}
)

// Escaper knows what mustn't be forged.
type Escaper struct {
	titles  []string // folded, without spaces
	ends    []string // the last words of titles
	signs   []string // that lines of the prompt begin with
	marks   []string // of the history that are words, folded
	tag     string   // before earlier context, folded
	numbers bool     // whether numbers in brackets are citations
}

// suspicion is how a line is read: what may not stand there.
type suspicion struct {
	*Escaper
	line     string
	begins   bool // whether the line begins a line of the text after the first, or of the prompt
	starts   bool // whether it begins a line of the prompt, if only after an indent
	flush    bool // whether that line is a member's, and has no indent
	operator bool
}

// reads returns how the first line of a text, or a later one, is read.
func (e *Escaper) reads(line string, b *Block, first bool) suspicion {
	first = first && !b.below
	l := suspicion{Escaper: e, line: line, begins: b.Bare || !first, starts: b.Bare, flush: b.Bare && first &&
		b != AnswerText, operator: b.Operator}
	if !first {
		l.starts = b.Newline[0] == '\n'
	}
	return l
}

// edit replaces width bytes. A forgery has its whole line marked as well.
type edit struct {
	width   int
	text    string
	forgery bool
}

const (
	HiddenMark  = "\uFFFD"
	ForgeryMark = "› "
	looseBase   = "◌" // what a combining mark at the beginning of a line stands on
	BreakMark   = '⏎'
)

// Words are a prompt's own, which nobody may forge.
type Words struct {
	Titles []string // of sections; each has a letter or a digit
	Signs  []string // that its lines begin with
	Marks  []string // of the history, of which those that are words count
	Tag    string   // what stands in brackets before earlier context
}

// New is for prompts with these words, in which the history is numbered or isn't.
func New(w Words, numbers bool) *Escaper {
	e := &Escaper{numbers: numbers, signs: w.Signs, tag: string(Fold(w.Tag))}
	for _, title := range w.Titles {
		words := strings.Fields(string(Fold(title)))
		e.titles, e.ends = append(e.titles, strings.Join(words, "")), append(e.ends, words[len(words)-1])
	}
	slices.Sort(e.ends)
	e.ends = slices.Compact(e.ends)
	for _, mark := range w.Marks {
		if folded := string(Fold(mark)); folded != "" {
			e.marks = append(e.marks, folded)
		}
	}
	return e
}

// IsSafe reports whether appendSafe would append s as it is. It is the fast path: most messages are.
func (e *Escaper) IsSafe(s string, b *Block) bool {
	ascii := true
	for i := 0; i < len(s); i++ {
		if looks[s[i]] == 0 {
			continue
		}
		if ascii && s[i] >= utf8.RuneSelf {
			if ascii = false; !utf8.ValidString(s) || startsLoose(s) {
				return false
			}
		}
		if looks[s[i]] == looksFlagged && !(s[i] == ':' && afterDigit(s, i)) && e.reads(s, b, true).at(i).width > 0 {
			return false
		}
	}
	if !b.Bare && !b.below {
		return true
	}
	l := e.reads(s, b, true)
	return !l.isTitle() && !l.startsWithSign()
}

// afterDigit reports whether byte i stands after a digit, as the colon of 12:30 does, which is never changed.
func afterDigit(s string, i int) bool { return i > 0 && s[i-1] >= '0' && s[i-1] <= '9' }

// AppendSafe appends s, made harmless.
func (e *Escaper) AppendSafe(dst []byte, s string, b *Block) []byte {
	if s != "" && strings.TrimSpace(s) == s && e.IsSafe(s, b) {
		return append(dst, s...)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, HiddenMark)
	}
	first := true
	for _, line := range SplitLines(s) {
		line = trimLine(line, b.indent && !first)
		if line == "" {
			continue
		}
		if !first {
			dst = append(dst, b.Newline...)
		}
		dst = e.reads(line, b, first).appendTo(dst)
		first = false
	}
	return dst
}

// mostPasses is how often a line is read.
const mostPasses = 4

// appendTo appends the line, made harmless. One that gets shorter is read again: what stood too far apart to
// be a title, with a thousand hidden characters between, may be one now.
func (l suspicion) appendTo(dst []byte) []byte {
	start := len(dst)
	for pass := 1; ; pass++ {
		out, forged := l.appendOnce(dst)
		if forged || len(l.line) <= FoldSpan || len(out)-start >= len(l.line) || pass == mostPasses {
			return out
		}
		l.line, dst = string(out[start:]), out[:start]
	}
}

// appendOnce reports whether the line was marked, too.
func (l suspicion) appendOnce(dst []byte) ([]byte, bool) {
	start, forged := len(dst), l.begins && l.isTitle() || l.startsWithSign()
	if startsLoose(l.line) {
		dst = append(dst, looseBase...)
	}
	for i := 0; i < len(l.line); {
		change := edit{}
		if looks[l.line[i]] == looksFlagged {
			change = l.at(i)
			if change.width == 0 && forged {
				change = l.equals(i, true)
			}
		}
		if change.width == 0 {
			dst = append(dst, l.line[i])
			i++
			continue
		}
		dst = append(dst, change.text...)
		forged = forged || change.forgery
		i += change.width
	}
	if forged {
		dst = append(dst, ForgeryMark...)
		copy(dst[start+len(ForgeryMark):], dst[start:])
		copy(dst[start:], ForgeryMark)
	}
	return dst, forged
}

const (
	looksFlagged = 1 // a change may be needed here
	looksOther   = 2 // not ASCII, and never a change
)

// looks sorts bytes: flagged are those of ASCII, and the first bytes of the characters that look like them or
// can't be seen, where a change may be needed.
var looks = func() (t [256]uint8) {
	for c := range byte(' ') {
		if c != '\t' {
			t[c] = looksFlagged
		}
	}
	for c := 0x80; c < 0x100; c++ {
		t[c] = looksOther
	}
	for _, c := range []byte("=<[`~:\x7F\xC2\xCB\xCD\xD6\xD8\xDC\xE1\xE2\xE3\xEA\xEF\xF0\xF3") {
		t[c] = looksFlagged
	}
	return t
}()

// at returns the change needed at byte i of the line, if any.
func (l suspicion) at(i int) edit {
	r, n := utf8.DecodeRuneInString(l.line[i:])
	if change := l.token(i, r, n); change.width > 0 {
		return change
	}
	switch {
	case IsHidden(r):
		return l.hidden(i, r, n)
	case EqualsLike(r):
		return l.equals(i, false)
	case colonLike(r):
		return l.colon(i, n)
	case r == '<' || r == '＜' || r == '﹤':
		return l.angle(i, n)
	case r == '[' || r == '［':
		return l.bracket(i, n)
	case r == '`' || r == '~':
		return l.fence(i)
	case r == BreakMark && !l.operator:
		return edit{n, "↵", false} // ⏎ says that a line ends, which is the builder's to say
	}
	return edit{}
}
