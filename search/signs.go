package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hark/internal/pattern"
	"hark/internal/text"
)

// form is the kind of answer that an English question asks for.
type form uint8

const (
	asksAnything form = iota
	asksTime
	asksNumber
	asksName // of a thing or place
	asksReason
)

// formOf returns the form of a question.
func formOf(question string) form {
	words := text.Words(question)
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "when", (w == "what" || w == "which") && timeAsked[next]:
			return asksTime
		case w == "how" && numberAsked[next]:
			return asksNumber
		case w == "where", (w == "what" || w == "which") && nameAsked[next]:
			return asksName
		case w == "why":
			return asksReason
		}
	}
	return asksAnything
}

var (
	timeAsked   = text.SetOf("year month date day time")
	numberAsked = text.SetOf("many much old often long far")
	nameAsked   = text.SetOf(`city country state place town location restaurant cities countries places book movie
		song band game show brand artist author breed instrument company series film sport`)
)

// subjects returns the terms that a question is about: the words after an article, "which" or a possessive up to the
// next stop word, and the last word.
func subjects(question string) map[string]bool {
	terms := map[string]bool{}
	var last []string
	is := false
	for w := range strings.FieldsSeq(strings.ToLower(question)) {
		bare := strings.TrimFunc(w, unicode.IsPunct)
		own := text.QueryTerms(w)
		switch {
		case articles[bare]:
			is = true
			continue
		case len(own) > 0:
			last = own
		}
		is = is && len(own) > 0
		for _, t := range own {
			terms[t] = terms[t] || is
		}
		is = is && !strings.ContainsAny(w[len(w)-1:], ",.;:") || strings.HasSuffix(bare, "'s") ||
			strings.HasSuffix(bare, "’s")
	}
	for _, t := range last {
		terms[t] = true
	}
	return terms
}

var articles = text.SetOf(`a an the which what whose many much my your his her our their some any this that these those
	ein eine einen der die das den dem le la les un une el los las una`)

// signs are what a message contains.
type signs struct {
	asks                       bool // a question mark
	self                       bool // words about its author
	time, number, name, reason bool
}

// signsOf returns a message's signs, by English words; without all, only asks.
func signsOf(s string, all bool) (of signs) {
	of.asks = strings.Contains(s, "?") || strings.Contains(s, "？")
	if !all {
		return of
	}
	last := ""
	lastEnd := 0
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !isLetter(r) {
			at += size
			continue
		}
		end := at
		hasDigit := false
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !isLetter(r) && r != '\'' && r != '’' {
				break
			}
			hasDigit = hasDigit || '0' <= r && r <= '9'
			end += size
		}
		word := s[at:end]
		lower := strings.ToLower(word)
		of.number = of.number || hasDigit
		of.time = of.time || hasDigit && (isYear(lower) || isOrdinal(lower))
		of.read(word, lower, last, s[lastEnd:at])
		last = lower
		lastEnd = end
		at = end
	}
	return of
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// read adds a word, given the word before and the text between them.
func (of *signs) read(word, lower, before, between string) {
	says := signWords[lower]
	of.self = of.self || says&firstPerson != 0
	of.time = of.time || says&timeWord != 0
	of.number = of.number || says&numberWord != 0
	of.name = of.name || isName(word) && inSentence(between) && endsLower(before)
	of.reason = of.reason || says&reasonWord != 0 || before == "to" && says&purpose != 0 || before == "so" &&
		lower == "that"
}

// Words by sign.
const (
	firstPerson = 1 << iota
	timeWord
	numberWord
	reasonWord
	purpose
)

var signWords = func() map[string]uint8 {
	says := map[string]uint8{}
	for sign, words := range map[uint8]string{
		firstPerson: "i i'm i've i'd i'll me my mine we we're we've our us",
		timeWord: `yesterday today tonight tomorrow last next ago since week weeks weekend month months year years morning
			recently monday tuesday wednesday thursday friday saturday sunday
			jan feb mar apr jun jul aug sep sept oct nov dec ` + strings.Join(months[:], " "),
		numberWord: `one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty
			hundred thousand once twice couple few several half`,
		reasonWord: "because cause cuz since reason due",
		purpose:    "help get make be have keep raise show",
	} {
		for w := range strings.FieldsSeq(words) {
			says[w] |= sign
		}
	}
	return says
}()

// timeTerms are the terms of words of time.
var timeTerms = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for w, says := range signWords {
		for _, t := range text.QueryTerms(w) {
			terms[t] = terms[t] || says&timeWord != 0
		}
	}
	return terms
})

func isYear(w string) bool {
	return len(w) == 4 && (w[:2] == "19" || w[:2] == "20") && strings.Trim(w, "0123456789") == ""
}

// isOrdinal reports whether w is like 1st or 23rd.
func isOrdinal(w string) bool {
	rest := strings.TrimLeft(w, "0123456789")
	return len(rest) < len(w) && (rest == "st" || rest == "nd" || rest == "rd" || rest == "th")
}

// isName reports whether a word is capitalised like a name.
func isName(w string) bool {
	r, size := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(r) && len(w) >= size+2 && strings.ToLower(w[size:]) == w[size:]
}

// inSentence reports whether the text between two words doesn't end a sentence.
func inSentence(between string) bool { return !strings.ContainsAny(between, ".!?:\n") }

func endsLower(w string) bool {
	r, _ := utf8.DecodeLastRuneInString(w)
	return unicode.IsLower(r)
}

// alike returns the common prefix of two terms as a share of their lengths; 0 if it is short. It finds words of one
// stem that the stemmer keeps apart.
func alike(a, b string) float64 {
	const least, share = 4, 0.66
	same := 0
	bytes := 0
	for bytes < len(a) {
		_, size := utf8.DecodeRuneInString(a[bytes:])
		if !strings.HasPrefix(b[bytes:], a[bytes:bytes+size]) {
			break
		}
		same = same + 1
		bytes = bytes + size
	}
	rest := utf8.RuneCountInString(a[bytes:]) + utf8.RuneCountInString(b[bytes:])
	if l := 2 * float64(same) / float64(2*same+rest); same >= least && l >= share || a == b {
		return l
	}
	return 0
}

var (
	months = [...]string{"january", "february", "march", "april", "may", "june", "july", "august",
		"september", "october", "november", "december"}
	isoDate  = pattern.Of(`\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:\b|t)`)
	dotDate  = pattern.Of(`(?:^|[^\p{L}\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}))?(?:[^\d]|$)`)
	mayVerb  = pattern.Of(`\bmay\s+(?:be|have|not|also|still|only|need|want|come|go|get|take|make|help|work)\b`)
	dayMonth = pattern.Of(`\b(\d{1,2})(?:st|nd|rd|th|\.)?(?:\s+of)?\s+(` + monthNames +
		`)\b\.?(?:,?\s+(\d{4}))?`)
	monthDay = pattern.Of(`\b(` + monthNames + `)\b\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(\d{4})\b)?`)
	yearOnly = pattern.Of(
		`\b(?:in|of|during|since|before|after|until|early|late|from|between|and|to)\s+((?:19|20)\d{2})\b`)
)

const monthNames = `january|february|march|april|may|june|july|august|september|october|november|december|` +
	`jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec`
