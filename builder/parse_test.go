package builder

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// parsed is a prompt, read back. The texts are as the prompt has them.
type parsed struct {
	system    string // under the system message's heading
	nothing   bool
	summaries []string
	people    []parsedPerson
	history   []parsedLine // of all items, one after the other
	more      int          // items left out, as the prompt says; -1 if it doesn't
	lore      []string     // in the plain layout, what stands before the history are summaries
	condensed string
	turns     []parsedTurn
	query     parsedTurn
	replied   string // the line before the query, without its beginning
	place     string // in which the query was asked
}

type parsedPerson struct {
	id           int64
	name, active string
	data         string
}

type parsedLine struct {
	found   bool // it has marks, number, time and channel, as far as its item has any
	marks   string
	number  int
	channel string
	stamp   string // with its brackets; empty: none
	author  string // with the tag
	reply   string // to whom
	text    string
}

type parsedTurn struct {
	role    string // in the chat layout
	stamp   string
	id      int64
	speaker string // the name
	reply   string // to whom
	text    string
}

// parser reads a prompt without knowing what was put in: the layout and its labels alone. Each line is part
// of something, or an error.
type parser struct {
	o      Options
	labels Labels
	guard  *guard
	err    error
	parsed
}

func parsePrompt(o Options, messages []ChatMessage) (parsed, error) {
	p := &parser{o: o, labels: o.Labels, parsed: parsed{more: -1}}
	if p.labels == (Labels{}) {
		p.labels = DefaultLabels()
	}
	p.guard = newGuard(p.labels, o.Citations)
	if len(messages) < 2 || messages[0].Role != RoleSystem {
		return p.parsed, fmt.Errorf("%d messages", len(messages))
	}
	p.readSystem(messages[0].Content)
	middle := messages[1:]
	if o.Layout == LayoutChat && len(messages) > 2 {
		p.readContext(blocks(messages[1].Content), false)
		for _, m := range messages[2 : len(messages)-1] {
			p.readTurnMessage(m)
		}
		middle = messages[len(messages)-1:]
	}
	if len(middle) != 1 || middle[0].Role != RoleUser || messages[1].Role != RoleUser {
		p.fail("roles of %d messages", len(messages))
		return p.parsed, p.err
	}
	list := blocks(middle[0].Content)
	if o.Layout == LayoutPlain {
		p.readPlain(list)
	} else {
		p.readContext(list, true)
	}
	return p.parsed, p.err
}

// blocks are the parts of a message between its empty lines, as lines.
func blocks(message string) [][]string {
	var list [][]string
	for _, block := range strings.Split(message, "\n\n") {
		list = append(list, strings.Split(block, "\n"))
	}
	return list
}

// first is the first line; empty if there is none.
func first(list [][]string) string {
	if len(list) == 0 || len(list[0]) == 0 {
		return ""
	}
	return list[0][0]
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// own is a member's text, which mustn't look like anything else.
func (p *parser) own(text string, starts bool) string {
	if err := p.guard.check(text, starts); err != nil {
		p.fail("%w", err)
	}
	return text
}

func (p *parser) readSystem(content string) {
	heading := headSystem
	if p.o.Layout == LayoutPlain {
		heading = plainSystem
	}
	system, ok := strings.CutPrefix(content, heading+"\n")
	if !ok {
		p.fail("the system message begins %.40q", content)
	}
	p.system = system
	for _, line := range strings.Split(system, "\n") {
		if p.guard.isHeading(line) {
			p.fail("a heading %q in the system message", line)
		}
	}
}

// readContext reads the user's message of the sections layout, or either of the chat layout's.
func (p *parser) readContext(list [][]string, last bool) {
	if p.o.Layout == LayoutSections || !last || first(list) == headPrevious {
		if first(list) != headPrevious {
			p.fail("the context begins %q", first(list))
			return
		}
		// What was found and isn't shown may be counted there, and at the smallest budgets nothing stands
		// there.
		more := 0
		if list[0] = list[0][1:]; len(list[0]) == 1 {
			more = p.moreIn(first(list))
		}
		if len(list[0]) == 0 || len(list[0]) == 1 && (more > 0 || first(list) == p.labels.Nothing) {
			p.nothing, list = true, list[1:]
		}
		if more > 0 {
			p.more = more
		}
		list = p.readRecalled(list)
	}
	if !last {
		if len(list) > 0 {
			p.fail("%q isn't part of the context", list[0])
		}
		return
	}
	if first(list) == headSession && p.o.Layout == LayoutSections {
		for _, lines := range p.afterCondensed(p.grouped(list[0][1:])) {
			p.turns = append(p.turns, p.turn(lines))
		}
		list = list[1:]
	}
	p.readQuery(list, headQuery)
}

// readQuery reads the query, before which there may be neither time nor name, and the last line, where there
// is one.
func (p *parser) readQuery(list [][]string, heading string) {
	if len(list) == 2 && len(list[1]) == 1 && list[1][0] == reminder {
		list = list[:1]
	}
	if len(list) != 1 || first(list) != heading || len(list[0]) < 2 {
		p.fail("%q isn't the query", list)
		return
	}
	lines := list[0][1:]
	if len(lines) > 1 && strings.HasPrefix(lines[0], replyBegin) && !strings.HasPrefix(lines[1], "  ") {
		p.replied = p.own(strings.TrimPrefix(lines[0], replyBegin), false)
		list[0] = append(list[0][:1:1], lines[1:]...)
	}
	list[0][1] = p.readPlace(list[0][1])
	if lines := list[0][1:]; stampText.MatchString(lines[0]) || tagText.MatchString(lines[0]) {
		p.query = p.turn(lines)
	} else {
		asker := ""
		if p.o.Layout == LayoutPlain {
			asker = strangerText.FindString(lines[0])
		}
		p.query.text = asker + p.own(lines[0][len(asker):], asker == "") + p.indented(lines[1:])
	}
}

// readPlace returns the query's first line without the thread that it was asked in.
func (p *parser) readPlace(line string) string {
	stamp := stampText.FindString(line)
	m := placeText.FindStringSubmatch(line[len(stamp):])
	if m == nil || m[2] == "" {
		return line
	}
	p.place = p.own(m[1], false) // it begins with #, and the query follows
	return stamp + line[len(stamp)+len(m[0]):]
}

// readRecalled reads the blocks of what was recalled, and returns the others.
func (p *parser) readRecalled(list [][]string) [][]string {
	titles := []string{p.labels.Earlier, p.labels.Participants, p.labels.History, p.labels.Lore}
	at := 0
	for ; len(list) > 0; list = list[1:] {
		if at == 3 && first(list) != p.labels.Lore && !strings.HasPrefix(first(list), "=== ") {
			p.readHistory(list[0])
			continue
		}
		for at < len(titles) && first(list) != titles[at] {
			at++
		}
		if at == len(titles) {
			break
		}
		switch lines := list[0][1:]; at {
		case 0:
			p.summaries = p.texts(lines, p.labels.EarlierMark)
		case 1:
			p.readPeople(lines)
		case 2:
			p.readHistory(lines)
		case 3:
			p.lore = p.texts(lines, p.labels.Person)
		}
		at++
	}
	return list
}

func (p *parser) texts(lines []string, mark string) (texts []string) {
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, mark)
		if !ok || text == "" {
			p.fail("%q doesn't begin with %q", line, mark)
		}
		texts = append(texts, p.own(text, false))
	}
	return texts
}

func (p *parser) readPeople(lines []string) {
	for _, line := range lines {
		if data, ok := strings.CutPrefix(line, p.labels.DataMark+p.labels.Data); ok && len(p.people) > 0 {
			person := &p.people[len(p.people)-1]
			if person.data != "" || data == "" {
				p.fail("data %q once more", data)
			}
			person.data = p.own(data, false)
			continue
		}
		tagged, ok := strings.CutPrefix(line, p.labels.Person)
		id, name, rest := p.person(tagged)
		if !ok {
			p.fail("%q is no participant", line)
		}
		active, found := strings.CutPrefix(rest, " | "+p.labels.LastActive)
		if rest != "" && (!found || !agoText.MatchString(active)) {
			p.fail("%q follows a participant", rest)
		}
		p.people = append(p.people, parsedPerson{id: id, name: name, active: active})
	}
}

var (
	agoText   = regexp.MustCompile(`^(just now|\d+ (minute|hour|day)s? ago|-?\d{4,}-\d\d-\d\d)$`)
	tagText   = regexp.MustCompile(`^<@(-?\d+)>`)
	stampText = regexp.MustCompile(`^\[((?:-?\d{4,}-)?\d\d-\d\d \d\d:\d\d)\] `)
	placeText = regexp.MustCompile(`^(#[^ ]*( › [^|]*\|)?) `)
	numText   = regexp.MustCompile(`^\[(\d+)\]`)
	// strangerText is who asks if that is somebody without an id, whose name is a sign.
	strangerText = regexp.MustCompile(`^User [^\pL\d:]+: `)
)

// person reads "<@1> (Name)" at the beginning of s.
func (p *parser) person(s string) (id int64, name, rest string) {
	m := tagText.FindStringSubmatch(s)
	if m == nil {
		p.fail("no mention tag begins %q", s)
		return 0, "", ""
	}
	id, _ = strconv.ParseInt(m[1], 10, 64)
	rest = s[len(m[0]):]
	if !strings.HasPrefix(rest, " (") {
		return id, "", rest
	}
	depth := 0
	for i, r := range rest {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return id, p.own(rest[2:i], false), rest[i+1:]
			}
		}
	}
	p.fail("the name in %q doesn't end", s)
	return id, "", ""
}

func (p *parser) readHistory(lines []string) {
	for i, line := range lines {
		more := p.moreIn(line)
		neighbour, ok := strings.CutPrefix(line, p.labels.Neighbour)
		switch {
		case more > 0 && i == len(lines)-1:
			p.more = more
		case ok:
			stamp := besideText.FindString(neighbour)
			p.addLine(parsedLine{stamp: strings.TrimSuffix(stamp, " ")}, neighbour[len(stamp):])
		default:
			p.readFound(line)
		}
	}
}

// besideText is the time of a neighbour.
var besideText = regexp.MustCompile(`^\[(?:(?:-?\d{4,}-)?\d\d-\d\d )?\d\d:\d\d\] `)

// moreIn is the number of items that a line says were left out; 0 if it is no such line.
func (p *parser) moreIn(line string) int {
	if line == p.labels.MoreOne {
		return 1
	}
	before, after, _ := strings.Cut(p.labels.More, "%d")
	rest, ok := strings.CutPrefix(line, before)
	rest, end := strings.CutSuffix(rest, after)
	if n, err := strconv.Atoi(rest); ok && end && err == nil {
		return n
	}
	return 0
}

func (p *parser) readFound(line string) {
	item, rest := parsedLine{found: true}, line
	if p.o.Layout != LayoutPlain {
		for _, mark := range p.labels.marks() {
			if after, ok := strings.CutPrefix(rest, mark); ok && mark != "" {
				item.marks, rest = item.marks+mark, after
			}
		}
	}
	if m := numText.FindStringSubmatch(rest); m != nil && p.o.Citations {
		item.number, _ = strconv.Atoi(m[1])
		rest = rest[len(m[0]):]
	}
	if item.marks != "" || p.o.Citations {
		after, ok := strings.CutPrefix(rest, " ")
		if !ok || p.o.Citations != (item.number > 0) {
			p.fail("%q has no number", line)
		}
		rest = after
	}
	m := stampText.FindStringSubmatch(rest)
	if m == nil {
		p.fail("%q has no time", line)
		return
	}
	item.stamp, rest = "["+m[1]+"]", rest[len(m[0]):]
	if strings.HasPrefix(rest, "#") {
		m := placeText.FindStringSubmatch(rest)
		if m == nil {
			p.fail("%q has no channel", line)
			return
		}
		item.channel, rest = p.own(m[1], false), rest[len(m[0]):]
	}
	p.addLine(item, rest)
}

// replyIn reads " ↩ Name" at the beginning of s, before a colon.
func (p *parser) replyIn(s string) (name, rest string) {
	after, ok := strings.CutPrefix(s, " "+replySign+" ")
	if !ok {
		return "", s
	}
	at := strings.Index(after, ": ")
	if at <= 0 {
		p.fail("nobody is replied to in %q", s)
		return "", s
	}
	return p.own(after[:at], false), after[at:]
}

// addLine adds "<@1>: text", or in the plain layout "Name: text", to the history.
func (p *parser) addLine(line parsedLine, s string) {
	rest, name := s, ""
	if p.o.Layout == LayoutPlain && !tagText.MatchString(s) {
		at := strings.Index(s, ": ")
		if reply := strings.Index(s, " "+replySign+" "); reply >= 0 && reply < at {
			at = reply
		}
		rest = s[max(0, at):]
		p.own(s[:max(0, at)], false)
	} else {
		_, name, rest = p.person(s)
	}
	line.author = s[:len(s)-len(rest)]
	line.reply, rest = p.replyIn(rest)
	text, ok := strings.CutPrefix(rest, ": ")
	if !ok || text == "" || name != "" && p.o.Layout != LayoutPlain {
		p.fail("no text in %q", s)
	}
	line.text = p.own(text, false)
	p.history = append(p.history, line)
}
