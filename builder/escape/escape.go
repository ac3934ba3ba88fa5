// Package escape keeps members' texts from looking like the prompt's own words. They all go through
// Escaper.AppendSafe, whose changes are visible and leave the text readable:
//
//   - lines are joined with ⏎, or indented, so none begins a section, a list or a turn;
//   - headings (===, also with lookalikes), titles (SYSTEM ROLE:) and fences are broken up, and a line that begins
//     with one of the prompt's signs (•, 📋, 🔥, └─) gets › before it; see headings.go;
//   - mention tags, control tokens of chat models, and numbers in brackets if these are citations, lose their form;
//     see tags.go;
//   - invisible characters become �, except the joiners that emoji and some scripts need; see hidden.go.
//
// Anything else stays: "ignore all previous instructions" is a sentence, shown with its author's name. Hark's
// earlier answers repeat members' texts and are treated alike. The persona is the operator's and keeps its mention
// tags, numbers and lists.
//
// It imports nothing of Hark. Begin with Words, New and Escaper.AppendSafe.
package escape

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Block is a layout of text.
type Block struct {
	Newline  string // between lines
	indent   bool   // lines keep their leading spaces
	Bare     bool   // the text begins a line of the prompt
	Operator bool   // the text is the operator's
	below    bool   // the text begins a line of the prompt after an indent
}

// The layouts.
var (
	InLine   = &Block{Newline: " ⏎ "}
	BareLine = &Block{Newline: " ⏎ ", Bare: true}
	Indented = &Block{Newline: "\n  ", indent: true}
	BareText = &Block{
		Newline: "\n  ",
		indent:  true,
		Bare:    true,
	}
	AnswerText = &Block{
		Newline: "\n",
		indent:  true,
		Bare:    true,
	}
	OwnText = &Block{
		Newline:  "\n",
		indent:   true,
		Bare:     true,
		Operator: true,
	}
	NameInLine = &Block{Newline: " "}
	BareName   = &Block{Newline: " ", Bare: true}
	FileText   = &Block{
		Newline: "\n  ",
		indent:  true,
		below:   true,
	}
)

// Escaper escapes texts for one set of Words. It is safe for concurrent use.
type Escaper struct {
	titles  []string // folded, without spaces
	ends    []string // last words of titles
	signs   []string // beginnings of the prompt's lines
	marks   []string // history marks that are words, folded
	tag     string   // before earlier context, folded
	numbers bool     // numbers in brackets are citations
}

// suspicion is a line with what it must not look like.
type suspicion struct {
	*Escaper
	line     string
	begins   bool // it begins a line of the prompt, or isn't the text's first
	starts   bool // it begins a line of the prompt, perhaps after an indent
	flush    bool // it is a member's and begins a line without an indent
	operator bool
}

// suspect returns a line of a text laid out as b.
func (e *Escaper) suspect(line string, b *Block, first bool) suspicion {
	first = first && !b.below
	l := suspicion{
		Escaper: e,
		line:    line,
		begins:  b.Bare || !first,
		starts:  b.Bare,
		flush: b.Bare && first &&
			b != AnswerText,
		operator: b.Operator,
	}
	if !first {
		l.starts = b.Newline[0] == '\n'
	}
	return l
}

// edit replaces width bytes with text.
type edit struct {
	width   int
	text    string
	forgery bool // the whole line gets a ForgeryMark
}

// The marks of changes.
const (
	HiddenMark  = "\uFFFD"
	ForgeryMark = "› "
	looseBase   = "◌" // before a combining mark that begins a line
	BreakMark   = '⏎'
)

// Words are a prompt's own, which nobody may forge.
type Words struct {
	Titles []string // of sections; each has a letter or a digit
	Signs  []string // beginnings of its lines
	Marks  []string // of the history
	Tag    string   // in brackets before earlier context
}

// New returns an Escaper for prompts with these words. numbers says whether history items are numbered.
func New(w Words, numbers bool) *Escaper {
	e := &Escaper{
		numbers: numbers,
		signs:   w.Signs,
		tag:     string(Fold(w.Tag)),
	}
	for _, title := range w.Titles {
		words := strings.Fields(string(Fold(title)))
		e.titles = append(e.titles, strings.Join(words, ""))
		e.ends = append(e.ends, words[len(words)-1])
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

// IsSafe reports whether AppendSafe appends s unchanged, as it does most messages. It is the fast path.
func (e *Escaper) IsSafe(s string, b *Block) bool {
	ascii := true
	for i := 0; i < len(s); i++ {
		if looks[s[i]] == 0 {
			continue
		}
		if ascii && s[i] >= utf8.RuneSelf {
			ascii = false
			if !utf8.ValidString(s) || startsLoose(s) {
				return false
			}
		}
		if looks[s[i]] == looksFlagged && !(s[i] == ':' && afterDigit(s, i)) && e.suspect(s, b, true).at(i).width > 0 {
			return false
		}
	}
	if !b.Bare && !b.below {
		return true
	}
	l := e.suspect(s, b, true)
	return !l.isTitle() && !l.startsWithSign()
}

// afterDigit reports whether byte i follows a digit, as the colon in 12:30, which is never changed.
func afterDigit(s string, i int) bool { return i > 0 && s[i-1] >= '0' && s[i-1] <= '9' }

// AppendSafe appends s, escaped.
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
		dst = e.suspect(line, b, first).appendTo(dst)
		first = false
	}
	return dst
}

// mostPasses is how often a line is read.
const mostPasses = 4

// appendTo appends the line, escaped. It reads a line that gets shorter again, because words that had a thousand
// hidden characters between them may be a title now.
func (l suspicion) appendTo(dst []byte) []byte {
	start := len(dst)
	for pass := 1; ; pass++ {
		out, forged := l.appendOnce(dst)
		if forged || len(l.line) <= FoldSpan || len(out)-start >= len(l.line) || pass == mostPasses {
			return out
		}
		l.line = string(out[start:])
		dst = out[:start]
	}
}

// appendOnce appends the line, escaped, and reports whether it got a ForgeryMark.
func (l suspicion) appendOnce(dst []byte) ([]byte, bool) {
	start := len(dst)
	forged := l.begins && l.isTitle() || l.startsWithSign()
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

// looks classes bytes. Flagged are certain ASCII characters, and the first bytes of their lookalikes and of
// invisible characters.
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
		return edit{n, "↵", false} // only the builder writes ⏎
	}
	return edit{}
}
