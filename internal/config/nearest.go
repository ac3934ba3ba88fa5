package config

import "strings"

// Near returns the word of known that differs from word by a slip of the fingers.
func Near(word string, known []string) (near string, ok bool) {
	least := 0
	for _, k := range known {
		if d := distance(word, k); near == "" || d < least {
			near, least = k, d
		}
	}
	return near, near != "" && least <= max(1, len(word)/3)
}

// nearest returns the known key that was most likely meant: the same name in another section, else a similar name in
// the same section.
func nearest(key string, known []string) string {
	const another = 2 // the distance of another section
	best, least := "", 0
	for _, k := range known {
		d := distance(key, k)
		if last(key) == last(k) {
			d = 0
		} else if key[:len(key)-len(last(key))] != k[:len(k)-len(last(k))] {
			d += another
		}
		if best == "" || d < least {
			best, least = k, d
		}
	}
	return best
}

func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// distance returns the edit distance of a and b, with swaps of neighbours.
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
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
