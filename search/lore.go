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

// MaxLore bounds the lore of a result.
const MaxLore = 5

// LoreHit is lore that a question speaks of.
type LoreHit struct {
	Lore      memory.Lore
	Why       string  // "name", "alias", "initials" or "words"
	Relevance float64 // in [0, 1]: how surely it is meant; not calibrated as a message's is
}

// How surely lore is meant, by how the question speaks of it.
const (
	byName     = 0.95
	byAlias    = 0.9
	byInitials = 0.8
	byAllWords = 0.7  // of the name, in any order
	byRarest   = 0.65 // word of the name
	// byWords is for lore that holds all that the question asks for, by weight, and less for less, down to
	// leastWords of it: what holds less has a common word or two merely.
	byWords    = 0.6
	leastWords = 0.5
	// rareWord is in how many messages of a hundred a word may be that calls lore by itself, and seldom in how many
	// where there are few.
	rareWord = 1
	seldom   = 3
	// plainInitials is how many letters initials must have to count in small letters: two are a word too often.
	plainInitials = 3
)

// lore is what the question speaks of that the guilds were told, as far as whoever may read the scope may know.
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
		c := said.calls(l, taken)
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

// rarestWords are the words of what was asked that call lore by themselves, one for each of known, or "". In "Project
// Nightingale" it is the word that is said least of the two, if hardly anybody says it and no other name has it.
func (e *Engine) rarestWords(ctx context.Context, q Query, s askedWords, known []memory.Lore) ([]string, error) {
	var terms []weighted                                      // of the names that the question has a word of
	names, in := make([][2]int, len(known)), map[string]int{} // where each name's are, and in how many names each is
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
			if s.stems[t.term] && in[t.term] == 1 && t.count <= max(most, seldom) { // what was asked is counted too
				rarest[i] = t.term
			}
		}
	}
	return rarest, nil
}

// LoreIn are those of lore that whoever may read the scope may know: told in it, if in a channel, from
// sources in it, and in its time.
func LoreIn(scope memory.Scope, lore []memory.Lore) []memory.Lore {
	if len(lore) == 0 || len(scope.Channels) == 0 {
		return nil // who may read no channel is told nothing of the guild
	}
	readable := setOf(scope.Channels)
	return slices.DeleteFunc(slices.Clone(lore), func(l memory.Lore) bool {
		hidden := l.Channel != 0 && !readable[l.Channel] || slices.ContainsFunc(l.Sources, func(s memory.Spot) bool {
			return !readable[s.Channel]
		})
		return hidden || l.At.Before(scope.Since) || !scope.Until.IsZero() && !l.At.Before(scope.Until)
	})
}

// setOf has all that is in a list.
func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, one := range list {
		set[one] = true
	}
	return set
}

// held is how much of what is asked for terms hold, by weight.
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

// calling is how a question calls lore.
type loreMatch struct {
	LoreHit
	length int // of what it is called, in bytes: the more, the less else can be meant
}

func surestFirst(a, b loreMatch) int {
	return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), cmp.Compare(b.length, a.length),
		b.Lore.At.Compare(a.Lore.At), cmp.Compare(a.Lore.ID, b.Lore.ID))
}

// spoken is a question as it is looked through for names.
type askedWords struct {
	phrase   string          // its words, as phrases have them, each between spaces
	joined   map[string]bool // two words written as one
	words    map[string]bool
	capitals map[string]bool // words written in capitals
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
	for _, t := range text.QueryTerms(question) { // parts of what is written without spaces
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

// phraseOf are words as they are compared: stemmed, without articles and possessives, with a space between each two.
func phraseOf(words []string) string {
	var stems []string
	for _, w := range words {
		if !memory.IsDeterminer(w) {
			stems = append(stems, text.Stem(w))
		}
	}
	return strings.Join(stems, " ")
}

// nameOf is the phrase that a name is looked for by; empty if it is made of words merely that are in every
// other question.
func nameOf(name string) string {
	words := text.Words(name)
	if !slices.ContainsFunc(words, func(w string) bool { return !text.IsStopWord(w) }) {
		return ""
	}
	return phraseOf(words)
}

// countNames is how many of lore go by each name, initials among them.
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

// initialsOf are the initials of a name, in small letters; empty if it has none, or they are a common word.
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

// calls is how the question calls l, with no Why if it doesn't. taken are the names that lore goes by.
func (s askedWords) calls(l memory.Lore, taken map[string]int) loreMatch {
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

// has is how long a name is, in bytes, that the question has; 0 if it hasn't.
func (s askedWords) has(name string) int {
	phrase := nameOf(name)
	if phrase == "" {
		return 0
	}
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	// Where words aren't told apart by spaces a name may begin and end anywhere.
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

// hasAll is has for the words of a name in any order, if more than one of them says something.
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
