package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageWords is the most words of a passage. A longer message counts as its best passage.
const passageWords = 80

// passages appends the passages of body to cut, split at the end of a sentence where possible.
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
	start := 0
	end := 0 // start of the passage, and end of its last whole sentence
	words := 0
	since := 0 // in the passage, and after that sentence
	for at := 0; ; {
		word := strings.TrimLeftFunc(body[at:], unicode.IsSpace)
		if word == "" {
			return append(cut, body[start:])
		}
		begins := len(body) - len(word)
		if words == passageWords {
			if end == start {
				end = begins
				since = 0
			}
			cut = append(cut, body[start:end])
			start = end
			words = since
		}
		at = begins + strings.IndexFunc(word, unicode.IsSpace)
		if at < begins {
			at = len(body)
		}
		words = words + 1
		since = since + 1
		if last, _ := utf8.DecodeLastRuneInString(body[:at]); strings.ContainsRune(".!?…:;", last) ||
			strings.HasPrefix(body[at:], "\n") {
			end = at
			since = 0
		}
	}
}

// isSameMessage reports whether e is a passage of the same message as before.
func (e *entry) isSameMessage(before *entry) bool { return e.Message == before.Message }

// opening returns the index of the first passage of the message at i.
func opening(stream []entry, i int) int {
	for i > 0 && stream[i].isSameMessage(&stream[i-1]) {
		i--
	}
	return i
}
