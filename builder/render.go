package builder

import (
	"strings"

	"hark/builder/escape"
)

// render writes the planned messages into buf.
func (w *work) render() {
	w.buf, w.ends, w.roles, w.bounds = w.buf[:0], w.ends[:0], w.roles[:0], w.bounds[:0]
	w.spans = w.spans[:0]
	w.appendSystem()
	w.endMessage(RoleSystem)
	w.appendPrevious()
	switch {
	case w.sections[kindSession].shown == 0:
	case w.b.options.Layout == LayoutChat:
		w.endMessage(RoleUser)
		w.appendTurnMessages()
	default:
		w.appendSession()
	}
	w.appendQuery()
	w.endMessage(RoleUser)
}

func (w *work) endMessage(role string) {
	w.ends, w.roles = append(w.ends, len(w.buf)), append(w.roles, role)
}

// begun reports whether the message being written has begun.
func (w *work) begun() bool {
	return len(w.buf) > 0 && (len(w.ends) == 0 || w.ends[len(w.ends)-1] < len(w.buf))
}

// title starts a section with its title, after an empty line.
func (w *work) title(t SectionType, text string) {
	w.gap()
	w.section(t)
	w.put(text, "\n")
}

func (w *work) gap() {
	if w.begun() {
		w.put("\n\n")
	}
}

// put writes texts.
func (w *work) put(texts ...string) {
	for _, text := range texts {
		w.buf = append(w.buf, text...)
	}
}

// putPiece writes the planned part of p.
func (w *work) putPiece(p *piece) { w.buf = w.appendPiece(w.buf, p, p.at) }

func (w *work) appendSystem() {
	w.title(SectionSystem, w.headings()[0])
	w.buf = w.b.escape.AppendSafe(w.buf, w.personaShown, escape.OwnText)
	rules := strings.Join(w.rules.lines[:w.rulesShown], "\n")
	switch {
	case w.personaShown == "" && rules == "":
		rules = leastRule
	case w.personaShown != "" && rules != "" && w.plain():
		w.put("\n")
	case w.personaShown != "" && rules != "":
		w.put("\n\n")
	}
	w.put(rules)
}

// headings returns the headings of the system message, of recalled data, of the session and of the query.
func (w *work) headings() [4]string {
	if w.plain() {
		return [...]string{plainSystem, plainPrevious, plainSession, plainQuery}
	}
	return [...]string{headSystem, headPrevious, headSession, headQuery}
}

// appendPrevious writes the recalled data.
func (w *work) appendPrevious() {
	any := w.recalledAny(howManyShown)
	if w.plain() {
		if any {
			w.title(SectionPreviousContext, plainPrevious)
			w.putPlain()
		}
		return
	}
	w.gap()
	w.section(SectionPreviousContext)
	w.put(headPrevious)
	if !any {
		if text := w.insteadOf(); text != "" {
			w.put("\n", text)
		}
		return
	}
	w.put("\n")
	start := len(w.buf)
	for _, k := range []kind{kindEarlier, kindParticipants, kindHistory, kindLore} {
		s := &w.sections[k]
		if s.shown == 0 {
			continue
		}
		if len(w.buf) > start {
			w.put("\n\n")
		}
		if k != kindEarlier { // which began with the heading
			w.section(sectionTypes[k])
		}
		switch k {
		case kindEarlier:
			w.putEarlier(s)
		case kindParticipants:
			w.put(w.b.labels.Participants, "\n")
			w.putPeople(s)
		case kindHistory:
			w.putHistory(s)
		case kindLore:
			w.put(w.b.labels.Lore, "\n")
			w.putLore(s)
		}
	}
}

// putPlain writes the recalled data as paragraphs.
func (w *work) putPlain() {
	start := len(w.buf)
	gap := func() {
		if len(w.buf) > start {
			w.put("\n\n")
		}
	}
	earlier := &w.sections[kindEarlier]
	for _, i := range w.oldestFirst(earlier) {
		gap()
		w.putSummary(&earlier.entries[i])
	}
	if s := &w.sections[kindHistory]; s.shown > 0 {
		gap()
		w.section(SectionHistory)
		w.putHistory(s)
	}
	lore := &w.sections[kindLore]
	for i := range lore.entries[:lore.shown] {
		gap()
		if i == 0 {
			w.section(SectionLore)
		}
		start := w.at()
		w.putPiece(&lore.entries[i].pieces[0])
		w.span(SectionLore, lore.entries[i].index, 0, start)
	}
}

// putLore writes the lore, one to a line.
func (w *work) putLore(s *section) {
	for i := range s.shown {
		if i > 0 {
			w.put("\n")
		}
		start := w.at()
		w.put(w.b.labels.Person)
		w.putPiece(&s.entries[i].pieces[0])
		w.span(SectionLore, s.entries[i].index, 0, start)
	}
}

// putPeople writes the participants.
func (w *work) putPeople(s *section) {
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		if i > 0 {
			w.put("\n")
		}
		start := w.at()
		w.buf = w.appendParticipant(w.buf, &w.in.Participants[e.index])
		for j := range e.pieces {
			w.put("\n", w.b.labels.DataMark, w.b.labels.Data)
			w.putPiece(&e.pieces[j])
		}
		w.span(SectionParticipants, e.index, 0, start)
	}
}

// appendParticipant appends a participant's line without the data.
func (w *work) appendParticipant(dst []byte, p *Participant) []byte {
	dst = append(dst, w.b.labels.Person...)
	dst = w.appendPerson(dst, p.ID, w.name(p.Name))
	if p.LastActive.IsZero() {
		return dst
	}
	dst = append(append(dst, " | "...), w.b.labels.LastActive...)
	return w.b.labels.appendAgo(dst, p.LastActive, w.in.Now)
}

// putHistory writes the history with its title; the plain layout has no title.
func (w *work) putHistory(s *section) {
	start := len(w.buf)
	if !w.plain() && !w.alone {
		w.put(w.b.labels.History)
	}
	for n := range s.entries[:s.shown] {
		e := &s.entries[n]
		item := &w.in.History[e.index]
		if n > 0 && w.isApart(e) {
			w.put("\n")
		}
		for i := range item.Lines {
			if len(w.buf) > start {
				w.put("\n")
			}
			start := w.at()
			w.buf = w.appendLineStart(w.buf, item, e, i, w.first+n)
			w.putPiece(&e.pieces[i])
			w.span(SectionHistory, e.index, i, start)
		}
	}
	if s.more {
		w.put("\n", w.moreText(s.items-s.shown))
	}
}

// isApart reports whether an empty line precedes an item. Without it, a leading neighbour would seem to belong
// to the previous item.
func (w *work) isApart(e *entry) bool { return w.plain() || e.lead > 0 }

// appendLineStart appends the beginning of an item's i-th line: "🔥👤[1] [07-24 12:30] #channel <@1>: " for the
// hit, "  ┆ [12:31] <@1>: " for its neighbours.
func (w *work) appendLineStart(dst []byte, item *Item, e *entry, i, n int) []byte {
	line := &item.Lines[i]
	if i == e.lead {
		dst = w.appendItemStart(dst, item, e, n)
	} else {
		dst = append(dst, w.b.labels.Neighbour...)
		switch found := item.Lines[e.lead].Time; w.apart(line.Time, found) {
		case apartMinutes:
			dst = append(line.Time.In(w.in.Now.Location()).AppendFormat(dst, "[15:04]"), ' ')
		case apartDays:
			dst = append(appendStamp(dst, line.Time, w.in.Now, false), ' ')
		}
	}
	dst = w.appendAuthor(dst, line.Author, w.authorName(line))
	return append(w.appendReply(dst, line.ReplyTo), ": "...)
}

func (w *work) appendItemStart(dst []byte, item *Item, e *entry, n int) []byte {
	start := len(dst)
	dst = appendMarks(dst, &w.b.marks, e.marks)
	if w.b.options.Citations {
		dst = appendNumber(dst, n)
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	dst = append(appendStamp(dst, item.Lines[e.lead].Time, w.in.Now, false), ' ')
	if item.isElsewhere() {
		dst = append(append(dst, w.place(item.Channel, item.Title)...), ' ')
	}
	return dst
}

func (w *work) appendQuery() {
	w.title(SectionQuery, w.headings()[3])
	if w.queryHead {
		w.put(w.repliedShown.text)
		if !w.plain() {
			w.buf = append(appendStamp(w.buf, w.in.Now, w.in.Now, true), ' ')
		}
		if w.queryPlace {
			w.buf = append(append(w.buf, w.place(w.in.Channel, w.in.Title)...), ' ')
		}
		w.buf = w.appendSpeaker(w.buf, &w.in.Query)
	}
	start := len(w.buf)
	w.buf = w.b.escape.AppendSafe(w.buf, w.queryShown, w.queryBlock())
	if len(w.buf) == start {
		w.put(w.b.labels.NoText)
	}
	w.appendFiles()
	if !w.bare {
		w.gap()
		w.section(SectionInstruction)
		w.put(reminder)
	}
}
