package builder

import "strconv"

// render writes the messages as decided into buf, one after the other.
func (w *work) render() {
	w.buf, w.ends = w.buf[:0], w.ends[:0]
	w.appendSystem()
	w.endMessage()
	w.appendPrevious()
	switch w.b.options.Layout {
	case LayoutChat:
		w.endMessage()
		w.appendTurnMessages()
	default:
		w.appendSession()
	}
	w.appendQuery()
	w.endMessage()
}

func (w *work) endMessage() { w.ends = append(w.ends, len(w.buf)) }

// begun reports whether the message being written has begun.
func (w *work) begun() bool {
	return len(w.buf) > 0 && (len(w.ends) == 0 || w.ends[len(w.ends)-1] < len(w.buf))
}

// title begins a section, after an empty line.
func (w *work) title(text string) {
	w.gap()
	w.buf = append(w.buf, text...)
	w.buf = append(w.buf, '\n')
}

func (w *work) gap() {
	if w.begun() {
		w.buf = append(w.buf, "\n\n"...)
	}
}

func (w *work) appendSystem() {
	rules, between := w.b.rules(), "\n\n"
	if w.plain() {
		w.title(plainSystem)
		between = "\n"
	} else {
		w.title(headSystem)
	}
	if w.personaShown != "" {
		w.buf = w.b.escape.appendSafe(w.buf, w.personaShown, ownText)
		if rules != "" {
			w.buf = append(w.buf, between...)
		}
	}
	w.buf = append(w.buf, rules...)
}

// appendPrevious writes what was recalled: summaries, people, history, lore.
func (w *work) appendPrevious() {
	any := false
	for _, k := range []kind{kindEarlier, kindParticipants, kindHistory, kindLore} {
		any = any || w.sections[k].shown > 0
	}
	if w.plain() {
		if any {
			w.title(plainPrevious)
			w.appendPlain()
		}
		return
	}
	w.title(headPrevious)
	if !any {
		w.buf = append(w.buf, w.b.labels.Nothing...)
		return
	}
	start := len(w.buf)
	for _, k := range []kind{kindEarlier, kindParticipants, kindHistory, kindLore} {
		s := &w.sections[k]
		if s.shown == 0 {
			continue
		}
		if len(w.buf) > start {
			w.buf = append(w.buf, "\n\n"...)
		}
		switch k {
		case kindEarlier:
			w.appendTexts(s, w.b.labels.Earlier, w.b.labels.EarlierMark)
		case kindParticipants:
			w.appendParticipants(s)
		case kindHistory:
			w.buf = w.appendHistory(w.buf, s)
		case kindLore:
			w.appendTexts(s, w.b.labels.Lore, w.b.labels.Person)
		}
	}
}

// appendPlain writes what was recalled as paragraphs.
func (w *work) appendPlain() {
	start := len(w.buf)
	gap := func() {
		if len(w.buf) > start {
			w.buf = append(w.buf, "\n\n"...)
		}
	}
	earlier := &w.sections[kindEarlier]
	for i := earlier.shown - 1; i >= 0; i-- {
		gap()
		w.buf = w.appendPiece(w.buf, &earlier.entries[i].pieces[0], earlier.entries[i].pieces[0].at)
	}
	if s := &w.sections[kindHistory]; s.shown > 0 {
		gap()
		w.buf = w.appendHistory(w.buf, s)
	}
	lore := &w.sections[kindLore]
	for i := range lore.entries[:lore.shown] {
		gap()
		w.buf = w.appendPiece(w.buf, &lore.entries[i].pieces[0], lore.entries[i].pieces[0].at)
	}
}

// appendTexts writes summaries, oldest first, or lore, a line each.
func (w *work) appendTexts(s *section, title, mark string) {
	w.buf = append(w.buf, title...)
	for n := range s.shown {
		i := n
		if s.kind == kindEarlier {
			i = s.shown - 1 - n
		}
		p := &s.entries[i].pieces[0]
		w.buf = append(w.buf, '\n')
		w.buf = append(w.buf, mark...)
		w.buf = w.appendPiece(w.buf, p, p.at)
	}
}

func (w *work) appendParticipants(s *section) {
	w.buf = append(w.buf, w.b.labels.Participants...)
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		w.buf = append(w.buf, '\n')
		w.buf = w.appendParticipant(w.buf, &w.in.Participants[e.index])
		for j := range e.pieces {
			w.buf = append(w.buf, '\n')
			w.buf = append(w.buf, w.b.labels.DataMark...)
			w.buf = append(w.buf, w.b.labels.Data...)
			w.buf = w.appendPiece(w.buf, &e.pieces[j], e.pieces[j].at)
		}
	}
}

// appendParticipant appends a participant's line but for the data.
func (w *work) appendParticipant(dst []byte, p *Participant) []byte {
	dst = append(dst, w.b.labels.Person...)
	dst = w.appendPerson(dst, p.ID, w.name(p.Name))
	if p.LastActive.IsZero() {
		return dst
	}
	dst = append(dst, " | "...)
	dst = append(dst, w.b.labels.LastActive...)
	return appendAgo(dst, p.LastActive, w.in.Now)
}

// appendHistory appends the history with its title, which the plain layout has none of.
func (w *work) appendHistory(dst []byte, s *section) []byte {
	start := len(dst)
	if !w.plain() {
		dst = append(dst, w.b.labels.History...)
	}
	for n := range s.entries[:s.shown] {
		e := &s.entries[n]
		item := &w.in.History[e.index]
		if w.plain() && len(dst) > start {
			dst = append(dst, '\n')
		}
		for i := range item.Lines {
			if len(dst) > start {
				dst = append(dst, '\n')
			}
			dst = w.appendLineStart(dst, item, e, i, n+1)
			if p := &e.pieces[i]; p.safe && p.at == len(p.text) {
				dst = append(dst, p.text...)
			} else {
				dst = w.appendPiece(dst, p, p.at)
			}
		}
	}
	if s.more {
		dst = append(dst, '\n')
		dst = append(dst, w.moreText(s.items-s.shown)...)
	}
	return dst
}

// appendLineStart appends what stands before the content of an item's i-th line: "🔥👤[1] [07-24 12:30] #channel
// <@1>: " before the first, "  ┆ <@1>: " before the others.
func (w *work) appendLineStart(dst []byte, item *Item, e *entry, i, n int) []byte {
	if i > 0 {
		dst = append(dst, w.b.labels.Neighbour...)
	} else {
		dst = w.appendItemStart(dst, item, e, n)
	}
	a := w.author(item.Lines[i].Author)
	if w.plain() {
		dst = w.appendPerson(dst, a.id, w.nameOf(a.id))
	} else {
		dst = append(dst, a.tag[:a.length]...)
	}
	return append(dst, ": "...)
}

func (w *work) appendItemStart(dst []byte, item *Item, e *entry, n int) []byte {
	start := len(dst)
	for i, on := range e.marks {
		if on {
			dst = append(dst, w.b.marks[i]...)
		}
	}
	if w.b.options.Citations {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, ']')
	}
	if len(dst) > start {
		dst = append(dst, ' ')
	}
	dst = appendStamp(dst, item.Lines[0].Time, w.in.Now, false)
	dst = append(dst, ' ')
	if item.Channel != "" {
		dst = append(dst, w.channel(item.Channel)...)
		dst = append(dst, ' ')
	}
	return dst
}

// appendSession writes the turns under their heading.
func (w *work) appendSession() {
	s := &w.sections[kindSession]
	if s.shown == 0 {
		return
	}
	heading := headSession
	if w.plain() {
		heading = plainSession
	}
	w.title(heading)
	for i := s.shown - 1; i >= 0; i-- {
		t := &w.in.Session[s.entries[i].index]
		if i < s.shown-1 {
			w.buf = append(w.buf, '\n')
			if w.plain() && t.Role != RoleAssistant {
				w.buf = append(w.buf, '\n')
			}
		}
		w.appendTurn(t, &s.entries[i].pieces[0])
	}
}

func (w *work) appendTurn(t *Turn, p *piece) {
	if !w.plain() && !t.Time.IsZero() {
		w.buf = appendStamp(w.buf, t.Time, w.in.Now, false)
		w.buf = append(w.buf, ' ')
	}
	w.buf = w.appendSpeaker(w.buf, t)
	w.buf = w.appendPiece(w.buf, p, p.at)
}

// appendTurnMessages writes each turn as a message.
func (w *work) appendTurnMessages() {
	s := &w.sections[kindSession]
	for i := s.shown - 1; i >= 0; i-- {
		t, p := &w.in.Session[s.entries[i].index], &s.entries[i].pieces[0]
		if t.Role == RoleAssistant {
			w.buf = w.appendPiece(w.buf, p, p.at)
		} else {
			w.appendTurn(t, p)
		}
		w.endMessage()
	}
}

// turnBlock is how a turn's content is laid out in the chat layout.
func (w *work) turnBlock(t *Turn) *block {
	if t.Role == RoleAssistant {
		return answerText
	}
	return indented
}

func (w *work) appendQuery() {
	if w.plain() {
		w.title(plainQuery)
	} else {
		w.title(headQuery)
		w.buf = appendStamp(w.buf, w.in.Now, w.in.Now, true)
		w.buf = append(w.buf, ' ')
		w.buf = w.appendSpeaker(w.buf, &w.in.Query)
	}
	start := len(w.buf)
	w.buf = w.b.escape.appendSafe(w.buf, w.queryShown, w.queryBlock())
	if len(w.buf) == start {
		w.buf = append(w.buf, emptyText...)
	}
	w.gap()
	w.buf = append(w.buf, reminder...)
}
