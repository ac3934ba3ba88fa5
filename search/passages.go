package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageWords is how many words are scored together at most: of a longer message the best part counts, as if it were a
// message.
const passageWords = 80

// passages appends the parts of body to cut. What isn't long is one part. A part ends where a sentence does, if it can.
func passages(cut []string, body string) []string {
	gaps := 0 // bytes that may stand between words
	for i := range len(body) {
		if body[i] <= ' ' || body[i] >= utf8.RuneSelf {
			gaps++
		}
	}
	if gaps < passageWords {
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
func (e *entry) isSameMessage(before *entry) bool { return e.Message == before.Message }

// opening is where in stream the first passage is of the message that has one at i.
func opening(stream []entry, i int) int {
	for i > 0 && stream[i].isSameMessage(&stream[i-1]) {
		i--
	}
	return i
}
