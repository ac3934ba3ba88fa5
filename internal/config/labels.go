package config

import "strings"

// Labels are the words and marks of prompts that aren't the language's own, by name; nil: the language's.
type Labels map[string]*string

// labelNames are the builder's labels.
var labelNames = []string{
	"participants", "person", "last_active", "just_now", "minute", "minutes", "hour", "hours", "day", "days",
	"data_mark", "data", "history", "high", "medium", "low", "involved", "recent", "starred", "neighbour",
	"no_text", "more", "more_one", "earlier", "earlier_mark", "condensed", "lore", "nothing",
}

func newLabels() Labels {
	l := Labels{}
	for _, name := range labelNames {
		l[name] = new(string)
	}
	return l
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
