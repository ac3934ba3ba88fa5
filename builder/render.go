package builder

// render writes the messages as decided into buf, one after the other.
func (w *work) render() {
	w.buf, w.ends, w.roles, w.bounds = w.buf[:0], w.ends[:0], w.roles[:0], w.bounds[:0]
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

// title begins a section with its title, after an empty line.
func (w *work) title(t SectionType, text string) {
	w.gap()
	w.section(t)
	w.buf = append(w.buf, text...)
	w.buf = append(w.buf, '\n')
}

func (w *work) gap() {
	if w.begun() {
		w.buf = append(w.buf, "\n\n"...)
	}
}

func (w *work) appendSystem() {
	between := "\n\n"
	if w.plain() {
		w.title(SectionSystem, plainSystem)
		between = "\n"
	} else {
		w.title(SectionSystem, headSystem)
	}
	w.buf = w.b.escape.appendSafe(w.buf, w.personaShown, ownText)
	for n, rule := range w.rules.lines[:w.rulesShown] {
		switch {
		case n > 0:
			w.buf = append(w.buf, '\n')
		case w.personaShown != "":
			w.buf = append(w.buf, between...)
		}
		w.buf = append(w.buf, rule...)
	}
	if w.personaShown == "" && w.rulesShown == 0 {
		w.buf = append(w.buf, leastRule...)
	}
}

// appendPrevious writes what was recalled: summaries, people, history, lore.
func (w *work) appendPrevious() {
	any := w.recalledAny()
	if w.plain() {
		if any {
			w.title(SectionPreviousContext, plainPrevious)
			w.appendPlain()
		}
		return
	}
	w.gap()
	w.section(SectionPreviousContext)
	w.buf = append(w.buf, headPrevious...)
	if !any {
		if text := w.insteadOf(); text != "" {
			w.buf = append(w.buf, '\n')
			w.buf = append(w.buf, text...)
		}
		return
	}
	w.buf = append(w.buf, '\n')
	start := len(w.buf)
	for _, k := range []kind{kindEarlier, kindParticipants, kindHistory, kindLore} {
		s := &w.sections[k]
		if s.shown == 0 {
			continue
		}
		if len(w.buf) > start {
			w.buf = append(w.buf, "\n\n"...)
		}
		if k != kindEarlier { // that begins with the heading
			w.section(sectionTypes[k])
		}
		switch k {
		case kindEarlier:
			w.appendEarlier(s)
		case kindParticipants:
			w.buf = append(append(w.buf, w.b.labels.Participants...), '\n')
			w.appendPeople(s)
		case kindHistory:
			w.buf = w.appendHistory(w.buf, s)
		case kindLore:
			w.buf = append(append(w.buf, w.b.labels.Lore...), '\n')
			w.appendLoreLines(s)
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
	for _, i := range w.oldestFirst(earlier) {
		gap()
		w.buf = w.appendPiece(w.buf, &earlier.entries[i].pieces[0], earlier.entries[i].pieces[0].at)
	}
	if s := &w.sections[kindHistory]; s.shown > 0 {
		gap()
		w.section(SectionHistory)
		w.buf = w.appendHistory(w.buf, s)
	}
	lore := &w.sections[kindLore]
	for i := range lore.entries[:lore.shown] {
		gap()
		if i == 0 {
			w.section(SectionLore)
		}
		w.buf = w.appendPiece(w.buf, &lore.entries[i].pieces[0], lore.entries[i].pieces[0].at)
	}
}

// appendLoreLines writes the lore, a line each.
func (w *work) appendLoreLines(s *section) {
	for i := range s.shown {
		if i > 0 {
			w.buf = append(w.buf, '\n')
		}
		p := &s.entries[i].pieces[0]
		w.buf = append(w.buf, w.b.labels.Person...)
		w.buf = w.appendPiece(w.buf, p, p.at)
	}
}

// appendPeople writes who is introduced.
func (w *work) appendPeople(s *section) {
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		if i > 0 {
			w.buf = append(w.buf, '\n')
		}
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
	return w.b.labels.appendAgo(dst, p.LastActive, w.in.Now)
}

// appendHistory appends the history with its title, which the plain layout has none of.
func (w *work) appendHistory(dst []byte, s *section) []byte {
	start := len(dst)
	if !w.plain() && !w.alone {
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
			dst = w.appendLineStart(dst, item, e, i, w.first+n)
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
	author := item.Lines[i].Author
	var name []byte
	if w.plain() {
		name = w.nameOf(author)
	}
	dst = w.appendPerson(dst, author, name)
	return append(dst, ": "...)
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
	dst = appendStamp(dst, item.Lines[0].Time, w.in.Now, false)
	dst = append(dst, ' ')
	if item.Channel != "" {
		dst = append(dst, w.channel(item.Channel)...)
		dst = append(dst, ' ')
	}
	return dst
}

func (w *work) appendQuery() {
	if w.plain() {
		w.title(SectionQuery, plainQuery)
	} else {
		w.title(SectionQuery, headQuery)
		if w.queryHead {
			w.buf = appendStamp(w.buf, w.in.Now, w.in.Now, true)
			w.buf = append(w.buf, ' ')
			w.buf = w.appendSpeaker(w.buf, &w.in.Query)
		}
	}
	start := len(w.buf)
	w.buf = w.b.escape.appendSafe(w.buf, w.queryShown, w.queryBlock())
	if len(w.buf) == start {
		w.buf = append(w.buf, w.b.labels.NoText...)
	}
	w.appendFiles()
	if !w.bare {
		w.gap()
		w.section(SectionInstruction)
		w.buf = append(w.buf, reminder...)
	}
}
