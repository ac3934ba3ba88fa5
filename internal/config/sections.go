package config

import "strings"

// Sections are the limits of a prompt's sections that aren't the layout's own.
type Sections struct {
	System   Ceiling `toml:"system_prompt" help:"The instructions and the persona: ceiling 1000 (plain: 100). They, the query and the last line are always there."`
	Query    Ceiling `toml:"current_query" help:"The question: ceiling 1000 (plain: 100). A longer one is cut in its middle."`
	Session  Limits  `toml:"current_session" help:"The conversation going on: priority 3, floor 300, ceiling 1400 (plain: 0 and 200)."`
	People   Limits  `toml:"participants" help:"Who takes part: priority 2, floor 100, ceiling 500. The layout plain has none."`
	History  Limits  `toml:"history" help:"What was recalled: priority 1, floor 300, ceiling 1600 (plain: 0 and 300)."`
	Previous Limits  `toml:"previous_context" help:"The summaries of earlier sessions: priority 0, floor 0, ceiling 400 (plain: 300)."`
	Lore     Limits  `toml:"lore" help:"What the server told Hark to remember: priority 0, floor 0, ceiling 400 (plain: 100)."`
	Files    Limits  `toml:"files" help:"The files that came with the question, and the images: priority 4, floor 0, ceiling 2000 (plain: 0 and 350)."`
}

// Limits are those of one section. What is nil is as the layout has it.
type Limits struct {
	Priority *int   `toml:"priority" help:"Sections with a higher one are served first." example:"1"`
	Floor    *int   `toml:"floor" help:"What the section may have before any other has more than its floor." example:"0"`
	Ceiling  *int   `toml:"ceiling" help:"The most that it may have. 0: it is left out." example:"400"`
	Modes    string `toml:"modes" help:"The modes in which it is there at all, such as \"search, analysis\". Empty: in all."`
}

// Ceiling is that of a section which is always there. Nil is as the layout has it.
type Ceiling struct {
	Ceiling *int `toml:"ceiling" help:"The most that it may have." example:"1000"`
}

// ModeList is the modes that are named.
func (l Limits) ModeList() []string {
	return strings.FieldsFunc(l.Modes, func(r rune) bool { return r == ',' || r == ' ' })
}

// IsSet reports whether anything is other than the layout has it.
func (l Limits) IsSet() bool {
	return l.Priority != nil || l.Floor != nil || l.Ceiling != nil || l.Modes != ""
}
