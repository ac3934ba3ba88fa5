package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

const (
	earlierTurns = 3   // of the session that a question which refers back is searched with
	earlierTerms = 16  // of those turns
	earlierShare = 0.5 // of a term's weight for each turn that it lies back
	earlierRunes = 300 // of each turn, where an embedder reads text
)

// RefersBack reports whether a question can be understood only with what was said before it: "What about the second one?",
// "why?". It is told by its words in English and a few other languages, and by its saying nothing itself.
func RefersBack(question string) bool {
	words := text.Words(question)
	said := 0
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		if pointers[w] || follows[w+" "+next] && i == 0 || w == "the" && ordinals[next] {
			return true
		}
		if !text.IsStopWord(w) {
			said++
		}
	}
	return said == 0 || slices.ContainsFunc(pointersUnspaced, func(p string) bool { return strings.Contains(question, p) })
}

var (
	pointers = setOf(`it its that this those these they them their theirs he him his she her hers there then else instead
		davon damit dafur dazu darauf deren dessen cela eso esto ello`)
	ordinals = setOf("first second third fourth fifth last latter former other others next previous same one ones rest")
	follows  = map[string]bool{"what about": true, "how about": true, "and what": true, "and who": true, "and when": true, "and why": true,
		"and how": true, "and where": true, "was ist": true, "et pour": true, "y que": true}
	pointersUnspaced = []string{"それ", "その", "あれ", "これ", "那個", "那个", "它", "這個", "这个", "他們", "他们", "她", "彼女", "彼は"}
	personal         = setOf("he him his she her hers they them their")
)

// earlier are the turns that q is searched with, the newest first; none if q says all itself. A turn that can be found isn't
// among them: it would be found by its own words.
func earlier(q Query) []string {
	var turns []string
	if len(q.Session) == 0 || !RefersBack(q.Text) {
		return nil
	}
	for _, m := range slices.Backward(q.Session) {
		if body := m.Text(); slices.Contains(q.Skip, m.ID) && normalised(body) != "" && len(turns) < earlierTurns {
			turns = append(turns, body)
		}
	}
	return turns
}

// withEarlier is a question behind the turns that it is searched with, for an embedder that reads.
func withEarlier(question string, turns []string) string {
	var lines []string
	for _, t := range slices.Backward(turns) {
		if utf8.RuneCountInString(t) > earlierRunes {
			t = string([]rune(t)[:earlierRunes])
		}
		lines = append(lines, t)
	}
	return strings.Join(append(lines, question), "\n")
}

// addEarlier adds the terms of turns to those of the question, the less weighty the farther back.
func (q *question) addEarlier(turns []string) {
	share := 1.0
	known := map[string]bool{}
	for _, t := range q.terms {
		known[t.term] = true
	}
	added := 0
	for _, turn := range turns {
		share *= earlierShare
		for _, term := range text.QueryTerms(turn) {
			if !known[term] && added < earlierTerms {
				known[term] = true
				q.terms = append(q.terms, weighted{term: term, share: share})
				added++
			}
		}
	}
}

// namedEarlier are the people whom the newest of turns that names anybody names, if the question speaks of somebody without
// saying whom.
func (k people) namedEarlier(question string, turns []string) []memory.UserID {
	if !slices.ContainsFunc(text.Words(question), func(w string) bool { return personal[w] }) {
		return nil
	}
	for _, turn := range turns {
		if named := k.namedIn(turn); len(named) > 0 {
			return named
		}
	}
	return nil
}
