package config

import (
	"slices"
	"strconv"
	"strings"
)

// Near returns the word of known that differs from word by a slip of the fingers.
func Near(word string, known []string) (near string, ok bool) {
	least := 0
	for _, k := range known {
		if d := distance(word, k); near == "" || d < least {
			near = k
			least = d
		}
	}
	return near, near != "" && least <= max(1, len(word)/3)
}

// nearest returns the known key that was most likely meant: one with the same or a similar name, first in the same
// section. ok is false if none is near enough to be worth asking about.
func nearest(key string, known []string) (near string, ok bool) {
	const another = 2 // the distance of another section
	least := 0
	for _, k := range known {
		d, similar := unlike(last(key), last(k))
		if !similar {
			continue
		}
		elsewhere := sectionOf(key) != sectionOf(k)
		if elsewhere && d > 0 && !holdsWords(last(key), last(k)) {
			continue // a slip of the fingers isn't in another section as well
		}
		if elsewhere && d > 0 {
			d += another
		}
		if near == "" || d < least {
			near = k
			least = d
		}
	}
	return near, near != ""
}

// unlike returns how far a written name is from a known one; similar is false if it is too far to be that.
func unlike(written, known string) (d int, similar bool) {
	if plain(written) == plain(known) {
		return 0, true
	}
	if holdsWords(written, known) || isBeginning(written, known) {
		return 1, true
	}
	d = distance(written, known)
	return d, d <= max(1, len(written)/3)
}

// plain returns a name without what people write in different ways.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", `"`, "").Replace(strings.ToLower(name))
}

// holdsWords reports whether a written name has all words of a known one: bot_token has that of token.
func holdsWords(written, known string) bool {
	isSign := func(r rune) bool { return r == '_' || r == '-' }
	words := strings.FieldsFunc(strings.ToLower(written), isSign)
	for word := range strings.FieldsFuncSeq(known, isSign) {
		if !slices.Contains(words, word) {
			return false
		}
	}
	return true
}

// isBeginning reports whether a known name goes on from a written one: embed begins embedding.
func isBeginning(written, known string) bool {
	return len(written) > 1 && strings.HasPrefix(known, strings.ToLower(written))
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// sectionOf returns the section of a key; "" if it is in none.
func sectionOf(key string) string { return key[:max(0, strings.LastIndexByte(key, '.'))] }

// distance returns the edit distance of a and b, with swaps of neighbours.
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	next := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// meant asks for the text of known that somebody probably meant who wrote value; "" if none is near.
func meant(value string, known []string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	near, ok := Near(value, known)
	if slices.Contains(nothings, value) && slices.Contains(known, "off") {
		near = "off"
		ok = true
	}
	if !ok {
		return ""
	}
	return "; did you mean " + strconv.Quote(near) + "?"
}

// nothings are what people write for "off".
var nothings = []string{"none", "no", "false", "never", "disabled", "0"}
