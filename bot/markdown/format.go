package markdown

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/pattern"
)

// formatted is a text with the Discord Markdown that cuts need.
type formatted struct {
	text  string
	spans []span
	quote int // where a quotation to the end begins; len(text): none
}

// span is text that is never cut.
type span struct {
	start, end    int
	show          string // if replaced
	replaced      bool
	extra         int    // units that show is longer
	opens, closes bool   // a code block or marked text
	state         *state // what is open after it

	kind token
	mark string // such as "**"
	pair int    // the matching span; -1: none
	line string // the block mark that its line begins with

	lineEnd int // of a tokenBegin: its line's end
}

// state is what is open at a position.
type state struct {
	marks []string // outermost first
	code  string   // reopens the code block; empty: none is open
	shut  string   // closes it, on a line of its own
}

// token is a kind of span.
type token int

const (
	tokenFence   token = iota + 1
	tokenBegin         // of a line: quotation, heading, list item
	tokenEscape        // an escaped sign
	tokenMasked        // a link with a text
	tokenAddress       // a bare link
	tokenInvite        // an invitation without a scheme
	tokenTag           // a mention, an emoji, a time stamp
	tokenCited
	tokenUnsafe // possibly a masked link, not understood
	tokenMark
)

// tokens matches the kinds in their order above. Only the first and the last contain a backtick, so it finds every
// fence.
var tokens = pattern.Of("(\\\\?```)" +
	"|((?m:^[ \\t]{0,8}(?:[-*+]|[0-9]{1,3}[.)]|>>>|>|#{1,3}|-#)[ \\t]))" +
	"|(\\\\[!-/:-@\\[-_{-~])" +
	"|(\\[[^\\[\\]\n`]{0,100}\\]\\(<?(?i:https?)://[^\\s()<>`\\[\\]]{1,400}>?\\))" +
	"|(<?(?i:https?)://[^\\s<>`\\[\\]]{1,400}>?)" +
	"|((?i:" + inviteHosts + ")[^\\s<>`\\[\\]()]{1,100})" +
	"|(<[@#:/a-z][^<>\\s`\\[\\]]{0,80}>)" +
	"|(\\[[0-9]{1,3}\\])" +
	"|(\\]\\([ \\t\n]*<?[ \\t]*[A-Za-z][A-Za-z0-9+.-]{0,20}:)" +
	"|(\\*+|_+|~+|\\|+|`{1,2})")

// info matches the language after an opening fence.
var info = regexp.MustCompile(`^[A-Za-z0-9_+\-.#]{1,20}\n`)

// format parses text; link renders citations.
func format(text string, link linker) *formatted {
	f := &formatted{text: text, quote: len(text)}
	f.scan(link)
	f.pairMarks()
	f.trackState()
	return f
}

// scan finds the spans, without their states. Code has only its end. Where it is unclear whether something is code,
// links are defanged even there.
func (f *formatted) scan(link linker) {
	at := 0
	code := false
	solid := false
	begin := ""
	lineEnd := 0
	quoted := false
	for _, m := range tokens().FindAllStringSubmatchIndex(f.text, -1) {
		s := span{
			start: m[0],
			end:   m[1],
			pair:  -1,
		}
		if s.start < at {
			continue // a fence's language
		}
		for k := range tokenMark {
			if m[2*(k+1)] >= 0 {
				s.kind = k + 1
			}
		}
		if begin != "" && !quoted && lineEnd < s.start {
			begin = ""
		}
		shown := f.text[s.start:s.end]
		switch {
		case s.kind == tokenFence:
			code = !code
			if code {
				language := info.FindString(f.text[s.end:])
				s.end += len(language)
				s.mark = fence + language
				if language == "" {
					s.mark += "\n"
				}
				solid = begin == ""
			}
			s.opens = code
			s.closes = !code
			s.line = begin
		case code && (solid || s.kind != tokenMasked && s.kind != tokenUnsafe):
			continue
		case s.kind == tokenBegin:
			begin = strings.TrimLeft(shown, " \t")
			if begin == ">>> " && !quoted {
				quoted = true
				f.quote = s.start
			}
			lineEnd = f.lineEnd(s.end)
			s.line = begin
			s.lineEnd = lineEnd
			s.opens = true
		case s.kind == tokenMark:
			s.mark = shown
			s.line = begin
		case s.kind == tokenCited && link == nil:
			s.extra = citationWidth - len(shown)
		case s.kind == tokenCited:
			if made := link(strings.Trim(shown, "[]")); made != "" {
				s.replace(shown, made)
			}
		default:
			s.replace(shown, defang(s.kind, shown))
		}
		at = s.end
		f.spans = append(f.spans, s)
	}
}

// lineEnd returns the end of the line at byte i.
func (f *formatted) lineEnd(i int) int {
	if n := strings.IndexByte(f.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(f.text)
}

func (s *span) replace(was, show string) {
	if show != was {
		s.show, s.replaced, s.extra = show, true, Units(show)-Units(was)
	}
}

// pairMarks pairs the marks that open and close the same text.
func (f *formatted) pairMarks() {
	var open []int // spans
	block := -1    // the span that begins the current line or quotation; -1: none
	for i := 0; i < len(f.spans); i++ {
		s := &f.spans[i]
		oneLine := block >= 0 && s.start < f.quote
		if oneLine && f.spans[block].lineEnd < s.start && !f.goesOn(block, i) {
			open = nil
			block = -1
			oneLine = false
		}
		switch {
		case s.kind == tokenBegin && s.start <= f.quote:
			if block < 0 {
				open = nil
			}
			block = i
		case s.kind == tokenMark && s.mark[0] == '`':
			if end := f.codeEnd(i, oneLine); end >= 0 {
				f.join(i, end)
				i = end
			}
		case s.kind == tokenMark:
			open = f.pairMark(open, i)
		}
	}
}

// goesOn reports whether span i continues, on the next line, the quotation that span block begins.
func (f *formatted) goesOn(block, i int) bool {
	a := &f.spans[block]
	b := &f.spans[i]
	return a.line == "> " && b.kind == tokenBegin && b.line == a.line &&
		strings.IndexByte(f.text[a.lineEnd:b.start], '\n') == strings.LastIndexByte(f.text[a.lineEnd:b.start], '\n')
}

// codeEnd returns the span that closes the inline code of span i: as many backticks, in the same paragraph and block;
// -1 if there is none, or the backticks are escaped.
func (f *formatted) codeEnd(i int, oneLine bool) int {
	s := &f.spans[i]
	if strings.HasSuffix(f.text[:s.start], `\`) || f.touches(i) {
		return -1
	}
	from := s.end
	most := len(f.text)
	if oneLine {
		most = f.lineEnd(s.end)
	}
	for j := i + 1; j < len(f.spans); j++ {
		t := &f.spans[j]
		if t.kind == tokenFence || t.kind == tokenBegin || t.start > most ||
			strings.Contains(f.text[from:t.start], "\n\n") {
			return -1
		}
		if t.kind == tokenMark && t.mark == s.mark && t.start > s.end && !f.touches(j) {
			return j
		}
		from = t.start
	}
	return -1
}

// touches reports whether the backticks of span i belong to a longer run.
func (f *formatted) touches(i int) bool {
	s := &f.spans[i]
	return strings.HasSuffix(f.text[:s.start], "`") || strings.HasPrefix(f.text[s.end:], "`")
}

// join pairs the ends of inline code, and clears the spans between.
func (f *formatted) join(i, end int) {
	for j := i + 1; j < end; j++ {
		f.spans[j] = span{
			start: f.spans[j].start,
			end:   f.spans[j].end,
			pair:  -1,
		}
	}
	f.spans[i].pair = end
	f.spans[end].pair = i
}

// pairMark returns the marks that are open after span i, given those before.
func (f *formatted) pairMark(open []int, i int) []int {
	s := &f.spans[i]
	most := 3
	if s.mark[0] == '~' || s.mark[0] == '|' {
		most = 2
		if len(s.mark) == 1 {
			return open
		}
	}
	if len(s.mark) > most {
		return open
	}
	before, _ := utf8.DecodeLastRuneInString(f.text[:s.start])
	after, _ := utf8.DecodeRuneInString(f.text[s.end:])
	begins := s.end < len(f.text)
	ends := true
	switch s.mark {
	case "*", "***":
		begins = begins && !unicode.IsSpace(after)
		ends = !unicode.IsSpace(before)
	case "_", "___":
		begins = begins && !inWord(before) && !unicode.IsSpace(after)
		ends = !inWord(after) && !unicode.IsSpace(before)
	}
	if k := slices.IndexFunc(open, func(o int) bool { return f.spans[o].mark == s.mark }); k >= 0 {
		if ends && f.spans[open[k]].end < s.start {
			s.pair = open[k]
			f.spans[open[k]].pair = i
			return open[:k]
		}
		return open
	}
	if begins {
		return append(open, i)
	}
	return open
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// trackState sets each span's state.
func (f *formatted) trackState() {
	now := &state{}
	for i := range f.spans {
		s := &f.spans[i]
		next := *now
		switch {
		case s.kind == tokenFence && s.opens:
			next.code = s.mark
			next.shut = fence
			if s.line == "> " {
				next.code = s.mark
				next.shut = s.line + fence
			}
			now = &next
		case s.kind == tokenFence:
			next.code = ""
			next.shut = ""
			now = &next
		case s.pair > i:
			s.opens, next.marks = true, append(slices.Clone(now.marks), s.mark)
			now = &next
		case s.pair >= 0:
			s.closes = true
			if k := slices.Index(now.marks, s.mark); k >= 0 {
				next.marks = slices.Clone(now.marks[:k])
			}
			now = &next
		}
		s.state = now
	}
}

// lineBegin matches a line's block mark, which is repeated where the line continues.
var lineBegin = regexp.MustCompile(`^[ \t]{0,8}(> |#{1,3} |-# )`)

// closeAndReopen returns what closes the state s at byte i, and what reopens it.
func (f *formatted) closeAndReopen(i int, s *state) (shut, open string) {
	line := f.text[strings.LastIndexByte(f.text[:i], '\n')+1 : i]
	begin := ""
	if m := lineBegin.FindStringSubmatch(line); m != nil && len(m[0]) < len(line) {
		begin = m[1]
	}
	marks := s.marks
	if n := len(marks); n > 0 && marks[n-1][0] == '`' && (strings.HasSuffix(f.text[:i], "`") ||
		strings.HasPrefix(f.text[i:], "`")) {
		marks = marks[:n-1] // they would merge
	}
	switch {
	case f.quote < i:
		open = ">>> "
	case s.code != "" && strings.HasPrefix(s.shut, "> "):
		open = "> "
	case s.code == "":
		open = begin
	}
	open += strings.Join(marks, "") + s.code
	if s.code != "" && strings.HasPrefix(s.shut, "> ") && f.quote >= i {
		open += begin
	}
	if s.code != "" {
		shut = s.shut
		if line != "" {
			shut = "\n" + shut
		}
	}
	for _, m := range slices.Backward(marks) {
		shut += m
	}
	return shut, open
}

// shown returns what is shown for text[from:to], which cuts no span.
func (f *formatted) shown(from, to int) string {
	var b strings.Builder
	for _, s := range f.spans {
		if s.replaced && from <= s.start && s.end <= to {
			b.WriteString(f.text[from:s.start])
			b.WriteString(s.show)
			from = s.end
		}
	}
	b.WriteString(f.text[from:to])
	return b.String()
}
