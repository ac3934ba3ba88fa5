package builder

import (
	"cmp"
	"slices"
)

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
