package search

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"hark/internal/text"
	"hark/memory"
)

// hits are the best of what was scored, with their excerpts; what says nothing, only repeats the question, or
// says the same as a better one or as what is shown of the session, is left out.
func (p *pool) hits(q Query, scored []*ranked) []Hit {
	var hits []Hit
	aside := behind(q)
	var said seenTexts
	for _, m := range q.Session {
		if p.skip[m.ID] {
			said.add(normalised(m.Text()))
		}
	}
	var scores []float64
	var repeated []Hit
	below := math.Inf(-1) // the score of what would be the next hit
	for _, r := range scored {
		if len(hits) == max(q.Limit, DefaultLimit) { // relevance doesn't depend on how many hits are wanted
			below = r.score
			break
		}
		e := r.entry
		words := normalised(e.Text())
		if words == "" || len(q.Scope.Authors) > 0 && !slices.Contains(q.Scope.Authors, e.Author) {
			continue
		}
		hit := Hit{Message: *e.Message, Excerpt: p.excerpt(r, aside), From: e.from, To: e.from + len(e.passage), Why: r.why(),
			score: r.score}
		if aside(e) || !said.add(words) {
			repeated = append(repeated, hit)
			continue
		}
		hits = append(hits, hit)
		scores = append(scores, r.score)
	}
	for i, relevance := range relevances(scores, below) {
		hits[i].Relevance = relevance
	}
	if q.Repeats {
		hits = append(hits, repeated...)
	}
	return hits[:min(q.Limit, len(hits))]
}

// starOdds is how many times likelier than by its words alone a message is taken to be meant that a member
// has marked as important. It is set by hand: no set to learn from has such marks.
const starOdds = 4.0

// starredFirst moves up hits that are marked as important, among those that aren't much likelier. Their
// relevance stays what it is.
func starredFirst(hits []Hit) []Hit {
	odds := func(h Hit) float64 {
		o := h.Relevance / (1 - min(h.Relevance, mostRelevant))
		if h.Message.Starred {
			o *= starOdds
		}
		return o
	}
	moved := slices.Clone(hits)
	// a hit passes those before it only as far as its star says: others keep their order
	for i := 1; i < len(moved); i++ {
		for j := i; j > 0 && moved[j].Message.Starred && odds(moved[j]) > odds(moved[j-1]); j-- {
			moved[j], moved[j-1] = moved[j-1], moved[j]
		}
	}
	for i, h := range moved {
		if h.Message.Starred {
			moved[i].Why = append([]Reason{{Kind: "starred"}}, h.Why...)
		}
	}
	return moved
}

// addMatchedWords adds to the reasons of hits which words of the question, and of what it refers back to, they
// hold, as they are written there.
func addMatchedWords(q Query, hits []Hit) {
	var asked []string
	written := map[string]string{} // a stem is nobody's word
	turns, _ := earlier(q)
	for _, s := range append([]string{q.Text}, turns...) {
		for _, t := range text.QueryTerms(s) {
			if !slices.Contains(asked, t) {
				asked = append(asked, t)
				written[t] = t
			}
		}
		for word := range strings.FieldsSeq(s) {
			word = strings.TrimFunc(word, unicode.IsPunct)
			if terms := text.QueryTerms(word); len(terms) == 1 && written[terms[0]] == terms[0] {
				written[terms[0]] = strings.ToLower(word)
			}
		}
	}
	batch := text.NearTo(asked)
	for _, h := range hits {
		i := slices.IndexFunc(h.Why, func(r Reason) bool { return r.Kind == "words" })
		if i < 0 {
			continue
		}
		held := batch.Terms(h.Message.Text())
		var words []string
		for _, t := range asked {
			if slices.Contains(held, t) {
				words = append(words, written[t])
			}
		}
		h.Why[i].Detail = strings.Join(words, " ")
	}
}

// behind tells of a message whether it stands behind what members said: it asks what q asks, or q says so.
func behind(q Query) func(*entry) bool {
	asked := repeats(q.Text)
	return func(e *entry) bool { return asked(e) || q.Behind != nil && q.Behind(e.Message) }
}

// repeats tells of a message whether it asks what the question asks, in no more words: people ask the same
// twice, and the first time answers nothing.
func repeats(question string) func(*entry) bool {
	question = text.WithoutHark(question)
	terms, same := setOf(text.Terms(question)), normalised(question)
	batch := text.NearTo(slices.Collect(maps.Keys(terms)))
	return func(e *entry) bool {
		body := text.WithoutHark(e.Text())
		if !e.signs.asks {
			return same != "" && normalised(body) == same
		}
		return !slices.ContainsFunc(batch.Terms(body), func(t string) bool { return !terms[t] })
	}
}

// normalised is s without what doesn't change what it says.
func normalised(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(s)), " "), ".!… ")
}

// excerpt is a hit's message with the one before and the one after it in the same sitting. In their places stand what
// it replies to and what answers it, if that is near and doesn't stand aside.
func (p *pool) excerpt(r *ranked, aside func(*entry) bool) []memory.Message {
	stream := p.streams[r.channel]
	first, last := opening(stream, r.at), r.at
	for last+1 < len(stream) && stream[last+1].isSameMessage(&stream[r.at]) {
		last++
	}
	from, _ := neighbourhood(stream, first, neighbours, 0)
	var excerpt []memory.Message
	if from < first {
		excerpt = append(excerpt, *repliedTo(stream[from:first], stream[r.at].ReplyTo))
	}
	excerpt = append(excerpt, *stream[r.at].Message)
	if _, to := neighbourhood(stream, last, 0, neighbours); last < to {
		excerpt = append(excerpt, *answering(stream[last+1:to+1], stream[r.at].Message, aside))
	}
	return excerpt
}

// repliedTo is the message of that id, or else the last one.
func repliedTo(before []entry, id memory.MessageID) *memory.Message {
	for i := range before {
		if before[i].ID == id {
			return before[i].Message
		}
	}
	return before[len(before)-1].Message
}

// answering is what replies to m, or else what mentions its author before they speak again, or else what comes next.
func answering(after []entry, m *memory.Message, aside func(*entry) bool) *memory.Message {
	for i := range after {
		if after[i].ReplyTo == m.ID && !aside(&after[i]) {
			return after[i].Message
		}
	}
	others := false // have spoken
	for i := range after {
		e := &after[i]
		switch {
		case e.Author != m.Author && e.ReplyTo == 0 && slices.Contains(e.Mentions, m.Author) && !aside(e):
			return e.Message
		case e.Author == m.Author && others:
			return after[0].Message
		}
		others = others || e.Author != m.Author
	}
	return after[0].Message
}

// Field is the rank of the hit that stands for what merely resembles a question.
const Field = 10

// Standings tell of hits with the given scores, best first and nothing better than below after them, how far
// each stands out: its score less that of the hit at Field (less field, where there are fewer), its score
// less that of the hit after it, and the logarithm of its rank. Scores alone tell little, since their height
// depends on the question.
func Standings(scores []float64, below, field float64) [][3]float64 {
	low := field
	if len(scores) >= Field {
		low = scores[Field-1]
	}
	standings := make([][3]float64, len(scores))
	for i, score := range scores {
		next := max(below, min(field, score))
		if i+1 < len(scores) {
			next = scores[i+1]
		}
		standings[i] = [3]float64{score - low, score - next, math.Log(float64(1 + i))}
	}
	return standings
}

// mostRelevant is the most that a hit's relevance can be: no hit was ever so far ahead of others that it was certain.
const mostRelevant = 0.99

// relevances are those of hits with the given scores, best first, and nothing better than below after them:
// the probability that each, or a direct neighbour, answers the question. They never rise with the rank: what
// is true of a hit is true of those above it.
func relevances(scores []float64, below float64) []float64 {
	out := make([]float64, len(scores))
	for i, s := range slices.Backward(Standings(scores, below, fieldScore)) {
		z := curve[0] + curve[1]*s[0] + curve[2]*s[1] + curve[3]*s[2]
		out[i] = min(mostRelevant, 1/(1+math.Exp(-z)))
		if i+1 < len(out) {
			out[i] = max(out[i], out[i+1])
		}
	}
	return out
}
