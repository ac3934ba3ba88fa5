package answer

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hark/internal/answer/manifest"
	"hark/internal/chat"
	"hark/internal/text"
	"hark/memory"
)

// cite returns the answer with this text and its citations.
func (e *Engine) cite(ctx context.Context, q Question, r *recalled, text string) Answer {
	text, cited := manifest.Citations(text, r.numbers())
	a := Answer{
		Text:     text,
		Unranked: r.result.RerankFailed,
		Trace:    e.trace(q, r),
	}
	for _, n := range cited {
		hit, _ := r.shown.Hit(n)
		a.Sources = append(a.Sources, r.source(n, hit.Message))
		r.addOriginal(&r.shown, hit.Message)
	}
	e.trackSources(ctx, q, r, &a, &r.shown)
	return a
}

// numbers returns which numbers the model can cite.
func (r *recalled) numbers() manifest.Numbers {
	said := func(notation string) bool {
		has := func(m chat.Message) bool {
			return m.Role != chat.Assistant && strings.Contains(m.Content, notation) // else it is the model's own
		}
		return slices.ContainsFunc(r.messages(), has) || slices.ContainsFunc(r.talk.Messages, has)
	}
	return manifest.Numbers{Known: r.shown.IsNumber, Said: said}
}

func (e *Engine) trace(q Question, r *recalled) memory.Trace {
	return memory.Trace{
		Guild:    q.Guild,
		Channel:  q.Channel,
		Question: q.ID,
		Asker:    q.Asker,
		Mode:     string(r.mode.Is),
		Search:   r.search,
		Total:    r.elapsed(),
		TextOnly: r.result.TextOnly,
		Built:    r.built,
		Began:    r.began,
	}
}

// found says what the search found.
func (r *recalled) found() memory.Found {
	something := len(r.result.Hits)+len(r.weak) > 0
	switch {
	case r.result.SmallTalk():
		return memory.FoundSmallTalk
	case something && r.result.Declined:
		return memory.FoundLittle
	case something || len(r.result.Lore) > 0:
		return memory.FoundEnough
	}
	return memory.FoundNothing
}

const (
	// runWords in a row make an answer repeat a source.
	runWords = 4
	// A term is rare if at most rareTimes messages have it, or rareShare of all.
	rareTimes = 5
	rareShare = 0.005
	// sharedBy members may have said a term before it counts as common.
	sharedBy = 2
)

// trackSources puts into an answer's trace what it was made from, and which of that its text repeats.
//
// An answer repeats a source that it cites, has four words in a row from, or shares a rare term with. Words of the
// question don't count. A term that three or more members said tells of none of them. Of fewer, each counts: after
// one has gone, nobody knows that another gave it away too. A message is repeated with the fact, lore or summary
// made from it.
func (e *Engine) trackSources(ctx context.Context, q Question, r *recalled, a *Answer, shown *manifest.Manifest) {
	all := shown.Sources()
	said := wordsOf(a.Text)
	asked := wordsOf(q.ownText())
	saidBy := map[string][]memory.UserID{}
	shared := make([][]string, len(all))
	for i, s := range all {
		for _, term := range termsOf(s.Text) {
			if !said.terms[term] || asked.terms[term] {
				continue
			}
			shared[i] = append(shared[i], term)
			if by := saidBy[term]; s.By == 0 || !slices.Contains(by, s.By) {
				saidBy[term] = append(by, s.By)
			}
		}
	}
	common := e.commonTerms(ctx, r, slices.Sorted(maps.Keys(saidBy)))
	for term, by := range saidBy {
		members := len(slices.DeleteFunc(by, func(id memory.UserID) bool { return id == 0 }))
		common[term] = common[term] || members > sharedBy
	}
	// derived are messages that are repeated by what was made from them.
	cited := map[memory.MessageRef]bool{}
	derived := map[memory.MessageRef]bool{}
	for _, s := range a.Sources {
		cited[memory.MessageRef{Channel: s.Channel, Message: s.Message}] = true
	}
	for i := range all {
		s := &all[i]
		rare := func(term string) bool { return !common[term] }
		s.Repeats = slices.ContainsFunc(shared[i], rare) || said.hasRun(s.Text, asked)
		if s.Repeats {
			for _, at := range s.From {
				derived[at] = true
			}
		}
	}
	for _, m := range shown.Files { // their contents aren't known any more
		derived[memory.MessageRef{Channel: m.Channel, Message: m.ID}] = true
	}
	a.Trace.Sources = q.asSource()
	for _, s := range all {
		a.Trace.Sources = append(a.Trace.Sources, s.Source)
	}
	for i := range a.Trace.Sources {
		s := &a.Trace.Sources[i]
		at := memory.MessageRef{Channel: s.Channel, Message: memory.MessageID(s.ID)}
		s.Repeats = s.Repeats || s.Kind == memory.SourceMessage && (cited[at] || derived[at])
	}
	q.markReplied(a.Trace.Sources)
	a.Trace.Recalled = shown.TraceHits(cited)
}

// ownText returns what the asker wrote.
func (q Question) ownText() string {
	if q.quoted {
		return ""
	}
	return q.Text
}

// asSource returns the question as a source; none for a slash command.
func (q Question) asSource() []memory.Source {
	if q.ID == 0 {
		return nil
	}
	return []memory.Source{memory.Message{
		Channel: q.Channel,
		ID:      q.ID,
		Edited:  q.Edited,
	}.AsSource(true)}
}

// commonTerms returns the terms that too many messages have to tell of one; none if they can't be counted.
func (e *Engine) commonTerms(ctx context.Context, r *recalled, terms []string) map[string]bool {
	common := map[string]bool{}
	const most = 1000
	messages, counts, err := e.log.Frequencies(ctx, r.scope, terms, most)
	if err != nil || len(counts) < len(terms) {
		return common
	}
	rare := max(rareTimes, min(most-1, int(rareShare*float64(messages))))
	for i, term := range terms {
		common[term] = counts[i] > rare
	}
	return common
}

type words struct {
	line  string // with a space round each
	terms map[string]bool
}

// emphasis may stand within a word.
var emphasis = strings.NewReplacer("*", "", "~~", "", "||", "", "`", "")

func wordsOf(s string) words {
	plain := emphasis.Replace(s)
	w := words{line: " " + strings.Join(text.Words(plain), " ") + " ", terms: map[string]bool{}}
	for _, term := range slices.Concat(termsOf(s), termsOf(plain), text.Terms(plain)) {
		w.terms[term] = true
	}
	return w
}

// figure is a number, however it is grouped.
var figure = regexp.MustCompile(`\d(?:[ .,'’/:-]?\d)+`)

// termsOf returns a text's terms, its figures without grouping, and mentions.
func termsOf(s string) []string {
	terms := text.QueryTerms(s)
	for _, f := range figure.FindAllString(s, -1) {
		terms = append(terms, strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, f))
	}
	for _, who := range mentioned.FindAllStringSubmatch(s, -1) {
		terms = append(terms, "@"+who[1])
	}
	return terms
}

// hasRun reports whether runWords words of s in a row, not all stop words, are in w and not in other.
func (w words) hasRun(s string, other words) bool {
	all := text.Words(emphasis.Replace(s))
	for i := range len(all) - runWords + 1 {
		run := " " + strings.Join(all[i:i+runWords], " ") + " "
		if slices.ContainsFunc(all[i:i+runWords], func(word string) bool { return !text.IsStopWord(word) }) &&
			strings.Contains(w.line, run) && !strings.Contains(other.line, run) {
			return true
		}
	}
	return false
}
