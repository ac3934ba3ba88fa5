package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

// MaxLore is the most lore in a result.
const MaxLore = 5

// LoreHit is lore relevant to a question.
type LoreHit struct {
	Lore      memory.Lore
	Why       string  // "name", "alias", "initials" or "words"
	Relevance float64 // in [0, 1]: confidence, uncalibrated
}

// Confidence that lore is meant, by how the question refers to it.
const (
	byName     = 0.95
	byAlias    = 0.9
	byInitials = 0.8
	byAllWords = 0.7  // words of the name, in any order
	byRarest   = 0.65 // the rarest word of the name
	// byWords is for lore with all of the question's weight; less counts in proportion. Below leastWords only
	// common words match.
	byWords    = 0.6
	leastWords = 0.5
	// A word in at most rareWord percent of the messages, or in seldom messages, identifies lore alone.
	rareWord = 1
	seldom   = 3
	// plainInitials is the least length of lower-case initials: two letters are too often a word.
	plainInitials = 3
)

// lore returns the guilds' lore that the question refers to and the scope's readers may know.
func (e *Engine) lore(ctx context.Context, q Query, asked question) ([]LoreHit, error) {
	var known []memory.Lore
	for _, guild := range q.Guilds {
		all, err := e.people.Lore(ctx, guild)
		if err != nil {
			return nil, err
		}
		for _, l := range LoreIn(q.Scope, all) {
			if len(q.Scope.Authors) == 0 || slices.Contains(q.Scope.Authors, l.By) {
				known = append(known, l)
			}
		}
	}
	if len(known) == 0 {
		return nil, nil
	}
	taken, said := countNames(known), askedWordsOf(q.Text)
	rarest, err := e.rarestWords(ctx, q, said, known)
	if err != nil {
		return nil, err
	}
	var batch text.Batch
	var found []loreMatch
	for i, l := range known {
		c := said.match(l, taken)
		if c.Why == "" && rarest[i] != "" {
			c = loreMatch{LoreHit{l, "alias", byRarest}, len(rarest[i])}
		}
		if c.Why == "" {
			c.Why, c.Relevance = "words", byWords*asked.held(batch.Terms(l.Name+" "+strings.Join(l.Own, " ")+
				" "+l.Text))
		}
		if c.Relevance >= byWords*leastWords {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, surestFirst)
	var hits []LoreHit
	for _, c := range found[:min(MaxLore, len(found))] {
		hits = append(hits, c.LoreHit)
	}
	return hits, nil
}

// rarestWords returns for each of known the word of its name that identifies it alone, or "": the rarest, such as
// the second of "Project Nightingale", if hardly anybody says it and no other name contains it.
func (e *Engine) rarestWords(ctx context.Context, q Query, s askedWords, known []memory.Lore) ([]string, error) {
	var terms []weighted // terms of the names that share a word with the question
	// Each name's range in terms, and in how many names each term is.
	names, in := make([][2]int, len(known)), map[string]int{}
	for i, l := range known {
		own := text.QueryTerms(l.Name)
		for _, t := range own {
			in[t]++
		}
		words := len(text.Words(l.Name))
		if first, _ := utf8.DecodeRuneInString(l.Name); text.IsUnspaced(first) {
			words = len(own)
		}
		if words > 1 && slices.ContainsFunc(own, func(t string) bool { return s.stems[t] }) {
			names[i] = [2]int{len(terms), len(terms) + len(own)}
			for _, t := range own {
				terms = append(terms, weighted{term: t})
			}
		}
	}
	rarest := make([]string, len(known))
	if len(terms) == 0 {
		return rarest, nil
	}
	messages, err := e.weigh(ctx, q, terms)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		most, own := messages*rareWord/100, terms[name[0]:name[1]]
		for _, t := range own {
			most = min(most, t.count)
		}
		for _, t := range own {
			if s.stems[t.term] && in[t.term] == 1 && t.count <= max(most, seldom) { // the count includes the question
				rarest[i] = t.term
			}
		}
	}
	return rarest, nil
}

// LoreIn returns the lore that readers of the scope may know: with channel, sources and time in it.
func LoreIn(scope memory.Scope, lore []memory.Lore) []memory.Lore {
	if len(lore) == 0 || len(scope.Channels) == 0 {
		return nil // who reads no channel knows no lore of the guild
	}
	readable := setOf(scope.Channels)
	return slices.DeleteFunc(slices.Clone(lore), func(l memory.Lore) bool {
		unreadable := func(s memory.MessageRef) bool { return !readable[s.Channel] }
		return l.Channel != 0 && !readable[l.Channel] || slices.ContainsFunc(l.Sources, unreadable) ||
			l.At.Before(scope.Since) || !scope.Until.IsZero() && !l.At.Before(scope.Until)
	})
}

// LoreNamed returns the lore that s refers to by name, alias or initials, surest first; if there is none, the lore
// whose name or alias contains s.
func LoreNamed(s string, lore []memory.Lore) []memory.Lore {
	taken, said := countNames(lore), askedWordsOf(s)
	var found []loreMatch
	for _, l := range lore {
		if c := said.match(l, taken); c.Why != "" {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		for _, l := range lore {
			if slices.ContainsFunc(append([]string{l.Name}, l.Own...), func(name string) bool {
				return askedWordsOf(name).has(s) > 0
			}) {
				found = append(found, loreMatch{LoreHit: LoreHit{Lore: l}})
			}
		}
	}
	slices.SortFunc(found, surestFirst)
	called := make([]memory.Lore, len(found))
	for i, c := range found {
		called[i] = c.Lore
	}
	return called
}

// setOf returns the set of a list's elements.
func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, one := range list {
		set[one] = true
	}
	return set
}

// held returns the share of the question's weight that terms contain.
func (q question) held(terms []string) float64 {
	if q.idf <= 0 {
		return 0
	}
	there, sum := setOf(terms), 0.0
	for _, t := range q.terms {
		if there[t.term] {
			sum += t.idf
		}
	}
	return sum / q.idf
}

// loreMatch is how a question refers to lore.
type loreMatch struct {
	LoreHit
	length int // bytes of the matching name: longer is less ambiguous
}

func surestFirst(a, b loreMatch) int {
	return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), cmp.Compare(b.length, a.length),
		b.Lore.At.Compare(a.Lore.At), cmp.Compare(a.Lore.ID, b.Lore.ID))
}

// askedWords is a question prepared for the search for names.
type askedWords struct {
	phrase   string          // the phraseOf of its words, between spaces
	joined   map[string]bool // joined pairs of words
	words    map[string]bool
	capitals map[string]bool // upper-case words
	stems    map[string]bool
}

func askedWordsOf(question string) askedWords {
	s := askedWords{joined: map[string]bool{}, words: map[string]bool{}, capitals: map[string]bool{},
		stems: map[string]bool{}}
	words := text.Words(question)
	for i, w := range words {
		s.words[w], s.stems[text.Stem(w)] = true, true
		if i > 0 {
			s.joined[words[i-1]+w] = true
		}
	}
	for _, t := range text.QueryTerms(question) { // parts of words in scripts without spaces
		if first, _ := utf8.DecodeRuneInString(t); text.IsUnspaced(first) {
			s.stems[t] = true
		}
	}
	s.phrase = " " + phraseOf(words) + " "
	for _, w := range strings.FieldsFunc(question, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		if w == strings.ToUpper(w) {
			s.capitals[strings.ToLower(w)] = true
		}
	}
	return s
}

// phraseOf joins words for comparison: stemmed, without determiners, with single spaces.
func phraseOf(words []string) string {
	var stems []string
	for _, w := range words {
		if !memory.IsDeterminer(w) {
			stems = append(stems, text.Stem(w))
		}
	}
	return strings.Join(stems, " ")
}

// nameOf returns the phrase of a name; empty if it has only stop words.
func nameOf(name string) string {
	words := text.Words(name)
	if !slices.ContainsFunc(words, func(w string) bool { return !text.IsStopWord(w) }) {
		return ""
	}
	return phraseOf(words)
}

// countNames counts the lore by each name, initials included.
func countNames(lore []memory.Lore) map[string]int {
	taken := map[string]int{}
	for _, l := range lore {
		names := []string{nameOf(l.Name), initialsOf(l.Name)}
		for _, own := range l.Own {
			names = append(names, nameOf(own))
		}
		slices.Sort(names)
		for _, n := range slices.Compact(names) {
			taken[n]++
		}
	}
	return taken
}

// initialsOf returns a name's lower-case initials; empty if it has none or they are a stop word.
func initialsOf(name string) string {
	made := memory.Aliases(name)
	if len(made) == 0 {
		return ""
	}
	initials := strings.ToLower(made[len(made)-1])
	if text.IsStopWord(initials) {
		return ""
	}
	return initials
}

// match returns how the question refers to l; if it doesn't, Why is empty. taken counts the lore by name.
func (s askedWords) match(l memory.Lore, taken map[string]int) loreMatch {
	if n := s.has(l.Name); n > 0 {
		return loreMatch{LoreHit{l, "name", byName}, n}
	}
	best := loreMatch{LoreHit: LoreHit{Lore: l}}
	made := memory.Aliases(l.Name)
	for _, alias := range append(made[:max(0, len(made)-1)], l.Own...) {
		if n := s.has(alias); n > best.length {
			best = loreMatch{LoreHit{l, "alias", byAlias}, n}
		}
	}
	if best.Why != "" {
		return best
	}
	initials := initialsOf(l.Name)
	if initials != "" && taken[initials] == 1 && (s.capitals[initials] || s.words[initials] &&
		utf8.RuneCountInString(initials) >= plainInitials) {
		return loreMatch{LoreHit{l, "initials", byInitials}, len(initials)}
	}
	if n := s.hasAll(l.Name); n > 0 {
		return loreMatch{LoreHit{l, "name", byAllWords}, n}
	}
	return best
}

// has returns the length in bytes of a name in the question; 0 if it isn't there.
func (s askedWords) has(name string) int {
	phrase := nameOf(name)
	if phrase == "" {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	// In scripts without spaces a name may begin and end anywhere.
	for at := 0; ; {
		i := strings.Index(s.phrase[at:], phrase)
		if i < 0 {
			break
		}
		begin, end := at+i, at+i+len(phrase)
		if (text.IsUnspaced(first) || s.phrase[begin-1] == ' ') && (text.IsUnspaced(last) || s.phrase[end] == ' ') {
			return len(phrase)
		}
		_, size := utf8.DecodeRuneInString(phrase)
		at = begin + size
	}
	if words := text.Words(name); len(words) == 1 && s.joined[words[0]] {
		return len(phrase)
	}
	return 0
}

// hasAll is has for a name's words in any order, if at least two aren't stop words.
func (s askedWords) hasAll(name string) int {
	n, length := 0, 0
	for _, w := range text.Words(name) {
		switch {
		case text.IsStopWord(w):
		case !s.stems[text.Stem(w)]:
			return 0
		default:
			n, length = n+1, length+len(w)
		}
	}
	if n < 2 {
		return 0
	}
	return length
}
