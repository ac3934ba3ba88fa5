package text

import (
	"regexp"
	"slices"
	"strings"
)

// atHark is how Hark is spoken to where Discord makes no mention of it.
var atHark = regexp.MustCompile(`(?i)(^|[^\w@])@hark\b`)

// SpeaksToHark reports whether s has "@hark" in it.
func SpeaksToHark(s string) bool { return atHark.MatchString(s) }

// WithoutHark is s without "@hark".
func WithoutHark(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	return atHark.ReplaceAllString(s, "$1")
}

// interrogatives are words that a question begins with.
var interrogatives = strings.Fields(
	"who whom whose what when where why which how is are was were do does did can could will would should has have")

// Asks reports whether s looks like a question: by its mark in any language, by its first word in English.
func Asks(s string) bool {
	if strings.ContainsAny(s, "?？؟") {
		return true
	}
	words := Words(WithoutHark(s))
	return len(words) > 0 && slices.Contains(interrogatives, words[0])
}
