package terminal

import (
	"cmp"
	"fmt"
	"slices"
)

// Count returns "1 summary" or "2 summaries"; "" for 0. An empty many is one with an s.
func Count(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return quantity(n, one, cmp.Or(many, one+"s"))
}

// Nonzero drops empty counts.
func Nonzero(counts ...string) []string {
	return slices.DeleteFunc(counts, func(c string) bool { return c == "" })
}

// Plural returns "1 message" or "2 messages".
func Plural(n int, noun string) string { return quantity(n, noun, noun+"s") }

func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Bytes returns a number of bytes for people: "1.5 MB".
func Bytes(bytes int64) string {
	n := float64(bytes)
	unit := "B"
	for _, larger := range []string{"KB", "MB", "GB", "TB"} {
		if n < 1000 {
			break
		}
		n = n / 1000
		unit = larger
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", n, unit)
}
