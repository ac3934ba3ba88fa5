package builder

import (
	"cmp"
	"slices"
	"strings"
)

// condensedAt is the index of the session's summary among its turns.
const condensedAt = -1

// planSession plans the newest turn first, then the one that is replied to, the summary, and the other turns,
// the newest first.
func (w *work) planSession(s *section, most size) {
	s.items = w.items(kindSession)
	s.head = w.head(kindSession)
	if w.b.options.Layout == LayoutChat {
		s.head.tokens = MessageOverhead // the turns make what stands before them a message of its own
	}
	for _, i := range w.turnsByWorth() {
		e := entry{index: i}
		if i == condensedAt {
			e.fixed.tokens = w.b.costs.condensed
			e.pieces = []piece{w.measure(w.in.Condensed, 0, bareLine, w.condensedChars())}
		} else {
			t := &w.in.Session[i]
			e.fixed.tokens = w.speakerTokens(t) + w.stampTokens(t.Time)
			e.pieces = []piece{w.measure(t.Content, t.Tokens, w.turnBlock(t), turnChars)}
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

// turnsByWorth are the indices of the turns, and of the summary if there is one, the most important first.
func (w *work) turnsByWorth() []int {
	turns := w.in.Session
	if w.plain() && !w.allTurns {
		turns = lastExchanges(turns, plainExchanges)
	}
	first, newest := len(w.in.Session)-len(turns), len(w.in.Session)-1
	var order []int
	if newest >= first {
		order = append(order, newest)
	}
	for i := newest - 1; i >= 0; i-- {
		if w.in.Session[i].Replied {
			order = append(order, i)
		}
	}
	if strings.TrimSpace(w.in.Condensed) != "" {
		order = append(order, condensedAt)
	}
	for i := newest - 1; i >= first; i-- {
		if !w.in.Session[i].Replied {
			order = append(order, i)
		}
	}
	return order
}

// lastExchanges are the turns from the n-th last of a user's on.
func lastExchanges(turns []Turn, n int) []Turn {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role != RoleAssistant {
			if n--; n == 0 {
				return turns[i:]
			}
		}
	}
	return turns
}

// shownTurns are the indices of the turns that are shown, in order, and whether the summary is.
func (w *work) shownTurns() (turns []int, condensed bool) {
	s := &w.sections[kindSession]
	for _, i := range w.oldestFirst(s) {
		if at := s.entries[i].index; at == condensedAt {
			condensed = true
		} else {
			turns = append(turns, at)
		}
	}
	return turns, condensed
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
		t := &w.in.Session[e.index]
		if n > 0 && w.plain() && t.Role != RoleAssistant {
			w.put("\n")
		}
		w.appendTurn(t, &e.pieces[0])
	}
}

// appendCondensed writes the summary of the session's older part. It is indented, so that no line of its own
// begins as a turn does.
func (w *work) appendCondensed(p *piece) {
	w.put(w.b.labels.Condensed, "\n  ")
	w.putPiece(p)
}

func (w *work) appendTurn(t *Turn, p *piece) {
	if !w.plain() && !t.Time.IsZero() {
		w.buf = append(appendStamp(w.buf, t.Time, w.in.Now, false), ' ')
	}
	w.buf = w.appendSpeaker(w.buf, t)
	w.putPiece(p)
}

// appendTurnMessages writes each turn as a message, and the summary as one of a user's: what it tells is data.
func (w *work) appendTurnMessages() {
	s := &w.sections[kindSession]
	for _, i := range w.oldestFirst(s) {
		e, role := &s.entries[i], RoleUser
		w.section(SectionSession)
		switch {
		case e.index == condensedAt:
			w.appendCondensed(&e.pieces[0])
		case w.in.Session[e.index].Role == RoleAssistant:
			role = RoleAssistant
			w.putPiece(&e.pieces[0])
		default:
			w.appendTurn(&w.in.Session[e.index], &e.pieces[0])
		}
		w.endMessage(role)
	}
}

// turnBlock is how a turn's content is laid out.
func (w *work) turnBlock(t *Turn) *block {
	if w.b.options.Layout == LayoutChat && t.Role == RoleAssistant {
		return answerText
	}
	return indented
}

// SessionUse is how many tokens turns would take as a prompt's session, and how many a session may have.
func (b *Builder) SessionUse(turns []Turn) (tokens, room int) {
	w := b.begin(Input{Session: turns})
	w.allTurns = true
	s := &w.sections[kindSession]
	w.planSession(s, size{noLimit, noLimit})
	return w.wants(kindSession).tokens,
		int(b.shares.sections[kindSession].ceiling * int64(b.options.MaxTokens) / b.shares.whole)
}

// MaxTokens is how many tokens a prompt may have.
func (b *Builder) MaxTokens() int { return b.options.MaxTokens }

// earlierByRelevance are the indices of the summaries, the most relevant first, of equals the newest.
func (w *work) earlierByRelevance() []int {
	order := upTo(len(w.in.PreviousContext))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.in.PreviousContext[b].Relevance, w.in.PreviousContext[a].Relevance), b-a)
	})
	return order
}

// earlierStamp is what the time of a summary takes.
func (w *work) earlierStamp(e *Earlier) (s size) {
	if e.Time.IsZero() || w.plain() {
		return s
	}
	s.tokens = w.stampTokens(e.Time)
	if w.charsCount {
		w.scratch = appendStamp(w.scratch[:0], e.Time, w.in.Now, false)
		s.chars = runes(w.scratch) + 1
	}
	return s
}

// oldestFirst are where the summaries that are shown stand in s, in order of time.
func (w *work) oldestFirst(s *section) []int {
	order := upTo(s.shown)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.entries[a].index, s.entries[b].index) })
	return order
}

// putEarlier writes the summaries, oldest first, a line each.
func (w *work) putEarlier(s *section) {
	w.put(w.b.labels.Earlier)
	for _, i := range w.oldestFirst(s) {
		w.put("\n", w.b.labels.EarlierMark)
		if e := &w.in.PreviousContext[s.entries[i].index]; !e.Time.IsZero() {
			w.buf = append(appendStamp(w.buf, e.Time, w.in.Now, false), ' ')
		}
		w.putPiece(&s.entries[i].pieces[0])
	}
}
