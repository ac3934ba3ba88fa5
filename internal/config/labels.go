package config

import "strings"

// Labels are the words and marks of prompts that aren't the language's own, by name.
type Labels map[string]string

// names are the builder's labels, in order.
func (Labels) names() []string {
	return []string{
		"condensed", "data", "data_mark", "day", "days", "earlier", "earlier_mark", "high", "history", "hour", "hours", "involved",
		"just_now", "last_active", "lore", "low", "medium", "minute", "minutes", "more", "more_one", "neighbour", "no_text", "nothing",
		"participants", "person", "recent", "starred",
	}
}

// languages are those that labels are there in.
var languages = []string{"en", "de", "fr", "es", "ja", "zh-TW"}

// languageOf is the one of languages that name means, or else name.
func languageOf(name string) string {
	code := strings.ReplaceAll(name, "_", "-")
	if strings.EqualFold(code, "zh-Hant") {
		return "zh-TW"
	}
	for _, l := range languages {
		if strings.EqualFold(l, code) {
			return l
		}
	}
	return name
}
