package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hark/internal/text"
	"hark/memory"
)

func newLoreIndex(list []memory.Lore) *loreIndex {
	x := &loreIndex{places: map[string][]int{}}
	var batch text.Batch
	for i := range list {
		l := &list[i]
		x.words = append(x.words, loreWordsOf(l))
		for term := range setOf(batch.Terms(l.Name + " " + strings.Join(l.Own, " ") + " " + l.Text)) {
			x.places[term] = append(x.places[term], i)
		}
	}
	return x
}

// held returns for each place the share of the question's weight that the lore contains.
func (x *loreIndex) held(q question) []float64 {
	held := make([]float64, len(x.words))
	if q.idf <= 0 {
		return held
	}
	for _, t := range q.terms {
		for _, place := range x.places[t.term] {
			held[place] += t.idf
		}
	}
	for i := range held {
		held[i] /= q.idf
	}
	return held
}

func loreWordsOf(l *memory.Lore) loreWords {
	words := loreWords{
		name:     calledBy(l.Name),
		initials: initialsOf(l.Name),
		terms:    text.QueryTerms(l.Name),
	}
	made := memory.Aliases(l.Name)
	for _, alias := range append(made[:max(0, len(made)-1)], l.Own...) {
		words.aliases = append(words.aliases, calledBy(alias))
	}
	words.phrases = []string{words.name.phrase, words.initials}
	for _, own := range l.Own {
		words.phrases = append(words.phrases, calledBy(own).phrase)
	}
	slices.Sort(words.phrases)
	words.phrases = slices.Compact(words.phrases)
	inName := text.Words(l.Name)
	words.count = len(inName)
	if first, _ := utf8.DecodeRuneInString(l.Name); text.IsUnspaced(first) {
		words.count = len(words.terms)
	}
	for _, w := range inName {
		if !text.IsStopWord(w) {
			words.stems = append(words.stems, text.Stem(w))
			words.length += len(w)
		}
	}
	return words
}

// countNames counts the lore by each name, initials included.
func countNames(lore []knownLore) map[string]int {
	taken := map[string]int{}
	for _, l := range lore {
		for _, phrase := range l.phrases {
			taken[phrase]++
		}
	}
	return taken
}

func calledBy(name string) calledName {
	words := text.Words(name)
	if !slices.ContainsFunc(words, func(w string) bool { return !text.IsStopWord(w) }) {
		return calledName{}
	}
	called := calledName{phrase: phraseOf(words)}
	if len(words) == 1 {
		called.word = words[0]
	}
	first, _ := utf8.DecodeRuneInString(called.phrase)
	last, _ := utf8.DecodeLastRuneInString(called.phrase)
	called.beginsAnywhere = text.IsUnspaced(first)
	called.endsAnywhere = text.IsUnspaced(last)
	return called
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

// knownLore is lore that the scope's readers may know, in a search.
type knownLore struct {
	*memory.Lore
	*loreWords
	held float64 // the share of the question's weight in its words
}
