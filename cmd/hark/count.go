package main

import (
	"cmp"
	"fmt"
)

// count is a number of things, with what one is called, and what several are if not one with an s.
type count struct {
	N         int
	One, Many string
}

// there are those of all that aren't 0, each as "1 message" or "2 messages".
func there(all ...count) (some []string) {
	for _, c := range all {
		if c.N > 0 {
			some = append(some, counted(c.N, c.One, cmp.Or(c.Many, c.One+"s")))
		}
	}
	return some
}

// plural is "1 message" or "2 messages".
func plural(n int, noun string) string { return counted(n, noun, noun+"s") }

// counted is "1 summary" or "2 summaries".
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// size is a number of bytes as people read it.
func size(bytes int64) string {
	n, unit := float64(bytes), "B"
	for _, larger := range []string{"KB", "MB", "GB", "TB"} {
		if n < 1000 {
			break
		}
		n, unit = n/1000, larger
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", n, unit)
}
