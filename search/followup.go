package search

import (
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

const (
	earlierTurns = 3   // session turns that a question with a back reference is searched with
	earlierTerms = 16  // terms of those turns
	earlierShare = 0.5 // factor on a term's weight for each turn back
	earlierRunes = 300 // characters of each turn that a model reads
	// fewOwn is the most own words of a question that needs its turns. In longer ones the turns' terms weigh at
	// most ownShare of the question's own.
	fewOwn   = 1
	ownShare = 0.5
)

// RefersBack reports whether a question needs the preceding messages: "What about the second one?", "why?". It
// goes by words in a few languages, and by the lack of content words.
func RefersBack(question string) bool {
	words := text.Words(question)
	own := 0
	for _, w := range words {
		own += int(bit(!text.IsStopWord(w)))
	}
	if own == 0 || slices.ContainsFunc(pointersUnspaced, func(p string) bool { return strings.Contains(question, p) }) {
		return true
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case persons[w], i == 0 && follows[w+" "+next]:
			return true
		case things[w]: // "how long does it take to build the parser" speaks of no it
			if own <= 3 {
				return true
			}
		case owners[w], pointers[w] && !spanUnits[next]: // "where does Kate keep her bike", "what did we plan this week"
			if own <= 2 {
				return true
			}
		case w == "the" && ordinals[next]:
			if own <= 2 || i+2 < len(words) && ones[words[i+2]] {
				return true
			}
		}
	}
	return false
}

var (
	persons   = text.SetOf("he him she they them sie er elle ils elles ella ellos")
	things    = text.SetOf("it its these those else davon damit dafur dazu darauf cela eso esto ello")
	owners    = text.SetOf("his her hers their theirs")
	pointers  = text.SetOf("this that")
	spanUnits = text.SetOf("day week weekend month year morning afternoon evening time spring summer autumn fall winter")
	ordinals  = text.SetOf("first second third fourth fifth latter former other others one ones rest")
	ones      = text.SetOf("one ones")
	follows   = map[string]bool{"what about": true, "how about": true, "and what": true, "and who": true,
		"and when": true, "and why": true,
		"and how": true, "and where": true, "was ist": true, "et pour": true, "y que": true}
	pointersUnspaced = []string{"それ", "その", "あれ", "これ", "那個", "那个", "它", "這個", "这个", "他們", "他们", "她", "彼女", "彼は"}
	personal         = text.SetOf("he him his she her hers they them their")
)

// earlier returns the turns that q is searched with: what it replies to, and the newest turns, newest first, if it
// isn't complete. It leaves out turns that can be hits, because their own words find them. asked is the newest question
// with a topic.
func earlier(q Query) (turns []string, asked string) {
	var from []memory.Message
	if replied, is := repliedIn(q); is {
		from = append(from, replied)
	}
	if RefersBack(q.Text) {
		for _, m := range slices.Backward(q.Session) {
			if m.ID != q.ReplyTo || len(from) == 0 {
				from = append(from, m)
			}
		}
	}
	for _, m := range from {
		body := spokenOf(m)
		if !slices.Contains(q.Skip, m.ID) || normalised(body) == "" || len(turns) == earlierTurns {
			continue
		}
		turns = append(turns, body)
		if s := wordsSaying(body); asked == "" && m.Kind != memory.FromHark && s.asks && s.topic {
			asked = body
		}
	}
	return turns, asked
}

// fewReplied is the most own terms of a question that needs the member's message that it replies to, such as "how do I
// mend that winch?".
const fewReplied = 2

// repliedIn returns the message that q replies to, if q needs its words.
func repliedIn(q Query) (memory.Message, bool) {
	at := slices.IndexFunc(q.Session, func(m memory.Message) bool { return m.ID == q.ReplyTo })
	if q.ReplyTo == 0 || at < 0 {
		return memory.Message{}, false
	}
	isShort := q.Session[at].Kind != memory.FromHark && len(text.QueryTerms(withoutBid(q.Text))) <= fewReplied
	return q.Session[at], isShort || RefersBack(q.Text)
}

// spokenOf returns m's text; of Hark's answers only its own words.
func spokenOf(m memory.Message) string {
	body := m.Text()
	if m.Kind != memory.FromHark {
		return body
	}
	return text.OwnWords(body)
}

// withEarlier joins a question and its turns for a model. The question comes first, because long texts lose their
// end.
func withEarlier(question string, turns []string) string {
	lines := []string{question}
	for _, t := range turns {
		lines = append(lines, text.Cut(t, earlierRunes))
	}
	return strings.Join(lines, "\n")
}

// addEarlier adds the turns' terms; older turns weigh less.
func (q *question) addEarlier(turns []string) {
	share, added := 1.0, 0
	known := map[string]bool{}
	for _, t := range q.terms {
		known[t.term] = true
	}
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

// namedEarlier returns the people in the newest turn that names any, if the question has a personal pronoun.
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

// boundEarlier limits the weight of the turns' terms; see fewOwn.
func (q *question) boundEarlier() {
	own, earlier, words := 0.0, 0.0, 0
	for _, t := range q.terms {
		if t.share == 1 {
			own += t.idf
			words++
		} else {
			earlier += t.idf
		}
	}
	if words <= fewOwn || earlier <= ownShare*own {
		return
	}
	for i := range q.terms {
		if q.terms[i].share < 1 {
			q.terms[i].idf *= ownShare * own / earlier
		}
	}
}
