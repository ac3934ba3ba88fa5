package builder

import (
	"cmp"
	"slices"
	"strings"

	"hark/builder/escape"
)

func (w *work) endMessage(role string) {
	w.ends = append(w.ends, len(w.buf))
	w.roles = append(w.roles, role)
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

// appendFiles writes the text files.
func (w *work) appendFiles() {
	s := &w.sections[kindFiles]
	begun := false
	for i := range s.entries[:s.shown] {
		e := &s.entries[i]
		f := &w.in.Files[e.index]
		if f.Image > 0 {
			continue
		}
		w.gap()
		if !begun {
			w.section(SectionFiles)
			begun = true
		}
		w.buf = w.appendFileHead(w.buf, f)
		w.put(escape.FileText.Newline)
		w.putPiece(&e.pieces[0])
	}
}

// historyFixed returns the size of the builder's own words in an item.
func (w *work) historyFixed(item *Item, e *entry, n int) (s size) {
	if w.charsCount {
		for i := range item.Lines {
			w.scratch = w.appendLineStart(w.scratch[:0], item, e, i, n)
			s.chars += runes(w.scratch) + 1
		}
	}
	s.tokens = w.stampTokens(item.Lines[e.lead].Time)
	if w.isApart(e) {
		s = s.plus(size{w.b.costs.gap, 1})
	}
	if w.b.options.Citations {
		s.tokens += w.b.tally.of(appendNumber(nil, n))
	}
	s.tokens += w.b.marksTokens(e.marks)
	if item.isElsewhere() {
		s.tokens += 2 + w.b.tally.of(w.place(item.Channel, item.Title))
	}
	for i := range item.Lines {
		line := &item.Lines[i]
		if w.plain() {
			w.scratch = w.appendAuthor(w.scratch[:0], line.Author, w.authorName(line))
			w.scratch = append(w.appendReply(w.scratch, line.ReplyTo), ':')
			s.tokens += w.b.tally.of(w.scratch)
		} else {
			s.tokens += w.tagTokens(line.Author) + w.replyTokens(line.ReplyTo)
		}
		if i != e.lead {
			s.tokens += w.besideTokens(line.Time, item.Lines[e.lead].Time)
		}
	}
	return s
}

// shownTurns returns the indices of the shown turns, in order, and whether the summary is shown.
func (w *work) shownTurns() (turns []int, condensed bool) {
	s := &w.sections[kindSession]
	for _, i := range w.oldestFirst(s) {
		e := &s.entries[i]
		if e.index == condensedAt {
			condensed = true
			continue
		}
		for j := range e.pieces {
			turns = append(turns, e.index+j)
		}
	}
	return turns, condensed
}

func (w *work) planHistory(s *section, most size) {
	order := w.byRelevance()
	s.items = len(order)
	s.head = w.head(kindHistory)
	for _, i := range order {
		item := &w.in.History[i]
		e := entry{index: i, lead: item.lead()}
		if !w.plain() {
			e.marks = w.marks(item)
		}
		e.fixed = w.historyFixed(item, &e, w.first+len(s.entries))
		for j, line := range item.Lines {
			chars := w.b.options.LineChars
			if j != e.lead {
				chars = chars * besideFifths / 5
			}
			e.pieces = append(e.pieces, w.measure(line.Content, line.Tokens, escape.InLine, chars))
		}
		if len(s.entries) < bestItems {
			e.claim = w.claimOf(&e.pieces[e.lead], bestLines*w.b.options.LineChars/3)
		}
		if !w.add(s, e, most) {
			return
		}
	}
}

// condensedAt is the index of the session's summary among its turns.
const condensedAt = -1

// oldestFirst returns the indices of s's shown entries, in order of time.
func (w *work) oldestFirst(s *section) []int {
	order := upTo(s.shown)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.entries[a].index, s.entries[b].index) })
	return order
}

// prompt returns what was written, with its report.
func (w *work) prompt(tokens int) Prompt {
	p := Prompt{layout: w.b.options.Layout, Messages: make([]ChatMessage, len(w.ends))}
	text := string(w.buf)
	start := 0
	for i, end := range w.ends {
		p.Messages[i] = ChatMessage{Role: w.roles[i], Content: text[start:end]}
		start = end
	}
	p.Boundaries = w.boundaries(p.Messages)
	p.Spans = slices.Clone(w.spans)
	p.Shown = w.shownLines()
	p.Numbers = w.numbers()
	p.Turns, p.Condensed = w.shownTurns()
	p.Report = w.report(tokens)
	return p
}

func (w *work) sectionReport(s *section, title string) SectionReport {
	shown := s.shown
	if s.kind == kindSession { // an exchange has several
		turns, condensed := w.shownTurns()
		shown = len(turns)
		if condensed {
			shown++
		}
	}
	r := SectionReport{
		Type:     sectionTypes[s.kind],
		Title:    title,
		Tokens:   s.used.tokens,
		Floor:    s.floor,
		Ceiling:  s.ceiling,
		Included: shown,
		Dropped:  s.items - shown,
	}
	want := s.used // including what is missing
	for i := range s.entries[:s.shown] {
		if e := &s.entries[i]; e.isCut() {
			r.Cut++
			if r.Cut == 1 {
				want = want.minus(e.size(func(p *piece) size { return p.taken })).plus(e.whole())
			}
		}
	}
	switch {
	case r.Dropped == 0 && r.Cut == 0:
		return r
	case s.absent:
		r.Why = WhyMode
		return r
	case s.shown < len(s.entries):
		want = s.used.plus(s.entries[s.shown].short())
		if s.shown == 0 {
			want = want.plus(s.head)
		}
	case r.Cut == 0:
		r.Why = WhyCount
		return r
	}
	switch {
	case want.tokens > s.ceiling:
		r.Why = WhyCeiling
	case want.chars > w.charRoom[s.kind]:
		r.Why = WhyCharacters
	default:
		r.Why = WhyBudget
	}
	return r
}
