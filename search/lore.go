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
	known, err := e.knownLore(ctx, q, asked)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	said := askedWordsOf(q.Text)
	taken := countNames(known)
	matches := make([]loreMatch, len(known))
	for i, l := range known {
		matches[i] = said.match(l, taken)
	}
	if err := e.addRarestWords(ctx, q, said, known, matches); err != nil {
		return nil, err
	}
	var found []loreMatch
	for i, c := range matches {
		if c.Why == "" {
			c.Why = "words"
			c.Relevance = byWords * known[i].held
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

func (e *Engine) knownLore(ctx context.Context, q Query, asked question) ([]knownLore, error) {
	var known []knownLore
	readable := readableLore(q.Scope)
	for _, guild := range q.Guilds {
		all, err := e.people.Lore(ctx, guild)
		if err != nil {
			return nil, err
		}
		index := e.lores.of(guild, all)
		held := index.held(asked)
		for i := range all {
			l := &all[i]
			if readable(l) && (len(q.Scope.Authors) == 0 || slices.Contains(q.Scope.Authors, l.By)) {
				known = append(known, knownLore{l, &index.words[i], held[i]})
			}
		}
	}
	return known, nil
}

// addRarestWords matches lore of which the question has the word that identifies it alone: the rarest of its name, such
// as the second of "Project Nightingale", if hardly anybody says it and no other name contains it. It counts only words
// of names that can win so, because counting is slow.
func (e *Engine) addRarestWords(ctx context.Context, q Query, s askedWords, known []knownLore,
	matches []loreMatch) error {
	in := map[string]int{} // in how many names each term of the question is
	for _, l := range known {
		for _, t := range l.terms {
			if s.stems[t] {
				in[t]++
			}
		}
	}
	identifies := func(term string) bool { return in[term] == 1 }
	var terms []weighted // of the names that can win
	var names []int      // the place in known of each of these
	for i, l := range known {
		if matches[i].Why != "" || l.count < 2 || !slices.ContainsFunc(l.terms, identifies) {
			continue
		}
		names = append(names, i)
		for _, t := range l.terms {
			terms = append(terms, weighted{term: t})
		}
	}
	if len(terms) == 0 {
		return nil
	}
	messages, err := e.weighMessages(ctx, q, terms)
	if err != nil {
		return err
	}
	for _, i := range names {
		own := terms[:len(known[i].terms)]
		terms = terms[len(own):]
		most := messages * rareWord / 100
		for _, t := range own {
			most = min(most, t.count)
		}
		for _, t := range own {
			if identifies(t.term) && t.count <= max(most, seldom) { // the count includes the question
				matches[i] = loreMatch{LoreHit{*known[i].Lore, "alias", byRarest}, len(t.term)}
			}
		}
	}
	return nil
}

// LoreIn returns the lore that readers of the scope may know: with channel, sources and time in it.
func LoreIn(scope memory.Scope, lore []memory.Lore) []memory.Lore {
	readable := readableLore(scope)
	var known []memory.Lore
	for i := range lore {
		if readable(&lore[i]) {
			known = append(known, lore[i])
		}
	}
	return known
}

// readableLore returns a test for LoreIn.
func readableLore(scope memory.Scope) func(*memory.Lore) bool {
	readable := setOf(scope.Channels)
	unreadable := func(s memory.MessageRef) bool { return !readable[s.Channel] }
	return func(l *memory.Lore) bool {
		if len(readable) == 0 { // who reads no channel knows no lore of the guild
			return false
		}
		if l.Channel != 0 && !readable[l.Channel] || slices.ContainsFunc(l.Sources, unreadable) {
			return false
		}
		return !l.At.Before(scope.Since) && (scope.Until.IsZero() || l.At.Before(scope.Until))
	}
}

// LoreNamed returns the lore that s refers to by name, alias or initials, surest first; if there is none, the lore
// whose name or alias contains s.
func LoreNamed(s string, lore []memory.Lore) []memory.Lore {
	said := askedWordsOf(s)
	known := make([]knownLore, len(lore))
	for i := range lore {
		words := loreWordsOf(&lore[i])
		known[i] = knownLore{Lore: &lore[i], loreWords: &words}
	}
	taken := countNames(known)
	var found []loreMatch
	for _, l := range known {
		if c := said.match(l, taken); c.Why != "" {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		called := calledBy(s)
		for _, l := range lore {
			if slices.ContainsFunc(append([]string{l.Name}, l.Own...), func(name string) bool {
				return askedWordsOf(name).has(called) > 0
			}) {
				found = append(found, loreMatch{LoreHit: LoreHit{Lore: l}})
			}
		}
	}
	slices.SortFunc(found, surestFirst)
	all := make([]memory.Lore, len(found))
	for i, c := range found {
		all[i] = c.Lore
	}
	return all
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
	s := askedWords{
		joined:   map[string]bool{},
		words:    map[string]bool{},
		capitals: map[string]bool{},
		stems:    map[string]bool{},
	}
	words := text.Words(question)
	for i, w := range words {
		s.words[w] = true
		s.stems[text.Stem(w)] = true
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

// match returns how the question refers to l; if it doesn't, Why is empty. taken counts the lore by name.
func (s askedWords) match(l knownLore, taken map[string]int) loreMatch {
	if n := s.has(l.name); n > 0 {
		return loreMatch{LoreHit{*l.Lore, "name", byName}, n}
	}
	best := 0
	for _, alias := range l.aliases {
		best = max(best, s.has(alias))
	}
	if best > 0 {
		return loreMatch{LoreHit{*l.Lore, "alias", byAlias}, best}
	}
	if l.initials != "" && taken[l.initials] == 1 && (s.capitals[l.initials] || s.words[l.initials] &&
		utf8.RuneCountInString(l.initials) >= plainInitials) {
		return loreMatch{LoreHit{*l.Lore, "initials", byInitials}, len(l.initials)}
	}
	if n := s.hasAll(l.loreWords); n > 0 {
		return loreMatch{LoreHit{*l.Lore, "name", byAllWords}, n}
	}
	return loreMatch{LoreHit: LoreHit{Lore: *l.Lore}}
}

// has returns the length in bytes of a name in the question; 0 if it isn't there.
func (s askedWords) has(name calledName) int {
	phrase := name.phrase
	if phrase == "" {
		return 0
	}
	// In scripts without spaces a name may begin and end anywhere.
	for at := 0; ; {
		i := strings.Index(s.phrase[at:], phrase)
		if i < 0 {
			break
		}
		begin := at + i
		end := begin + len(phrase)
		if (name.beginsAnywhere || s.phrase[begin-1] == ' ') && (name.endsAnywhere || s.phrase[end] == ' ') {
			return len(phrase)
		}
		_, size := utf8.DecodeRuneInString(phrase)
		at = begin + size
	}
	if name.word != "" && s.joined[name.word] {
		return len(phrase)
	}
	return 0
}

// hasAll is has for a name's words in any order, if at least two aren't stop words.
func (s askedWords) hasAll(l *loreWords) int {
	if len(l.stems) < 2 {
		return 0
	}
	for _, stem := range l.stems {
		if !s.stems[stem] {
			return 0
		}
	}
	return l.length
}
