package manifest

import (
	"slices"
	"strconv"
	"strings"

	"hark/internal/pattern"
)

// Models cite in many notations: 【1†source】, [^1], [source 1], [1–3], [[1]], \[1\], [1](https://example.org).
// Notations below become the one that the rest of Hark reads: [1], without the model's own address.

// The parts of a citation as models write them.
const (
	sourceWords = `sources?|src|cite[ds]?|citations?|quellen?|fuentes?|出典|情報源|來源|来源`
	otherWords  = `references?|refs?|références?|réfs?|referenz(?:en)?|messages?|msgs?|nachrichten?|mensajes?|` +
		`documents?|docs?|footnotes?|fn|notes?|メッセージ|参照|訊息|消息`

	digits    = `[0-9０-９¹²³⁰⁴-⁹]{1,3}`
	wordEnd   = `[ \t]*[.:：#＃№_-]?[ \t]*`
	word      = `(?:(?i:` + sourceWords + `|` + otherWords + `)` + wordEnd + `)?`
	number    = word + `[\^#＃№@]?[ \t]*\*{0,2}` + digits + `\*{0,2}\^?`
	dagger    = `(?:(?::[0-9]{1,2})?†[^\[\]［］【】〔〕,\x60\n]*)?`
	dash      = `(?:[ \t]*(?:[-‐‑–—−~〜～…]|\.{2,3})[ \t]*|[ \t]+(?:to|through|bis|à|al?|hasta)[ \t]+)`
	numbers   = number + dagger + `(?:` + dash + number + dagger + `)?`
	comma     = `(?:[ \t]*[,;，；、|&][ \t]*(?:(?:and|und|et|y)[ \t]+)?|[ \t]+(?:and|und|et|y)[ \t]+)`
	opening   = `(?:\^?\\?[\[［【〔]|<sup>)[ \t]*`
	closing   = `[ \t]*(?:\\?[\]］】〕]|</sup>)`
	nested    = `(?:` + numbers + `|` + opening + numbers + closing + inBrackets + `?)`
	list      = nested + `(?:` + comma + nested + `)*(?:†[^\[\]［］【】〔〕\x60\n]*)?`
	spelled   = number + `(?:(?:` + comma + `|` + dash + `)` + number + `)*`
	plainList = digits + `(?:(?:` + comma + `|` + dash + `)` + digits + `)*`

	// An address, and what Markdown puts round it behind a link's text.
	address    = `(?:[A-Za-z][A-Za-z0-9+.-]{1,20}:[^\s()<>（）]|//|/|#|www\.|[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,20}\b)`
	inBrackets = `(?:[(（][ \t]*(?:<?` + address + `[^()（）\n]*(?:\([^()\n]*\)[^()（）\n]*)*)?[)）]` +
		`|<https?://[^<>\s]+>)`
)

var (
	citation = pattern.Of(`((?:` + opening + `)+?)(` + list + `)((?:` + closing + `)+)` +
		`|[(（][ \t]*((?i:` + sourceWords + `)` + wordEnd + spelled + `)[ \t]*[)）]`)
	openings = pattern.Of(opening)
	closings = pattern.Of(closing)
	// behind is the address behind a citation.
	behind = pattern.Of(`^[ \t]?` + inBrackets)
	// sourceLine is an end of a line that names sources.
	sourceLine = pattern.Of(`(?m)(?:^|[ \t>*_(])((?i:` + sourceWords + `)[ \t]*[:：]\*{0,2}[ \t]*)(` + plainList +
		`)[.。*_]*[ \t]*$`)
	noise     = pattern.Of(inBrackets + `|(?::[0-9]{1,2})?†[^\[\]［］【】〔〕,\x60\n]*`)
	numberRun = pattern.Of(`(` + digits + `)\*{0,2}\^?[\]］】〕\\]*(?:` + dash + `[^0-9０-９¹²³⁰⁴-⁹,;，；、|&]*(` +
		digits + `))?`)
	plain = pattern.Of(`^\[+[0-9]{1,3}(?:[ \t]*,[ \t]*[0-9]{1,3})*\]+$`)
)

// mark is a citation in prose.
type mark struct {
	start, end int
	text       string // without the address
	list       string // its numbers
	linked     bool   // it has an address
	spelled    bool   // in parentheses, so each number must be known
}

// nextMark returns the first citation at or after byte from.
func nextMark(prose string, from int) (m mark, found bool) {
	at := citation().FindStringSubmatchIndex(prose[from:])
	if at == nil {
		return mark{}, false
	}
	if at[8] >= 0 {
		m = mark{
			start:   from + at[0],
			end:     from + at[1],
			list:    prose[from+at[8] : from+at[9]],
			spelled: true,
		}
		m.text = prose[m.start:m.end]
		return m, true
	}
	m = mark{
		start: from + at[0],
		end:   from + at[1],
		list:  prose[from+at[4] : from+at[5]],
	}
	opened := openings().FindAllString(prose[from+at[2]:from+at[3]], -1)
	closed := closings().FindAllString(prose[from+at[6]:from+at[7]], -1)
	for len(opened) > len(closed) { // the first ones belong to other text
		m.start += len(opened[0])
		opened = opened[1:]
	}
	surplus := len(closed) - len(opened)
	for _, c := range closed[len(opened):] {
		m.end -= len(c)
	}
	m.text = prose[m.start:m.end]
	if surplus > 0 {
		return m, true
	}
	if address := behind().FindString(prose[m.end:]); address != "" {
		m.linked = true
		m.end += len(address)
	}
	return m, true
}

// isPlain reports whether a citation has the form that Hark asks for: [n], or a list of such numbers.
func (m *mark) isPlain() bool { return !m.linked && plain().MatchString(m.text) }

// maxRange is the most citations that a range becomes. Of a longer one its ends are cited.
const maxRange = 10

// render returns a citation of the known numbers; "" if there are none. A range counts if its ends are known.
func (m *mark) render(known func(int) bool) string {
	var b strings.Builder
	for _, run := range numberRun().FindAllStringSubmatch(noise().ReplaceAllString(m.list, ""), -1) {
		first := numberOf(run[1])
		last := numberOf(run[2])
		switch {
		case run[2] == "" && known(first):
			b.WriteString(bracketed(first))
		case run[2] != "" && first < last && known(first) && known(last):
			b.WriteString(spread(first, last, known))
		case m.spelled:
			return ""
		}
	}
	return b.String()
}

// spread returns the citations of a range.
func spread(first, last int, known func(int) bool) string {
	if last-first >= maxRange {
		return bracketed(first) + "–" + bracketed(last)
	}
	var b strings.Builder
	for n := first; n <= last; n++ {
		if known(n) {
			b.WriteString(bracketed(n))
		}
	}
	return b.String()
}

func bracketed(n int) string { return "[" + strconv.Itoa(n) + "]" }

// numberOf returns a number in ASCII, full-width or superscript digits; 0 for "".
func numberOf(written string) int {
	n := 0
	for _, r := range written {
		n = 10*n + digitOf(r)
	}
	return n
}

func digitOf(r rune) int {
	switch {
	case r == '¹':
		return 1
	case r == '²':
		return 2
	case r == '³':
		return 3
	case '⁰' <= r && r <= '⁹':
		return int(r - '⁰')
	case '０' <= r && r <= '９':
		return int(r - '０')
	}
	return int(r - '0')
}

// Numbers says which numbers a model can cite.
type Numbers struct {
	Known func(int) bool // whether a number is a source's
	// Said reports whether a notation other than [n] was in what the model was shown: it may be a member's, so it
	// stays as it is. nil: none was.
	Said func(notation string) bool
}

// isSaid reports whether a citation may be a member's.
func (n Numbers) isSaid(m *mark) bool {
	return n.Said != nil && !plain().MatchString(m.text) && n.Said(m.text)
}

// isInvented reports whether a citation without a known number can be nothing else than one. A bracket after a letter is
// an index, and a range may be one of anything.
func (m *mark) isInvented(prose string) bool {
	if m.spelled || m.isPlain() {
		return false
	}
	afterName := m.start > 0 && isNameByte(prose[m.start-1])
	isRange := slices.ContainsFunc(numberRun().FindAllStringSubmatch(m.list, -1), func(run []string) bool { return run[2] != "" })
	return m.linked || !afterName && !isRange
}

// any knows all numbers.
func (Numbers) any(int) bool { return true }

// normalized returns prose with each citation of a known number in the form [n], and those of other numbers that can be
// nothing else than citations.
func normalized(prose string, of Numbers) string {
	var b strings.Builder
	at := 0
	for from := 0; ; {
		m, found := nextMark(prose, from)
		if !found {
			break
		}
		from = m.end
		cited := m.render(of.Known)
		if cited == "" && m.isInvented(prose) {
			cited = m.render(of.any)
		}
		if cited == "" || m.isPlain() && !strings.HasPrefix(m.text, "[[") || of.isSaid(&m) {
			continue
		}
		b.WriteString(prose[at:m.start])
		b.WriteString(cited)
		at = m.end
	}
	b.WriteString(prose[at:])
	return namedSources(b.String(), of.Known)
}

// namedSources puts the numbers into brackets that stand alone behind "Sources:" at the end of a line.
func namedSources(prose string, known func(int) bool) string {
	var b strings.Builder
	at := 0
	for _, found := range sourceLine().FindAllStringSubmatchIndex(prose, -1) {
		m := mark{list: prose[found[4]:found[5]], spelled: true}
		if cited := m.render(known); cited != "" {
			b.WriteString(prose[at:found[4]])
			b.WriteString(cited)
			at = found[5]
		}
	}
	b.WriteString(prose[at:])
	return b.String()
}
