package bot

import (
	"strings"

	"hark/builder"
	"hark/search"
)

// reasonWord is a word for why something was found. One that isn't known is told as it is.
func reasonWord(l locale, kind string) string {
	switch kind {
	case "words":
		return l.text("words")
	case "around":
		return l.text("around")
	case "author":
		return l.text("author")
	case "name":
		return l.text("name")
	case "time":
		return l.text("time")
	case "answers":
		return l.text("answers")
	case "form":
		return l.text("form")
	case "meaning":
		return l.text("meaning")
	case "starred":
		return l.text("starred")
	case "reranked":
		return l.text("reranked")
	}
	return kind
}

// reasons are words for why something was found.
func reasons(l locale, why []search.Reason) string {
	said := make([]string, len(why))
	for i, r := range why {
		said[i] = reasonWord(l, r.Kind)
		if r.Detail != "" {
			said[i] += ": " + r.Detail
		}
	}
	return strings.Join(said, "; ")
}

// reasonWords are reasons of which only the kinds are known.
func reasonWords(l locale, kinds []string) string {
	said := make([]string, len(kinds))
	for i, kind := range kinds {
		said[i] = reasonWord(l, kind)
	}
	return strings.Join(said, "; ")
}

// roomWord is a word for what took the room that something would have needed in a prompt.
func roomWord(l locale, why string) string {
	switch builder.Why(why) {
	case builder.WhyCeiling:
		return l.text("ceiling")
	case builder.WhyBudget:
		return l.text("budget")
	case builder.WhyCharacters:
		return l.text("characters")
	case builder.WhyCount:
		return l.text("count")
	case builder.WhyMode:
		return l.text("mode")
	}
	return plain(why, 40)
}
