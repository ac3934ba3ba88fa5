package stream

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// What counts as a text that repeats itself without end. A list, a table, a rule of dashes or a long laugh is shorter:
// Discord's messages have 2,000 characters, and nobody wants one that is all the same. Lines that are numbered differ.
const (
	leastRun     = 2000     // characters of the repetitions together
	leastRounds  = 6        // repetitions
	longestRound = 1000     // bytes of one of them
	lookedAt     = 12 << 10 // bytes at a text's end: as many as the longest runs have, and some more
	lookEvery    = 512      // bytes between two looks
)

// errRepeats ends a stream whose text repeats itself without end. What came is the answer, as if its length had cut it.
var errRepeats = errors.New("the model repeats itself")

// repeats watches a text for its end repeating itself. When it looks doesn't depend on where the text is cut into
// pieces.
type repeats struct {
	tail string // the last of the text
	next int    // bytes until the next look
}

// write takes a piece of the text, and returns how much of it came before the text was found to repeat itself.
func (r *repeats) write(piece string) (taken int, found bool) {
	for taken < len(piece) {
		n := untilLook(piece[taken:], r.next)
		r.tail += piece[taken : taken+n]
		r.next -= n
		taken += n
		if r.next > 0 {
			continue
		}
		r.next = lookEvery
		r.tail = r.tail[max(0, len(r.tail)-lookedAt):]
		if runAtEnd(r.tail, leastRun).round > 0 {
			return taken, true
		}
	}
	return taken, false
}

// untilLook returns how many bytes there are up to a look that is due after next bytes, or later at the end of
// a character.
func untilLook(piece string, next int) int {
	if len(piece) <= next {
		return len(piece)
	}
	n := max(next, 0)
	for n < len(piece) && !utf8.RuneStart(piece[n]) {
		n++
	}
	return n
}

// run is a part at a text's end that is the same again and again.
type run struct {
	round  int // bytes of what repeats itself; 0: nothing does
	length int // bytes of all rounds
}

// runAtEnd returns the run of the shortest round that text ends with at least leastRounds times, and for at least so
// many characters. A line may end with a shorter run of its own.
func runAtEnd(text string, characters int) run {
	same := sameEnds(text)
	for round := 1; round <= min(longestRound, len(text)/leastRounds); round++ {
		length := round + same[round]
		for length > 0 && !utf8.RuneStart(text[len(text)-length]) {
			length-- // it begins amid a character
		}
		if length < max(leastRounds*round, characters) {
			continue
		}
		if utf8.RuneCountInString(text[len(text)-length:]) >= characters {
			return run{
				round:  round,
				length: length,
			}
		}
	}
	return run{}
}

// sameEnds returns for each n how many bytes the text's end has in common with that of the text without its last
// n bytes. It is the Z function, from behind, and takes time in proportion to text.
func sameEnds(text string) []int {
	last := len(text) - 1
	same := make([]int, len(text))
	from := 0
	to := 0
	for n := 1; n < len(text); n++ {
		if n < to {
			same[n] = min(to-n, same[n-from])
		}
		for n+same[n] < len(text) && text[last-same[n]] == text[last-n-same[n]] {
			same[n]++
		}
		if n+same[n] > to {
			from = n
			to = n + same[n]
		}
	}
	return same
}

// withoutRepeats returns what is shown of a text that was found to repeat itself: one repetition. Marks aren't shown,
// so the run may be shorter there.
func withoutRepeats(shown string) string {
	tail := shown[max(0, len(shown)-lookedAt):]
	found := runAtEnd(tail, leastRun/2)
	if found.round == 0 {
		return shown
	}
	start := len(shown) - found.length
	return shown[:start+found.firstEnd(shown[start:])]
}

// firstEnd returns where the first round of a run ends: as a line does or, without lines, a word. What came before the
// run may have had the same end.
func (r run) firstEnd(said string) int {
	for _, ending := range []string{"\n", " "} {
		at := strings.Index(said[r.round-1:2*r.round], ending)
		if at >= 0 {
			return r.round + at
		}
	}
	return r.round
}
