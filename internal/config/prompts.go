package config

import "strings"

// Sections are limits that replace the layout's own, by the section's name.
type Sections map[string]Limits

func (Sections) names() []string {
	return []string{"current_query", "current_session", "files", "history", "lore", "participants",
		"previous_context", "system_prompt"}
}

// Limits are those of one section. Nil fields are as in the layout.
type Limits struct {
	Priority *int   `toml:"priority"`
	Floor    *int   `toml:"floor"`
	Ceiling  *int   `toml:"ceiling"`
	Modes    string `toml:"modes"` // that have the section; empty: all
}

// ModeList returns the names in Modes.
func (l Limits) ModeList() []string {
	return strings.FieldsFunc(l.Modes, func(r rune) bool { return r == ',' || r == ' ' })
}

// Labels are words and marks that replace the language's own, by name.
type Labels map[string]string

func (Labels) names() []string {
	return []string{
		"condensed", "data", "data_mark", "day", "days", "earlier", "earlier_mark", "high", "history", "hour",
		"hours", "involved", "just_now", "last_active", "lore", "low", "medium", "minute", "minutes", "more",
		"more_one", "neighbour", "no_text", "nothing", "participants", "person", "recent", "starred",
	}
}

var languages = []string{"en", "de", "fr", "es", "ja", "zh-TW"}

// languageOf returns the language that name means, or name if unknown.
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
