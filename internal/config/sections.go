package config

import "strings"

// Sections are the limits of a prompt's sections that aren't the layout's own, by the section's name.
type Sections map[string]*Limits

// The sections of prompts. Those that are always there have a ceiling only.
var (
	alwaysThere  = []string{"system_prompt", "current_query"}
	sectionNames = append([]string{"current_session", "participants", "history", "previous_context", "lore", "files"}, alwaysThere...)
)

func newSections() Sections {
	s := Sections{}
	for _, name := range sectionNames {
		s[name] = &Limits{}
	}
	return s
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

// IsSet reports whether anything is other than the layout has it.
func (l Limits) IsSet() bool {
	return l.Priority != nil || l.Floor != nil || l.Ceiling != nil || l.Modes != ""
}

// checkSections notes what is set of a section that has none of it.
func (s *settings) checkSections(all Sections) {
	for _, name := range alwaysThere {
		l, place := all[name], "builder.sections."+name
		for key, set := range map[string]bool{"priority": l.Priority != nil, "floor": l.Floor != nil, "modes": l.Modes != ""} {
			s.want(!set, place+"."+key, "to be left out: the section is always there, and has a ceiling only")
		}
	}
}
