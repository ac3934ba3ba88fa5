package builder

import (
	"slices"
	"strings"

	"hark/builder/escape"
)

// planSession plans the newest turn first, then the one replied to, the summary, and the other turns, newest
// first.
func (w *work) planSession(s *section, most size) {
	s.items = w.items(kindSession)
	s.head = w.head(kindSession)
	if w.b.options.Layout == LayoutChat {
		s.head.tokens = MessageOverhead // the turns end the message before them
	}
	for _, i := range w.turnsByWorth() {
		e := entry{index: i}
		if i == condensedAt {
			e.fixed.tokens = w.b.costs.condensed
			e.pieces = []piece{w.measure(w.in.Condensed, 0, escape.BareLine, w.condensedChars())}
		} else {
			turns := w.exchange(i)
			chars := turnChars
			if w.plain() {
				chars = min(chars, plainExchangeChars/len(turns))
			}
			for j := range turns {
				t := &turns[j]
				e.fixed.tokens += w.speakerTokens(t) + w.turnStampTokens(t)
				e.pieces = append(e.pieces, w.measure(t.Content, t.Tokens, w.turnBlock(t), chars))
			}
		}
		if w.b.options.Layout == LayoutChat {
			e.fixed.tokens += MessageOverhead
		}
		if !w.add(s, e, most) {
			return
		}
	}
}

func (w *work) condensedChars() int {
	if w.plain() {
		return plainCondensedChars
	}
	return condensedChars
}

// exchange returns the turns shown together from the i-th on: itself and, in the plain layout, its answers.
func (w *work) exchange(i int) []Turn {
	end := i + 1
	for w.plain() && end < len(w.in.Session) && w.in.Session[end].Role == RoleAssistant {
		end++
	}
	return w.in.Session[i:end]
}

// turnsByWorth returns the indices of the exchanges' first turns and of the summary, most important first.
func (w *work) turnsByWorth() []int {
	var starts []int
	for i := 0; i < len(w.in.Session); i += len(w.exchange(i)) {
		starts = append(starts, i)
	}
	most := len(starts)
	if w.plain() && !w.allTurns {
		most = min(most, plainExchanges)
	}
	replied := func(i int) bool { return slices.ContainsFunc(w.exchange(i), func(t Turn) bool { return t.Replied }) }
	var order, rest []int
	for n, i := range slices.Backward(starts) {
		switch {
		case n == len(starts)-1 || replied(i):
			order = append(order, i)
		case n >= len(starts)-most:
			rest = append(rest, i)
		}
	}
	if strings.TrimSpace(w.in.Condensed) != "" {
		order = append(order, condensedAt)
	}
	return append(order, rest...)
}

// appendSession writes the summary and the turns under their heading.
func (w *work) appendSession() {
	s := &w.sections[kindSession]
	w.title(SectionSession, w.headings()[2])
	for n, i := range w.oldestFirst(s) {
		e := &s.entries[i]
		if n > 0 {
			w.put("\n")
		}
		if e.index == condensedAt {
			w.appendCondensed(&e.pieces[0])
			continue
		}
		if n > 0 && w.plain() {
			w.put("\n")
		}
		for j := range e.pieces {
			if j > 0 {
				w.put("\n")
			}
			w.appendTurn(e.index+j, &e.pieces[j])
		}
	}
}

// appendCondensed writes the summary of the session's older part, indented so that it can't look like a turn.
func (w *work) appendCondensed(p *piece) {
	w.put(w.b.labels.Condensed, "\n  ")
	w.putPiece(p)
}

// appendTurn writes the i-th turn.
func (w *work) appendTurn(i int, p *piece) {
	start := w.at()
	t := &w.in.Session[i]
	if w.turnBlock(t) != escape.AnswerText { // else the message's role names the speaker
		if w.isStamped(t) {
			w.buf = append(appendStamp(w.buf, t.Time, w.in.Now, false), ' ')
		}
		w.buf = w.appendSpeaker(w.buf, t)
	}
	w.putPiece(p)
	w.span(SectionSession, i, 0, start)
}

// isStamped reports whether a turn's time precedes it; in the plain layout only if it is of another day.
func (w *work) isStamped(t *Turn) bool {
	return !t.Time.IsZero() && (!w.plain() || w.apart(t.Time, w.in.Now) == apartDays)
}

// turnStampTokens returns the tokens of a new line with a turn's time, if it is stamped.
func (w *work) turnStampTokens(t *Turn) int {
	if !w.isStamped(t) {
		return 1
	}
	return w.stampTokens(t.Time)
}

// appendTurnMessages writes each turn as a message, and the summary as a user's: it is data.
func (w *work) appendTurnMessages() {
	s := &w.sections[kindSession]
	for _, i := range w.oldestFirst(s) {
		e := &s.entries[i]
		role := RoleUser
		w.section(SectionSession)
		switch {
		case e.index == condensedAt:
			w.appendCondensed(&e.pieces[0])
		default:
			if w.in.Session[e.index].Role == RoleAssistant {
				role = RoleAssistant
			}
			w.appendTurn(e.index, &e.pieces[0])
		}
		w.endMessage(role)
	}
}

// turnBlock returns the layout of a turn's content.
func (w *work) turnBlock(t *Turn) *escape.Block {
	if w.b.options.Layout == LayoutChat && t.Role == RoleAssistant {
		return escape.AnswerText
	}
	return escape.Indented
}

// SessionUse returns the tokens of turns as a prompt's session, and the most that a session may have.
func (b *Builder) SessionUse(turns []Turn) (tokens, room int) {
	w := b.begin(Input{Session: turns})
	w.allTurns = true
	s := &w.sections[kindSession]
	w.planSession(s, size{noLimit, noLimit})
	return w.wants(kindSession).tokens,
		int(b.shares.sections[kindSession].ceiling * int64(b.options.MaxTokens) / b.shares.whole)
}

// MaxTokens returns the most tokens of a prompt.
func (b *Builder) MaxTokens() int { return b.options.MaxTokens }

// putEarlier writes the summaries, oldest first, one a line.
func (w *work) putEarlier(s *section) {
	w.put(w.b.labels.Earlier)
	for _, i := range w.oldestFirst(s) {
		w.put("\n", w.b.labels.EarlierMark)
		w.putSummary(&s.entries[i])
	}
}

// putSummary writes a summary with its time, if known.
func (w *work) putSummary(e *entry) {
	start := w.at()
	w.buf = w.appendEarlierTime(w.buf, w.in.PreviousContext[e.index].Time)
	w.putPiece(&e.pieces[0])
	w.span(SectionPreviousContext, e.index, 0, start)
}

// render writes the planned messages into buf.
func (w *work) render() {
	w.buf = w.buf[:0]
	w.ends = w.ends[:0]
	w.roles = w.roles[:0]
	w.bounds = w.bounds[:0]
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
