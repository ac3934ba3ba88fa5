package markdown

import (
	"html"
	"html/template"
	"strconv"
	"strings"

	"hark/internal/pattern"
	"hark/memory"
)

// longestHTML bounds what HTML formats, in bytes. Longer text is shown as it is. Discord's messages are shorter.
const longestHTML = 16 << 10

// Reader says what a text's tags and links mean. Its functions may be nil.
type Reader struct {
	// Tag returns how to show a tag, such as "<@123>", as plain text; "" if that is unknown.
	Tag func(tag string) string
	// Message returns the address of a message's page, for links to it; "" if it has none.
	Message func(memory.GuildID, memory.ChannelID, memory.MessageID) string
}

// HTML returns text as Discord shows it, as block elements. It makes a fixed set of tags and escapes everything else.
// Of links only those to messages work. Formatting that is unclear is shown as it was written.
func HTML(text string, r Reader) template.HTML { return render(text, r, false) }

// HTMLLine is HTML on one line, without block elements.
func HTMLLine(text string, r Reader) template.HTML { return render(text, r, true) }

func render(text string, r Reader, oneLine bool) template.HTML {
	w := htmlWriter{reader: r, oneLine: oneLine}
	if len(text) > longestHTML {
		w.text(text)
	} else {
		text, w.cited = citations(text)
		w.write(format(text, nil))
	}
	return template.HTML(w.out.String())
}

// citation matches a citation in an answer, as LinksTo makes it.
var citation = pattern.Of(`\[\\\[([0-9]{1,3})\\\]\]\(<(https://[^\s<>()]{1,200})>\)`)

// citations shortens citations to "[1]" and returns their addresses by their place in the new text.
func citations(text string) (short string, addresses map[int]string) {
	var b strings.Builder
	addresses = map[int]string{}
	at := 0
	for _, m := range citation().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[at:m[0]])
		addresses[b.Len()] = text[m[4]:m[5]]
		b.WriteString("[" + text[m[2]:m[3]] + "]")
		at = m[1]
	}
	b.WriteString(text[at:])
	return b.String(), addresses
}

// htmlWriter writes formatted text as HTML. What it opens it closes, in order.
type htmlWriter struct {
	out     strings.Builder
	reader  Reader
	oneLine bool
	cited   map[int]string // addresses of citations by their place

	marks []string // that are open, outermost first
	block string   // how the line's block begins; empty: none is open
	quote quoting
	code  coding
	// fenced is set after a fence: if its line ends there, the end isn't shown.
	fenced bool
}

// quoting is whether a quotation is open, and where it ends.
type quoting int

const (
	notQuoting quoting = iota
	quotingLine
	quotingNext // the line has ended: the next one may go on
	quotingRest
)

// coding is whether a block of code is open.
type coding int

const (
	notCoding coding = iota
	codingPlain
	codingQuoted // each line begins with "> "
)

// element is the tags of a mark.
type element struct{ open, shut string }

var elements = map[string]element{
	"*":   {"<em>", "</em>"},
	"_":   {"<em>", "</em>"},
	"**":  {"<strong>", "</strong>"},
	"***": {"<strong><em>", "</em></strong>"},
	"__":  {"<u>", "</u>"},
	"___": {"<u><em>", "</em></u>"},
	"~~":  {"<s>", "</s>"},
	"||":  {opening("span", "spoiler"), "</span>"},
	"`":   {"<code>", "</code>"},
	"``":  {"<code>", "</code>"},
}

// blocks are the classes of lines, by how they begin.
var blocks = map[string]string{"# ": "heading1", "## ": "heading2", "### ": "heading3", "-# ": "small"}

// opening returns an opening tag.
func opening(element, class string) string { return "<" + element + ` class="` + class + `">` }

func (w *htmlWriter) write(f *formatted) {
	fences := countFences(f)
	at := 0
	for i := range f.spans {
		s := &f.spans[i]
		if s.start < at {
			continue
		}
		w.text(f.text[at:s.start])
		at = s.end
		shown := f.text[s.start:s.end]
		switch {
		case s.kind == tokenFence:
			fences--
			if s.opens && fences == 0 { // nothing closes it
				w.text(f.text[s.start:])
				w.closeAll()
				return
			}
			w.fence(s)
		case w.code != notCoding:
			w.text(shown)
		case s.kind == tokenBegin:
			w.begin(s.line, shown)
		case s.kind == tokenMark && s.pair >= 0:
			w.mark(s.mark, s.pair > i)
		default:
			w.token(s, shown)
		}
	}
	w.text(f.text[at:])
	w.closeAll()
}

func countFences(f *formatted) (n int) {
	for i := range f.spans {
		if f.spans[i].kind == tokenFence {
			n++
		}
	}
	return n
}

// token writes a span that opens and closes nothing.
func (w *htmlWriter) token(s *span, shown string) {
	switch s.kind {
	case tokenEscape:
		w.text(shown[1:])
	case tokenMasked:
		label, address, _ := strings.Cut(shown[1:len(shown)-1], "](")
		w.link(label, address)
	case tokenAddress, tokenInvite:
		w.link("", shown)
	case tokenCited:
		w.cite(w.cited[s.start], shown)
	case tokenTag:
		w.tag(shown)
	default:
		w.text(shown)
	}
}

// text writes text as it is.
func (w *htmlWriter) text(s string) {
	if s == "" {
		return
	}
	if rest, ends := strings.CutPrefix(s, "\n"); ends && w.fenced && !w.oneLine {
		s = rest
		if w.code == notCoding {
			w.closeBlock()
			w.quoteMayEnd()
		}
	}
	w.fenced = false
	for line := range strings.Lines(s) {
		words, ends := strings.CutSuffix(line, "\n")
		if words != "" {
			w.endQuotedLines()
			w.escaped(words)
		}
		if ends {
			w.endLine()
		}
	}
}

func (w *htmlWriter) escaped(s string) {
	if w.code == codingQuoted && w.atLineStart() {
		s = strings.TrimPrefix(s, "> ")
	}
	w.out.WriteString(html.EscapeString(s))
}

func (w *htmlWriter) atLineStart() bool {
	out := w.out.String()
	return strings.HasSuffix(out, "\n") || strings.HasSuffix(out, "<code>")
}

// endLine ends a line, and its block.
func (w *htmlWriter) endLine() {
	switch {
	case w.oneLine:
		w.out.WriteByte(' ')
	case w.code != notCoding:
		w.out.WriteByte('\n')
	case w.block != "":
		w.closeBlock()
		w.quoteMayEnd()
	case w.quote == quotingNext:
		w.endQuotedLines()
		w.out.WriteByte('\n')
	case w.quote == quotingLine:
		w.quoteMayEnd()
	default:
		w.out.WriteByte('\n')
	}
}

func (w *htmlWriter) quoteMayEnd() {
	if w.quote == quotingLine {
		w.quote = quotingNext
	}
}

// endQuotedLines closes a quotation whose next line isn't quoted.
func (w *htmlWriter) endQuotedLines() {
	if w.quote == quotingNext {
		w.closeQuote()
	}
}

// begin begins a line's block.
func (w *htmlWriter) begin(line, shown string) {
	quoted := line == "> " || line == ">>> "
	if w.oneLine {
		if !quoted && blocks[line] == "" {
			w.text(strings.TrimLeft(shown, " \t"))
		}
		return
	}
	switch {
	case line == "+ ", w.quote == quotingRest && quoted: // means nothing there
		w.text(shown)
		return
	case w.quote == quotingNext && line == "> ":
		w.quote = quotingLine
		w.out.WriteByte('\n')
		return
	}
	w.endQuotedLines()
	w.closeMarks()
	switch {
	case line == "> ":
		w.out.WriteString("<blockquote>")
		w.quote = quotingLine
	case quoted:
		w.out.WriteString("<blockquote>")
		w.quote = quotingRest
	case blocks[line] != "":
		w.out.WriteString(opening("div", blocks[line]))
		w.block = line
	default:
		w.item(line, shown)
	}
}

// item begins an item of a list.
func (w *htmlWriter) item(line, shown string) {
	class := "item"
	if shown != line {
		class = "inner"
	}
	sign := strings.TrimSpace(line)
	if len(sign) == 1 {
		sign = "•"
	}
	w.out.WriteString(opening("div", class) + html.EscapeString(sign) + " ")
	w.block = line
}

// fence begins or ends a block of code.
func (w *htmlWriter) fence(s *span) {
	w.endQuotedLines()
	tags := []string{"<pre><code>", "</code></pre>"}
	if w.oneLine {
		tags = []string{"<code>", "</code>"}
	}
	w.fenced = true
	if !s.opens {
		w.out.WriteString(tags[1])
		w.code = notCoding
		return
	}
	w.out.WriteString(tags[0])
	w.code = codingPlain
	if w.quote == quotingLine && s.line == "> " {
		w.code = codingQuoted
	}
}

// mark opens or closes a mark. One that was opened in another block stays closed.
func (w *htmlWriter) mark(mark string, opens bool) {
	w.endQuotedLines()
	if opens {
		w.marks = append(w.marks, mark)
		w.out.WriteString(elements[mark].open)
		return
	}
	if n := len(w.marks); n > 0 && w.marks[n-1] == mark {
		w.closeMark()
	}
}

func (w *htmlWriter) closeMark() {
	last := len(w.marks) - 1
	w.out.WriteString(elements[w.marks[last]].shut)
	w.marks = w.marks[:last]
}

func (w *htmlWriter) closeMarks() {
	for len(w.marks) > 0 {
		w.closeMark()
	}
}

func (w *htmlWriter) closeBlock() {
	w.closeMarks()
	if w.block != "" {
		w.out.WriteString("</div>")
		w.block = ""
	}
}

func (w *htmlWriter) closeQuote() {
	w.closeBlock()
	if w.quote != notQuoting {
		w.out.WriteString("</blockquote>")
		w.quote = notQuoting
	}
}

func (w *htmlWriter) closeAll() { w.closeQuote() }

// link writes an address, behind its label if it has one. Only links to messages work.
func (w *htmlWriter) link(label, address string) {
	address = strings.Trim(address, "<>")
	if label == "" {
		w.cite(address, address)
		return
	}
	w.endQuotedLines()
	w.out.WriteString("<u>" + html.EscapeString(label) + "</u> (")
	w.cite(address, address)
	w.out.WriteString(")")
}

// messageAddress matches the address of a message.
var messageAddress = pattern.Of(`^https://(?:[a-z]+\.)?discord(?:app)?\.com/channels/([0-9]{1,19}|@me)/` +
	`([0-9]{1,19})/([0-9]{1,19})$`)

// cite writes text, with a link if the address is that of a message with a page.
func (w *htmlWriter) cite(address, shown string) {
	to := w.pageOf(address)
	if to == "" {
		w.text(shown)
		return
	}
	w.endQuotedLines()
	w.out.WriteString(`<a href="` + html.EscapeString(to) + `">` + html.EscapeString(shown) + "</a>")
}

func (w *htmlWriter) pageOf(address string) string {
	m := messageAddress().FindStringSubmatch(address)
	if m == nil || w.reader.Message == nil {
		return ""
	}
	guild, _ := strconv.ParseInt(m[1], 10, 64) // 0 for direct messages
	channel, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return ""
	}
	message, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil {
		return ""
	}
	return w.reader.Message(memory.GuildID(guild), memory.ChannelID(channel), memory.MessageID(message))
}

// tag writes the name behind a tag.
func (w *htmlWriter) tag(shown string) {
	name := ""
	if w.reader.Tag != nil {
		name = w.reader.Tag(shown)
	}
	if name == "" {
		w.text(shown)
		return
	}
	w.endQuotedLines()
	w.out.WriteString(opening("bdi", "name") + html.EscapeString(name) + "</bdi>")
}
