package config

import "strings"

// Near is the word of known that word was most likely meant to be, if it differs by a slip of the fingers only.
func Near(word string, known []string) (near string, ok bool) {
	least := 0
	for _, k := range known {
		if d := distance(word, k); near == "" || d < least {
			near, least = k, d
		}
	}
	return near, near != "" && least <= max(1, len(word)/3)
}

// nearest is the known key that key was most likely meant to be: one that is right but for its section goes
// before all others, and one of the same section before one of another.
func nearest(key string, known []string) string {
	const another = 2 // letters that a wrong section counts for
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

// distance counts the letters to insert, remove, change or swap with their neighbour that make b of a.
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
