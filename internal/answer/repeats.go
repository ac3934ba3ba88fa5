package answer

import (
	"context"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

const (
	// runWords is how many words in a row an answer has from a source if it repeats it.
	runWords = 4
	// rareTimes and rareShare say which terms are rare: those that at most so many messages have, or such a share of all.
	rareTimes = 5
	rareShare = 0.005
	// sharedBy is how many sources may have a term before it counts as common to them.
	sharedBy = 2
)

// trackSources puts into the trace of an answer what it was made from, and which of that its text repeats.
//
// An answer repeats a source that it cites, of which it has four words in a row, or with which it shares a rare term. Words of
// the question don't count. A term that three sources or more have tells of none of them. If two have it, both count as
// repeated: after one has gone nobody can tell any more that the other gave it away too. A message counts as repeated with the
// fact, the lore or the summary that was made from it.
func (e *Engine) trackSources(ctx context.Context, q Question, r *recalled, a *Answer, shown *manifest) {
	all, said, asked := shown.sources(), wordsOf(a.Text), wordsOf(q.Text)
	counts, shared := map[string]int{}, make([][]string, len(all))
	for i, s := range all {
		for _, term := range text.QueryTerms(s.text) {
			if said.terms[term] && !asked.terms[term] {
				shared[i] = append(shared[i], term)
				counts[term]++
			}
		}
	}
	common := e.commonTerms(ctx, r, counts)
	cited, told := map[spot]bool{}, map[spot]bool{} // told are messages that are repeated by way of something else
	for _, s := range a.Sources {
		cited[spot{s.Channel, s.Message}] = true
	}
	for i := range all {
		s := &all[i]
		rare := func(term string) bool { return counts[term] <= sharedBy && !common[term] }
		if s.Repeats = slices.ContainsFunc(shared[i], rare) || said.hasRun(s.text, asked); s.Repeats {
			for _, at := range s.from {
				told[at] = true
			}
		}
	}
	for _, m := range shown.files { // what they hold isn't known any more
		told[spot{m.Channel, m.ID}] = true
	}
	a.Trace.Sources = q.asSource()
	for _, s := range all {
		a.Trace.Sources = append(a.Trace.Sources, s.Source)
	}
	for i := range a.Trace.Sources {
		s := &a.Trace.Sources[i]
		at := spot{s.Channel, memory.MessageID(s.ID)}
		s.Repeats = s.Repeats || s.Kind == memory.SourceMessage && (cited[at] || told[at])
	}
	a.Trace.Recalled = shown.recalled(cited)
}

// asSource is the question as a source of its answer. A slash command's is no message.
func (q Question) asSource() []memory.Source {
	if q.ID == 0 {
		return nil
	}
	return []memory.Source{memory.Message{Channel: q.Channel, ID: q.ID, Edited: q.Edited}.AsSource(true)}
}

// commonTerms are those of terms that so many messages have that they tell of none. If they can't be counted, none is.
func (e *Engine) commonTerms(ctx context.Context, r *recalled, terms map[string]int) map[string]bool {
	common := map[string]bool{}
	list := make([]string, 0, len(terms))
	for term := range terms {
		list = append(list, term)
	}
	slices.Sort(list)
	const most = 1000
	messages, counts, err := e.log.Frequencies(ctx, r.scope, list, most)
	if err != nil || len(counts) < len(list) {
		return common
	}
	rare := max(rareTimes, min(most-1, int(rareShare*float64(messages))))
	for i, term := range list {
		common[term] = counts[i] > rare
	}
	return common
}

// words are a text's words, to be found again.
type words struct {
	line  string // with a space round each
	terms map[string]bool
}

func wordsOf(s string) words {
	w := words{line: " " + strings.Join(text.Words(s), " ") + " ", terms: map[string]bool{}}
	for _, term := range text.QueryTerms(s) {
		w.terms[term] = true
	}
	return w
}

// hasRun reports whether runWords words of a text stand in w as they do there, and not in other.
func (w words) hasRun(s string, other words) bool {
	all := text.Words(s)
	for i := range len(all) - runWords + 1 {
		run := " " + strings.Join(all[i:i+runWords], " ") + " "
		if strings.Contains(w.line, run) && !strings.Contains(other.line, run) {
			return true
		}
	}
	return false
}
