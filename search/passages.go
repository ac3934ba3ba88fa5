package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageWords is how many words are scored together at most: of a longer message the best part counts, as if it
// were a message.
const passageWords = 80

// passages appends the parts of body to cut: one if it isn't long. Each ends with a sentence if it can.
func passages(cut []string, body string) []string {
	if len(body) < 2*passageWords { // as many words take more
		return append(cut, body)
	}
	start, end := 0, 0   // of the passage, and of the last sentence in it
	words, since := 0, 0 // in the passage, and behind that sentence
	for at := 0; ; {
		word := strings.TrimLeftFunc(body[at:], unicode.IsSpace)
		if word == "" {
			return append(cut, body[start:])
		}
		begins := len(body) - len(word)
		if words == passageWords {
			if end == start {
				end, since = begins, 0
			}
			cut = append(cut, body[start:end])
			start, words = end, since
		}
		if at = begins + strings.IndexFunc(word, unicode.IsSpace); at < begins {
			at = len(body)
		}
		words, since = words+1, since+1
		if last, _ := utf8.DecodeLastRuneInString(body[:at]); strings.ContainsRune(".!?…:;", last) ||
			strings.HasPrefix(body[at:], "\n") {
			end, since = at, 0
		}
	}
}

// continues reports whether e is a passage of the same message as before.
func (e *entry) continues(before *entry) bool { return e.Message == before.Message }

// whole is where in stream the first and the last passage are of the message that has one at i.
func whole(stream []entry, i int) (first, last int) {
	first, last = i, i
	for first > 0 && stream[first].continues(&stream[first-1]) {
		first--
	}
	for last+1 < len(stream) && stream[last+1].continues(&stream[last]) {
		last++
	}
	return first, last
}
