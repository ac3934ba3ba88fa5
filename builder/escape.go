package builder

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How what members wrote is kept from being taken for the prompt's own words. Everything of theirs goes
// through appendSafe, whose changes can be seen and leave the text readable:
//
//   - its lines become one, with ⏎ between them, or are indented; so none begins a section, a list or a turn;
//   - headings (===, also with characters that look like it), titles (SYSTEM ROLE:) and fences are broken up;
//   - a mention tag where the prompt would have a speaker loses its form, and so do the tokens that chat
//     models are steered by;
//   - characters that can't be seen become �, but for the joiners that emoji and some scripts need.
//
// Anything else stays as it is.

// block says how text is laid out.
type block struct {
	id      int
	newline string // between lines
	indent  bool   // whether the spaces that a line begins with are kept
	bare    bool   // whether the text begins at the beginning of a line of the prompt
}

// The ways text is laid out.
var (
	inLine     = &block{id: 0, newline: " ⏎ "}
	bareLine   = &block{id: 1, newline: " ⏎ ", bare: true}
	indented   = &block{id: 2, newline: "\n  ", indent: true}
	bareText   = &block{id: 3, newline: "\n  ", indent: true, bare: true}
	ownText    = &block{id: 4, newline: "\n", indent: true, bare: true}
	nameInLine = &block{id: 5, newline: " "}
)

// suspicion is how a line is read: what may not stand there.
type suspicion struct {
	*escaper
	line   string
	begins bool // whether the line begins a line of the text after the first, or of the prompt
}

// edit replaces width bytes. A forgery has its whole line marked as well.
type edit struct {
	width   int
	text    string
	forgery bool
}

const (
	hiddenMark  = "\uFFFD"
	forgeryMark = "› "
	looseBase   = "◌" // what a combining mark at the beginning of a line stands on
)

// isSafe reports whether appendSafe would append s as it is. It is the fast path: most messages are.
func (e *escaper) isSafe(s string, b *block) bool {
	l := suspicion{escaper: e, line: s, begins: b.bare}
	ascii := true
	for i := 0; i < len(s); i++ {
		// Four at a time, where none of them matters: twice as fast as one by one.
		for len(s)-i >= 4 && looks[s[i]]|looks[s[i+1]]|looks[s[i+2]]|looks[s[i+3]] == 0 {
			i += 4
		}
		if i == len(s) || looks[s[i]] == 0 {
			continue
		}
		if ascii && s[i] >= utf8.RuneSelf {
			if ascii = false; !utf8.ValidString(s) || startsLoose(s) {
				return false
			}
		}
		if looks[s[i]] == looksFlagged && l.at(i).width > 0 {
			return false
		}
	}
	return !b.bare || !l.isTitle()
}

// appendSafe appends s, made harmless.
func (e *escaper) appendSafe(dst []byte, s string, b *block) []byte {
	if s != "" && strings.TrimSpace(s) == s && e.isSafe(s, b) {
		return append(dst, s...)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, hiddenMark)
	}
	first := true
	for _, line := range splitLines(s) {
		line = trimLine(line, b.indent && !first)
		if line == "" {
			continue
		}
		if !first {
			dst = append(dst, b.newline...)
		}
		dst = e.appendLine(dst, line, b.bare || !first)
		first = false
	}
	return dst
}

func (e *escaper) appendLine(dst []byte, line string, begins bool) []byte {
	l := suspicion{escaper: e, line: line, begins: begins}
	start, forged := len(dst), begins && l.isTitle()
	if startsLoose(line) {
		dst = append(dst, looseBase...)
	}
	for i := 0; i < len(line); {
		change := edit{}
		if looks[line[i]] == looksFlagged {
			change = l.at(i)
			if change.width == 0 && forged {
				change = l.equals(i, true)
			}
		}
		if change.width == 0 {
			dst = append(dst, line[i])
			i++
			continue
		}
		dst = append(dst, change.text...)
		forged = forged || change.forgery
		i += change.width
	}
	if forged {
		dst = append(dst, forgeryMark...)
		copy(dst[start+len(forgeryMark):], dst[start:])
		copy(dst[start:], forgeryMark)
	}
	return dst
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

// at is the change needed at byte i of the line, if any.
func (l suspicion) at(i int) edit {
	r, n := utf8.DecodeRuneInString(l.line[i:])
	switch {
	case isHidden(r):
		return l.hidden(i, r, n)
	case equalsLike(r):
		return l.equals(i, false)
	case colonLike(r):
		return l.colon(i, n)
	case r == '<' || r == '＜':
		return l.angle(i, n)
	case r == '[':
		return l.bracket(i)
	case r == '`' || r == '~':
		return l.fence(i)
	}
	return edit{}
}

// equals breaks a heading's signs: three or more at the beginning of a line, before a title, or after one.
func (l suspicion) equals(i int, forged bool) edit {
	if before, _ := utf8.DecodeLastRuneInString(l.line[:i]); equalsLike(before) {
		return edit{} // within a run that was left alone
	}
	end, count := i, 0
	for end < len(l.line) {
		r, n := utf8.DecodeRuneInString(l.line[end:])
		if !equalsLike(r) {
			break
		}
		end += n
		count++
	}
	if count < 3 || !forged && !l.opens(i) && !l.titleFollows(end) && !l.titleBefore(i) {
		return edit{}
	}
	return edit{end - i, "= = =", true}
}

// colon keeps a title, or the name of a role at the beginning of a line, from naming who speaks.
func (l suspicion) colon(i, n int) edit {
	last, _ := utf8.DecodeLastRuneInString(l.line[:i])
	if last == utf8.RuneError || unicode.IsDigit(last) || strings.HasPrefix(l.line[i:], "://") {
		return edit{}
	}
	before := foldEnd(l.line[:i])
	isRole := l.begins && roleNames[string(before)]
	if !isRole && !(l.endsInTitle(before) && (shouted(l.line[:i]) || l.isWhole(before))) {
		return edit{}
	}
	return edit{n, " :", true}
}

// roleNames are those that a model could take for a speaker.
var roleNames = map[string]bool{
	"user": true, "assistant": true, "system": true, "human": true, "hark": true,
	"developer": true, "tool": true, "ai": true, "bot": true, "model": true,
}

// angle takes their form from mention tags where a speaker stands, and from the tags of chat templates.
func (l suspicion) angle(i, n int) edit {
	rest := l.line[i+n:]
	if tag := mentionLength(rest); tag > 0 {
		if !l.begins || !l.opens(i) {
			next := strings.TrimLeft(rest[tag:], " *_\t")
			r, _ := utf8.DecodeRuneInString(next)
			if !colonLike(r) && r != '|' && r != '(' {
				return edit{}
			}
		}
		return edit{n + tag, "‹" + rest[:tag-1] + "›", false}
	}
	if templateTag(rest) {
		return edit{n, "‹", false}
	}
	return edit{}
}

// mentionLength is that of "@123>" at the beginning of s; 0 if it doesn't begin so.
func mentionLength(s string) int {
	at := strings.TrimPrefix(s, "@")
	if len(at) == len(s) {
		return 0
	}
	digits := strings.TrimLeft(strings.TrimLeft(at, "!& "), "0123456789 ")
	if strings.HasPrefix(digits, ">") {
		return len(s) - len(digits) + 1
	}
	return 0
}

// templateTag reports whether s continues a "<" to a token that chat models are steered by.
func templateTag(s string) bool {
	for _, bar := range []string{"|", "｜"} {
		if after, ok := strings.CutPrefix(s, bar); ok {
			r, _ := utf8.DecodeRuneInString(after)
			return unicode.IsLetter(r) || r == '_'
		}
	}
	name := strings.TrimPrefix(strings.TrimPrefix(s, "<"), "/")
	end := strings.IndexByte(name[:min(len(name), tagSpan)], '>')
	return end > 0 && templateNames[strings.ToLower(name[:end])]
}

var templateNames = map[string]bool{
	"s": true, "sys": true, "system": true, "user": true, "assistant": true, "human": true, "inst": true,
	"bos": true, "eos": true, "start_of_turn": true, "end_of_turn": true, "tool_call": true,
	"tool_response": true, "system_prompt": true, "instructions": true,
}

// bracket is angle for tags in brackets, the prompt's own among them, and keeps a line from beginning with a
// time as those of the history do.
func (l suspicion) bracket(i int) edit {
	if l.begins && stampFollows(l.line[i+1:]) && (l.without(i, unicode.IsLetter) || l.marked(i)) {
		return edit{1, "[", true}
	}
	switch name := bracketed(l.line[i+1:]); name {
	case "":
		return edit{}
	case l.tag, "inst", "sys", "system", "system_prompt", "available_tools", "tool_calls", "tool_results", "previous_context":
		return edit{1, "‹", false}
	}
	return edit{}
}

// bracketed is what s, the text after a "[", has before its "]", in small letters; empty if that isn't near.
func bracketed(s string) string {
	name := strings.TrimPrefix(s, "/")
	end := strings.IndexByte(name[:min(len(name), tagSpan)], ']')
	return strings.ToLower(name[:max(0, end)])
}

// stampFollows reports whether s begins like "07-24" or "2024-07".
func stampFollows(s string) bool {
	rest := strings.TrimLeft(s, "0123456789")
	n := len(s) - len(rest)
	return (n == 2 || n == 4) && len(rest) > 2 && rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9'
}

// fence breaks the fences of code blocks, which would swallow what follows.
func (l suspicion) fence(i int) edit {
	sign := l.line[i : i+1]
	if strings.HasSuffix(l.line[:i], sign) {
		return edit{} // within a run that was left alone
	}
	width := len(l.line[i:]) - len(strings.TrimLeft(l.line[i:], sign))
	if width < 3 || sign == "~" && !l.opens(i) {
		return edit{}
	}
	return edit{width, "'''", false}
}

// tagSpan and openSpan bound what is looked at for a tag's end and for the beginning of a line, so that no text
// takes time that grows with its square.
const (
	tagSpan  = 32
	openSpan = 1000
)

// opens reports whether nothing but signs stands before byte i.
func (l suspicion) opens(i int) bool {
	return l.without(i, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// without reports whether nothing that is so stands before byte i.
func (l suspicion) without(i int, so func(rune) bool) bool {
	return i <= openSpan && strings.IndexFunc(l.line[:i], so) < 0
}

func (l suspicion) titleFollows(i int) bool {
	after := string(foldBegin(l.line[i:]))
	for _, title := range l.titles {
		if rest, ok := strings.CutPrefix(after, title); ok && (rest == "" || rest[0] == ' ') {
			return true
		}
	}
	return false
}

func (l suspicion) titleBefore(i int) bool { return l.endsInTitle(foldEnd(l.line[:i])) }

func (l suspicion) endsInTitle(folded []byte) bool {
	for _, title := range l.titles {
		rest, ok := strings.CutSuffix(string(folded), title)
		if ok && (rest == "" || rest[len(rest)-1] == ' ') {
			return true
		}
	}
	return false
}

// shouted reports whether s ends in a title's capitals.
func shouted(s string) bool {
	end := strings.TrimRightFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if strings.HasSuffix(end, "memory") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(end)
	return !unicode.IsLower(last)
}
