package builder

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hark/builder/escape"
	"hark/memory"
)

// appendName appends a name of at most nameMost characters; see appendShort.
func (w *work) appendName(dst []byte, name string, b *escape.Block) []byte {
	return w.appendShort(dst, name, nameMost, b)
}

// appendShort appends a name, laid out as b, in one line of at most most characters and twice as many bytes. It can't
// close the parentheses around it or mention anybody.
func (w *work) appendShort(dst []byte, name string, most int, b *escape.Block) []byte {
	start := len(dst)
	name = shortened(strings.TrimSpace(name), most)
	dst = w.b.escape.AppendSafe(dst, name, b)
	if len(dst)-start > 2*most {
		whole := string(dst[start:])
		dst = append(dst[:start], whole[:graphemeBefore(whole, 2*most-len(ellipsis))]...)
		dst = append(dst, ellipsis...)
	}
	added := dst[start:]
	copy(added, bytes.ReplaceAll(added, []byte(replySign), []byte("↵"))) // only the builder writes it; as many bytes
	if !balanced(added) {
		for _, pair := range []string{"({", ")}", "[{", "]}"} { // "[1]" may only follow a parenthesis
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
			depth--
			if depth < 0 {
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

// name is appendName into a new buffer.
func (w *work) name(name string) []byte {
	w.nameBuf = w.appendName(w.nameBuf[:0], name, escape.NameInLine)
	return w.nameBuf
}

// bareName returns a name to begin a line, before a colon.
func (w *work) bareName(name string) []byte {
	w.nameBuf = w.appendName(w.nameBuf[:0], name, escape.BareName)
	replaceBytes(w.nameBuf, ':', ';')
	return w.nameBuf
}

// channel returns a channel's name with # and without spaces.
func (w *work) channel(name string) []byte {
	w.nameBuf = append(w.nameBuf[:0], '#')
	w.nameBuf = w.appendName(w.nameBuf, strings.TrimLeft(name, "# "), escape.NameInLine)
	replaceBytes(w.nameBuf, ' ', '-')
	return w.nameBuf
}

// place returns a channel's name, as channel does, and the title of a thread there with its tags: "#help", or
// "#help › VPN does not connect [tags: linux] |". A title has no sign that ends it, and neither looks like a speaker.
func (w *work) place(channel string, title memory.Title) []byte {
	if title.Name == "" {
		return w.channel(channel)
	}
	place := append(w.channel(cmp.Or(channel, unknownChannel)), placeSign...)
	replaceBytes(place, ':', ';')
	place = w.appendTitle(place, title.Name, titleMost)
	if len(title.Tags) > 0 {
		place = append(place, " [tags: "...)
		place = w.appendTitle(place, strings.Join(title.Tags, ", "), tagsMost)
		place = append(place, ']')
	}
	w.nameBuf = append(place, placeEnd...)
	return w.nameBuf
}

const (
	unknownChannel = "thread"
	placeSign      = " › "
	placeEnd       = " |"
	titleMost      = 100 // characters, as Discord allows
	tagsMost       = 60
)

// appendTitle appends a title or tags, without the signs that have a meaning in a place or after it.
func (w *work) appendTitle(dst []byte, words string, most int) []byte {
	start := len(dst)
	words = strings.ReplaceAll(words, strings.TrimSpace(placeSign), ">")
	dst = w.appendShort(dst, words, most, escape.NameInLine)
	for _, sign := range []string{"[(", "])", "|/", ":;"} {
		replaceBytes(dst[start:], sign[0], sign[1])
	}
	return dst
}

// participant returns the participant with that id; nil if there is none.
func (w *work) participant(id memory.UserID) *Participant {
	for i := range w.in.Participants {
		if w.in.Participants[i].ID == id {
			return &w.in.Participants[i]
		}
	}
	return nil
}

// authorName returns the name shown beside a message; empty in layouts that list participants.
func (w *work) authorName(line *Line) string {
	if !w.plain() {
		return ""
	}
	if p := w.participant(line.Author); p != nil {
		return p.Name
	}
	return line.Name
}

// appendAuthor appends "<@1> (Name)", or in the plain layout the name alone if it is unambiguous.
func (w *work) appendAuthor(dst []byte, id memory.UserID, name string) []byte {
	if w.plain() && w.isOnly(id, name) {
		return append(dst, w.bareName(name)...)
	}
	return w.appendPerson(dst, id, w.name(name))
}

// isOnly reports whether a name begins with a letter or digit, isn't a word of the prompt, and belongs to only
// one person in the input.
func (w *work) isOnly(id memory.UserID, name string) bool {
	bare := w.bareName(name)
	r, _ := utf8.DecodeRune(bare)
	folded := escape.Fold(string(bare))
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !w.b.escape.IsTaken(folded) &&
		w.namesakes()[string(folded)] == id
}

// severalHave marks a name that several people have.
const severalHave memory.UserID = -1

// namesakes maps each folded name to its owner.
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

// appendSpeaker appends the label before a turn's content, with the id if there is one: a name alone could be
// anybody's, even Hark's.
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
	if t.Role != RoleAssistant {
		dst = w.appendReply(dst, t.ReplyTo)
	}
	return append(dst, ": "...)
}

// replySign precedes the name of whom a message replies to.
const replySign = "↩"

// appendReply appends " ↩ Name", before a colon; nothing for an empty name.
func (w *work) appendReply(dst []byte, to string) []byte {
	if to == "" {
		return dst
	}
	name := w.name(to)
	if len(name) == 0 {
		return dst
	}
	replaceBytes(name, ':', ';')
	return append(append(dst, " "+replySign+" "...), name...)
}

// replyTokens returns the tokens of appendReply.
func (w *work) replyTokens(to string) int {
	w.scratch = w.appendReply(w.scratch[:0], to)
	return w.b.tally.of(w.scratch)
}

// appendStranger appends the name of a person without an id so that it can't pass for Hark or a title.
func (w *work) appendStranger(dst []byte, speaker string) []byte {
	name := w.bareName(speaker)
	if r, _ := utf8.DecodeRune(name); !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		dst = append(dst, "User"...) // a line mustn't begin with a sign
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

// speakerTokens returns the tokens of appendSpeaker.
func (w *work) speakerTokens(t *Turn) int {
	if t.Role == RoleAssistant || t.Author == 0 || w.plain() {
		w.scratch = w.appendSpeaker(w.scratch[:0], t)
		return w.b.tally.of(w.scratch) + 1
	}
	tokens := 2 + w.tagTokens(t.Author) + w.replyTokens(t.ReplyTo)
	if name := w.name(t.Speaker); len(name) > 0 {
		tokens += w.b.costs.around + w.b.tally.of(name)
	}
	return tokens
}

// tagTokens returns the tokens of a mention tag with the following sign.
func (w *work) tagTokens(id memory.UserID) int {
	w.scratch = append(appendTag(w.scratch[:0], int64(id)), ':')
	return w.b.tally.of(w.scratch)
}

// stampTokens returns the tokens of a new line with the stamp of t.
func (w *work) stampTokens(t time.Time) int {
	switch {
	case t.IsZero():
		return 1
	case t.In(w.in.Now.Location()).Year() == w.in.Now.Year():
		return w.b.costs.stamp
	}
	return w.b.costs.stampYear
}

// Results of apart.
const (
	apartNot = iota
	apartMinutes
	apartDays
)

// apart reports whether two times differ in their date, or else in their minute, as shown.
func (w *work) apart(t, other time.Time) int {
	t = t.In(w.in.Now.Location())
	other = other.In(w.in.Now.Location())
	switch {
	case t.Year() != other.Year() || t.YearDay() != other.YearDay():
		return apartDays
	case t.Hour() != other.Hour() || t.Minute() != other.Minute():
		return apartMinutes
	}
	return apartNot
}

// besideTokens returns the tokens of a new line before the author of a hit's neighbour.
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

// appendStamp appends "[07-24 12:30]" in now's zone, with the year if it isn't now's.
func appendStamp(dst []byte, t, now time.Time, year bool) []byte {
	t = t.In(now.Location())
	layout := "[01-02 15:04]"
	if year || t.Year() != now.Year() {
		layout = "[2006-01-02 15:04]"
	}
	return t.AppendFormat(dst, layout)
}

const day = 24 * time.Hour

// appendAgo appends the age of t in one unit; after a week, its date.
func (l *Labels) appendAgo(dst []byte, t, now time.Time) []byte {
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

// recent reports whether t is within the last 24 hours, or in the future, because clocks differ.
func recent(t, now time.Time) bool { return now.Sub(t) < day }

func (w *work) plain() bool { return w.b.options.Layout == LayoutPlain }

// earlierByRelevance returns the indices of the summaries, most relevant first, then newest.
func (w *work) earlierByRelevance() []int {
	order := upTo(len(w.in.PreviousContext))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.in.PreviousContext[b].Relevance, w.in.PreviousContext[a].Relevance), b-a)
	})
	return order
}

// earlierStamp returns the size of appendEarlierTime.
func (w *work) earlierStamp(e *Earlier) (s size) {
	if e.Time.IsZero() {
		return s
	}
	w.scratch = w.appendEarlierTime(w.scratch[:0], e.Time)
	return size{w.b.tally.of(w.scratch) + 1, runes(w.scratch)}
}

// upTo returns 0 to n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// appendEarlierTime appends the time of a summary's session, if known. The plain layout shows only the date,
// because a time begins a turn there.
func (w *work) appendEarlierTime(dst []byte, t time.Time) []byte {
	switch {
	case t.IsZero():
		return dst
	case w.plain():
		return t.In(w.in.Now.Location()).AppendFormat(dst, "(2006-01-02) ")
	}
	return append(appendStamp(dst, t, w.in.Now, false), ' ')
}
