package builder

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hark/builder/escape"
	"hark/memory"
)

// appendName appends a name as it stands in parentheses, or laid out as b: one line of at most nameMost
// characters and twice as many bytes, which neither closes the parentheses nor mentions anybody.
func (w *work) appendName(dst []byte, name string, b *escape.Block) []byte {
	start := len(dst)
	name = shortened(strings.TrimSpace(name), nameMost)
	dst = w.b.escape.AppendSafe(dst, name, b)
	if len(dst)-start > 2*nameMost {
		whole := string(dst[start:])
		dst = append(dst[:start], whole[:graphemeBefore(whole, 2*nameMost-len(ellipsis))]...)
		dst = append(dst, ellipsis...)
	}
	added := dst[start:]
	if !balanced(added) {
		for _, pair := range []string{"({", ")}", "[{", "]}"} { // "[1]" may stand after a parenthesis only
			replaceBytes(added, pair[0], pair[1])
		}
	}
	if at := bytes.Index(added, []byte("<@")); at >= 0 {
		replaceBytes(added, '<', '{')
		replaceBytes(added, '>', '}')
	}
	return dst
}

func balanced(s []byte) bool {
	depth := 0
	for _, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

func replaceBytes(s []byte, old, new byte) {
	for i := range s {
		if s[i] == old {
			s[i] = new
		}
	}
}

// name is appendName into a buffer of its own.
func (w *work) name(name string) []byte {
	w.nameBuf = w.appendName(w.nameBuf[:0], name, escape.NameInLine)
	return w.nameBuf
}

// bareName is a name that a line begins with, and a colon ends.
func (w *work) bareName(name string) []byte {
	w.nameBuf = w.appendName(w.nameBuf[:0], name, escape.BareName)
	replaceBytes(w.nameBuf, ':', ';')
	return w.nameBuf
}

// channel is a channel's name with its sign, without spaces.
func (w *work) channel(name string) []byte {
	w.nameBuf = append(w.nameBuf[:0], '#')
	w.nameBuf = w.appendName(w.nameBuf, strings.TrimLeft(name, "# "), escape.NameInLine)
	replaceBytes(w.nameBuf, ' ', '-')
	return w.nameBuf
}

// participant is who of the participants has an id; nil if none has.
func (w *work) participant(id memory.UserID) *Participant {
	for i := range w.in.Participants {
		if w.in.Participants[i].ID == id {
			return &w.in.Participants[i]
		}
	}
	return nil
}

// authorName is the name that stands beside what somebody said: none where the participants' list tells it.
func (w *work) authorName(line *Line) string {
	if !w.plain() {
		return ""
	}
	if p := w.participant(line.Author); p != nil {
		return p.Name
	}
	return line.Name
}

// appendAuthor appends "<@1> (Name)", or in the plain layout the name alone, where that can be nobody else's.
func (w *work) appendAuthor(dst []byte, id memory.UserID, name string) []byte {
	if w.plain() && w.isOnly(id, name) {
		return append(dst, w.bareName(name)...)
	}
	return w.appendPerson(dst, id, w.name(name))
}

// isOnly reports whether a name begins with a letter or a digit, is none of the prompt's own words, and is
// nobody else's of those whom the prompt may name.
func (w *work) isOnly(id memory.UserID, name string) bool {
	bare := w.bareName(name)
	r, _ := utf8.DecodeRune(bare)
	folded := escape.Fold(string(bare))
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !w.b.escape.IsTaken(folded) &&
		w.namesakes()[string(folded)] == id
}

// severalHave stands for whoever has a name that several have.
const severalHave memory.UserID = -1

// namesakes tells who has each name, as fold has it.
func (w *work) namesakes() map[string]memory.UserID {
	if w.whoHas != nil {
		return w.whoHas
	}
	w.whoHas = map[string]memory.UserID{}
	add := func(id memory.UserID, name string) {
		key := string(escape.Fold(string(w.bareName(name))))
		if has, known := w.whoHas[key]; known && has != id {
			id = severalHave
		}
		w.whoHas[key] = id
	}
	for i := range w.in.Participants {
		add(w.in.Participants[i].ID, w.in.Participants[i].Name)
	}
	for _, item := range w.in.History {
		for i := range item.Lines {
			add(item.Lines[i].Author, w.authorName(&item.Lines[i]))
		}
	}
	for _, t := range append(slices.Clone(w.in.Session), w.in.Query) {
		if t.Role != RoleAssistant {
			add(t.Author, t.Speaker)
		}
	}
	return w.whoHas
}

// appendPerson appends "<@1> (Name)".
func (w *work) appendPerson(dst []byte, id memory.UserID, name []byte) []byte {
	dst = appendTag(dst, int64(id))
	if len(name) == 0 {
		return dst
	}
	return append(append(append(dst, " ("...), name...), ')')
}

// appendSpeaker appends what stands before a turn's content. Whoever has an id is told by it: a name alone
// could be anybody's, Hark's too.
func (w *work) appendSpeaker(dst []byte, t *Turn) []byte {
	switch {
	case t.Role == RoleAssistant:
		name := w.bareName(t.Speaker)
		if folded := escape.Fold(string(name)); len(name) == 0 || w.plain() || string(folded) != "hark" &&
			w.b.escape.IsTaken(folded) {
			name = append(name[:0], "Assistant"...)
		}
		dst = append(dst, name...)
	case t.Author != 0:
		dst = w.appendAuthor(dst, t.Author, t.Speaker)
	default:
		dst = w.appendStranger(dst, t.Speaker)
	}
	return append(dst, ": "...)
}

// appendStranger appends the name of somebody without an id, who mustn't be taken for Hark, or for a title.
func (w *work) appendStranger(dst []byte, speaker string) []byte {
	name := w.bareName(speaker)
	if r, _ := utf8.DecodeRune(name); !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		dst = append(dst, "User"...) // no sign begins a line
		if len(name) == 0 {
			return dst
		}
		dst = append(dst, ' ')
	}
	dst = append(dst, name...)
	if folded := escape.Fold(string(name)); string(folded) != "user" && w.b.escape.IsTaken(folded) {
		dst = append(dst, " (user)"...)
	}
	return dst
}

// speakerTokens is what appendSpeaker takes.
func (w *work) speakerTokens(t *Turn) int {
	if t.Role == RoleAssistant || t.Author == 0 || w.plain() {
		w.scratch = w.appendSpeaker(w.scratch[:0], t)
		return w.b.tally.of(w.scratch) + 1
	}
	tokens := 2 + w.tagTokens(t.Author)
	if name := w.name(t.Speaker); len(name) > 0 {
		tokens += w.b.costs.around + w.b.tally.of(name)
	}
	return tokens
}

// tagTokens is what the mention tag of somebody takes, with the sign that follows it.
func (w *work) tagTokens(id memory.UserID) int {
	w.scratch = append(appendTag(w.scratch[:0], int64(id)), ':')
	return w.b.tally.of(w.scratch)
}

// stampTokens is what a new line takes that begins with t.
func (w *work) stampTokens(t time.Time) int {
	switch {
	case t.IsZero():
		return 1
	case t.In(w.in.Now.Location()).Year() == w.in.Now.Year():
		return w.b.costs.stamp
	}
	return w.b.costs.stampYear
}

// How far from the message that was found another one is.
const (
	apartNot = iota
	apartMinutes
	apartDays
)

// apart tells whether two times differ to the minute as the prompt has them, and whether by their date.
func (w *work) apart(t, other time.Time) int {
	t, other = t.In(w.in.Now.Location()), other.In(w.in.Now.Location())
	switch {
	case t.Year() != other.Year() || t.YearDay() != other.YearDay():
		return apartDays
	case t.Hour() != other.Hour() || t.Minute() != other.Minute():
		return apartMinutes
	}
	return apartNot
}

// besideTokens is what a new line takes before the author of a neighbour of what was found.
func (w *work) besideTokens(t, found time.Time) int {
	c := &w.b.costs
	switch w.apart(t, found) {
	case apartNot:
		return c.neighbour
	case apartMinutes:
		return c.besideClock
	}
	if t.In(w.in.Now.Location()).Year() == w.in.Now.Year() {
		return c.besideStamp
	}
	return c.besideYear
}

// recentSpan is how long ago something is recent.
const recentSpan = 24 * time.Hour

// appendStamp appends "[07-24 12:30]" in now's zone, with the year where it isn't now's.
func appendStamp(dst []byte, t, now time.Time, year bool) []byte {
	t = t.In(now.Location())
	layout := "[01-02 15:04]"
	if year || t.Year() != now.Year() {
		layout = "[2006-01-02 15:04]"
	}
	return t.AppendFormat(dst, layout)
}

// appendAgo appends how long ago t was: exact enough for "who is around", a date after a week.
func (l *Labels) appendAgo(dst []byte, t, now time.Time) []byte {
	const day = 24 * time.Hour
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return append(dst, l.JustNow...)
	case ago < time.Hour:
		return appendUnits(dst, int(ago/time.Minute), l.Minute, l.Minutes)
	case ago < day:
		return appendUnits(dst, int(ago/time.Hour), l.Hour, l.Hours)
	case ago <= 7*day:
		return appendUnits(dst, int(ago/day), l.Day, l.Days)
	}
	return t.In(now.Location()).AppendFormat(dst, time.DateOnly)
}

func appendUnits(dst []byte, n int, one, more string) []byte {
	if n == 1 {
		return append(dst, one...)
	}
	return fmt.Appendf(dst, more, n)
}

// agoForms are the longest forms of appendAgo, each with as many digits as it can have.
func (l *Labels) agoForms() [8]string {
	return [...]string{l.JustNow, l.Minute, fmt.Sprintf(l.Minutes, 59), l.Hour, fmt.Sprintf(l.Hours, 23), l.Day,
		fmt.Sprintf(l.Days, 7), "2008-08-08"}
}

// recent reports whether t is within the last 24 hours. Clocks differ: the future is.
func recent(t, now time.Time) bool { return now.Sub(t) < recentSpan }
