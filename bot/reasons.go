package bot

import (
	"hark/builder"
	"hark/search"
)

// reasonWord is a word for why something was found. One that isn't known is told as it is.
func reasonWord(l locale, kind string) string {
	switch kind {
	case "words":
		return l.text("words")
	case "around":
		return l.text("its neighbours")
	case "author":
		return l.text("author")
	case "name":
		return l.text("name")
	case "time":
		return l.text("time")
	case "answers":
		return l.text("answers")
	case "form":
		return l.text("kind of answer")
	case "meaning":
		return l.text("meaning")
	case "starred":
		return l.text("starred")
	case "reranked":
		return l.text("reranked")
	}
	return kind
}

// reasons say in words why something was found, on a line of their own.
func reasons(l locale, why []search.Reason) string {
	said := make([]string, len(why))
	for i, r := range why {
		said[i] = reasonWord(l, r.Kind)
		if r.Detail != "" {
			said[i] += " (" + r.Detail + ")"
		}
	}
	return foundBy(l, said)
}

// reasonWords say what reasons do where only their kinds are known.
func reasonWords(l locale, kinds []string) string {
	said := make([]string, len(kinds))
	for i, kind := range kinds {
		said[i] = reasonWord(l, kind)
	}
	return foundBy(l, said)
}

func foundBy(l locale, said []string) string {
	return "\n-# " + plain(l.text("found by: %s", l.list(said)), 120)
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
