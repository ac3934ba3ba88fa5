package search

import (
	"slices"
	"strings"
	"unicode"

	"hark/internal/text"
	"hark/memory"
)

// entry is a fetched message, or a passage of a long one, with its terms counted.
type entry struct {
	*memory.Message
	passage string
	from    int       // byte offset of the passage in the message
	counts  []float64 // by term of the question
	like    []float64 // by term of the question: the most similar term's similarity, in [0, 1]
	pairs   float64   // share of the question's term pairs
	length  float64   // terms
	words   int
	signs   signs
	names   namedSet // people named in both the question and it
	by      namedSet // its author, if the question names them
	follows bool     // in the same session as the entry before it
}

// pool holds the candidates.
type pool struct {
	wanted     map[memory.MessageRef]int // neighbours to fetch on each side
	similarity map[memory.MessageID]float64
	skip       map[memory.MessageID]bool
	streams    map[memory.ChannelID][]entry
	most       [len(relative)]float64 // maxima of the relative features
}

func newPool(q Query) *pool {
	return &pool{
		wanted:     map[memory.MessageRef]int{},
		similarity: map[memory.MessageID]float64{},
		skip:       setOf(q.Skip),
		streams:    map[memory.ChannelID][]entry{},
	}
}

// want requests a message with its neighbours, unless it is requested already.
func (p *pool) want(channel memory.ChannelID, id memory.MessageID, reach int) {
	spot := memory.MessageRef{Channel: channel, Message: id}
	if _, known := p.wanted[spot]; !known {
		p.wanted[spot] = reach
	}
}

// relative features are shares of the maximum over all messages, because the height of a good match depends on the
// question. The maximum counts as at least leastMost, so that the best of bad matches isn't a full match.
var relative = [...]feature{featureFar, featureLike}

const (
	featureFar        feature = iota // BM25 of it and eight neighbours on each side, as a share of the maximum
	featureCovered                   // share of the question's IDF that is found there
	featureLike                      // share of the IDF in it, by words that begin alike, as a share of the maximum
	featureLikeNear                  // the same, for it and three neighbours on each side
	featurePairs                     // share of the question's term pairs that it contains
	featureAuthor                    // its author is named in the question
	featureSelf                      // that, and it speaks of its author
	featureSubject                   // its author is the first of several named
	featureSpokenOf                  // another author, and it mentions somebody named in the question
	featureSpokenNear                // share of those named who speak or are named within eight messages
	featureWeek                      // 1 at the date asked for, falling to 1/e within a week
	featureDateSaid                  // it mentions a date asked for
	featureEvent                     // it lies before or after the event, as asked, if that is known
	featureLength                    // logarithm of its words, 1 from 30 on
	featureAnswers                   // BM25 of the preceding message, if that is another person's question
	featureMeaning                   // similarity of its segment's vector, if among the nearest
	featureTime                      // asks for a time, and it has one
	featureNumber                    // asks for a number, and it has one
	featureName                      // asks for a name, and it has one
	featureReason                    // asks for a reason, and it gives one
	featureCount
)

// normalised returns s in lower case, with single spaces and without final periods.
func normalised(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(s)), " "), ".!… ")
}

// feature is the index of a feature. Values lie in [0, 1], except that featureAnswers is at most k1 + 1. BM25 is
// divided by the summed IDF of the question's terms, so that questions compare. A long message has the values of
// its best passage.
type feature int

const (
	textCandidates   = 120  // messages from full text
	starCandidates   = 40   // starred messages, the newest
	vectorCandidates = 20   // segments from the vector index
	neighbours       = 8    // messages scored before and after one of the best candidates
	fullNeighbours   = 50   // full-text candidates with that many neighbours
	fewNeighbours    = 2    // neighbours of the other candidates
	maxMatches       = 3000 // matching messages after which full text leaves out further terms
	leastTerms       = 3    // terms that full text always searches, the rarest
	fewChannels      = 8    // most channels of a scope whose latest messages are candidates too
)

// seenTexts recognises texts that were already shown.
type seenTexts struct {
	exact map[string]bool
	long  []wordSet
}

// add reports whether a text is new: it differs from each earlier text by more than a few words, or in a
// number.
func (s *seenTexts) add(normal string) bool {
	if s.exact[normal] {
		return false
	}
	words := wordsOf(normal)
	if len(words) >= minCompared {
		if slices.ContainsFunc(s.long, words.isNearDuplicate) {
			return false
		}
		s.long = append(s.long, words)
	}
	if s.exact == nil {
		s.exact = map[string]bool{}
	}
	s.exact[normal] = true
	return true
}

// BM25's parameters, and the average lengths in terms of a message and of a neighbourhood.
const (
	k1            = 1.2
	b             = 0.75
	averageLength = 10.0
	// longTerms caps a message's length in terms. A fact in a long message is as good as in a short one, and its
	// neighbours must not outrank it by its words.
	longTerms = 15.0
	longText  = 60 // words: a longer text needs no neighbours
)

// reasons are the features shown to people, by their kind.
var reasons = []struct {
	kind     string
	features []feature
}{
	{"words", []feature{featureLike, featurePairs}},
	{"around", []feature{featureFar, featureCovered, featureLikeNear}},
	{"author", []feature{featureAuthor, featureSelf, featureSubject}},
	{"name", []feature{featureSpokenOf, featureSpokenNear}},
	{"time", []feature{featureWeek, featureDateSaid, featureEvent}},
	{"answers", []feature{featureAnswers}},
	{"form", []feature{featureTime, featureNumber, featureName, featureReason}},
	{"meaning", []feature{featureMeaning}},
}

// wordSet holds the distinct words of a text, sorted.
type wordSet []string

const (
	minCompared   = 12  // words; in shorter texts every word matters
	nearDuplicate = 0.9 // share of words in common
)

// isNearDuplicate reports whether two texts differ in few words, none of which changes the meaning, such as a
// number or "not".
func (a wordSet) isNearDuplicate(b wordSet) bool {
	if float64(min(len(a), len(b))) < nearDuplicate*float64(max(len(a), len(b))) {
		return false
	}
	all := len(a) + len(b)
	differ := 0
	for len(a) > 0 || len(b) > 0 {
		var word string
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			word = a[0]
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			word = b[0]
			b = b[1:]
		default:
			a = a[1:]
			b = b[1:]
			continue
		}
		differ++
		if float64(all-differ) < nearDuplicate*float64(all+differ) || changesMeaning(word) {
			return false
		}
	}
	return true
}

func wordsOf(s string) wordSet {
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.M, r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

func changesMeaning(word string) bool {
	return negating[word] || strings.ContainsFunc(word, unicode.IsNumber)
}

// negating are words that change the meaning of a text. "Don't" is "don" and "t" here.
var negating = text.SetOf(`no not never none nobody nothing neither nor without t cannot cancelled canceled
	nicht kein keine nie pas jamais aucun nunca jamás ni sin`)
