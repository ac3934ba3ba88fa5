package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// russian takes the endings off a Russian word, after M. F. Porter's stemmer
// (https://snowballstem.org/algorithms/russian/stemmer.html), and gives other words back. It is ours because accents are
// off already: "й" is "и" and "ё" is "е", in the word as in the endings below.
func russian(w string) string {
	if len(w) < 6 || strings.IndexFunc(w, func(r rune) bool { return r < 'а' || r > 'я' }) >= 0 {
		return w
	}
	first := strings.IndexAny(w, vowels)
	if first < 0 {
		return w
	}
	_, size := utf8.DecodeRuneInString(w[first:])
	head, w := w[:first+size], w[first+size:] // an ending is looked for after the first vowel
	if rest, ok := cutEnding(w, gerunds); ok {
		w = rest
	} else {
		w, _ = cutEnding(w, reflexives)
		if rest, ok := cutEnding(w, adjectives); ok {
			w, _ = cutEnding(rest, participles)
		} else if rest, ok := cutEnding(w, verbs); ok {
			w = rest
		} else {
			w, _ = cutEnding(w, nouns)
		}
	}
	w = strings.TrimSuffix(w, "и")
	if rest, ok := cutEnding(w, abstracts); ok && inSecondRegion(rest) {
		w = rest
	}
	superlative := w
	if rest, ok := cutEnding(w, superlatives); ok {
		superlative = rest
	}
	switch {
	case strings.HasSuffix(superlative, "нн"):
		w = strings.TrimSuffix(superlative, "н")
	case superlative != w:
		w = superlative
	default:
		w = strings.TrimSuffix(w, "ь")
	}
	return head + w
}

const vowels = "аеиоуыэюя"

// inSecondRegion reports whether what follows w, which follows a word's first vowel, comes after a vowel and a consonant
// yet again.
func inSecondRegion(w string) bool {
	isVowel := func(r rune) bool { return strings.ContainsRune(vowels, r) }
	isConsonant := func(r rune) bool { return !isVowel(r) }
	for _, kind := range []func(rune) bool{isConsonant, isVowel, isConsonant} {
		i := strings.IndexFunc(w, kind)
		if i < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(w[i:])
		w = w[i+size:]
	}
	return true
}

// russianEnding is an ending; afterA if it is one only after "а" or "я".
type russianEnding struct {
	text   string
	afterA bool
}

var (
	gerunds     = russianEndings("в вши вшись", "ив ивши ившись ыв ывши ывшись")
	reflexives  = russianEndings("", "ся сь")
	adjectives  = russianEndings("", "ее ие ые ое ими ыми еи ии ыи ои ем им ым ом его ого ему ому их ых ую юю ая яя ою ею")
	participles = russianEndings("ем нн вш ющ щ", "ивш ывш ующ")
	verbs       = russianEndings("ла на ете ли и л ем н ло но ет ют ны ть ешь нно",
		"ила ыла ена ите еите уите или ыли еи уи ил ыл им ым ен ило ыло ено ят ует уют ит ыт ены ить ыть ишь ую ю")
	nouns = russianEndings("", `а ев ов ие ье е иями ями ами еи ии и иеи ои иям ям ием ем ам ом о у ах иях ях ы ь ию ью ю
		ия ья я`)
	abstracts    = russianEndings("", "ост ость")
	superlatives = russianEndings("", "еиш еише")
)

// russianEndings are the endings of both lists, the longest first.
func russianEndings(afterA, always string) []russianEnding {
	var list []russianEnding
	for _, e := range strings.Fields(afterA) {
		list = append(list, russianEnding{e, true})
	}
	for _, e := range strings.Fields(always) {
		list = append(list, russianEnding{e, false})
	}
	slices.SortStableFunc(list, func(a, b russianEnding) int { return cmp.Compare(len(b.text), len(a.text)) })
	return list
}

// cutEnding takes the longest of endings that w has off it. If that one isn't allowed there, none is.
func cutEnding(w string, endings []russianEnding) (string, bool) {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(w, e.text); ok {
			if e.afterA && !strings.HasSuffix(rest, "а") && !strings.HasSuffix(rest, "я") {
				return w, false
			}
			return rest, true
		}
	}
	return w, false
}
