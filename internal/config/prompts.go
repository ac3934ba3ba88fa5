package config

import "strings"

// Sections are the limits of a prompt's sections that aren't the layout's own, by the section's name.
type Sections map[string]Limits

// names are the sections of prompts, in order.
func (Sections) names() []string {
	return []string{"current_query", "current_session", "files", "history", "lore", "participants",
		"previous_context", "system_prompt"}
}

// Limits are those of one section. What is nil is as the layout has it.
type Limits struct {
	Priority *int   `toml:"priority"`
	Floor    *int   `toml:"floor"`
	Ceiling  *int   `toml:"ceiling"`
	Modes    string `toml:"modes"` // in which it is there at all; empty: in all
}

// ModeList is the modes that are named.
func (l Limits) ModeList() []string {
	return strings.FieldsFunc(l.Modes, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkSections notes what is set of a section that has none of it: those that are always there have a ceiling only.
func (s *settings) checkSections(all Sections) {
	for _, name := range []string{"system_prompt", "current_query"} {
		l, place := all[name], "builder.sections."+name
		for key, set := range map[string]bool{"priority": l.Priority != nil, "floor": l.Floor != nil,
			"modes": l.Modes != ""} {
			s.want(!set, place+"."+key, "to be left out: the section is always there, and has a ceiling only")
		}
	}
}

// Labels are words and marks that replace the language's own, by name.
type Labels map[string]string

// names returns the names of the builder's labels, in order.
func (Labels) names() []string {
	return []string{
		"condensed", "data", "data_mark", "day", "days", "earlier", "earlier_mark", "high", "history", "hour",
		"hours", "involved", "just_now", "last_active", "lore", "low", "medium", "minute", "minutes", "more",
		"more_one", "neighbour", "no_text", "nothing", "participants", "person", "recent", "starred",
	}
}

// languages are those with labels.
var languages = []string{"en", "de", "fr", "es", "ja", "zh-TW"}

// languageOf returns the one of languages that name means, or else name.
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
