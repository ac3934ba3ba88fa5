package builder

import (
	"fmt"
	"slices"
)

// Limits are a section's part in a prompt.
type Limits struct {
	// Priority decides who is served first: sections of a higher one. Equals are served in the order of their
	// types above.
	Priority int
	// Floor and Ceiling are in tokens of a prompt of 4,000 (LayoutPlain: of 700), and grow and shrink with
	// Options.MaxTokens. Up to its floor a section is served before any has more than theirs; above its ceiling
	// it is never served, but for what a Mode adds.
	Floor, Ceiling int
	// Modes are those in which the section is there at all; none means all.
	Modes []Mode
}

// DefaultSections are the limits that a layout has by itself; LayoutPlain has no participants.
// SectionSystem's and SectionQuery's are ceilings only: these two, and SectionInstruction, are always there.
func DefaultSections(layout Layout) map[SectionType]Limits {
	if layout == LayoutPlain {
		return map[SectionType]Limits{
			SectionSystem:          {Ceiling: 100},
			SectionQuery:           {Ceiling: 100},
			SectionSession:         {Priority: 3, Ceiling: 200},
			SectionHistory:         {Priority: 1, Ceiling: 300},
			SectionPreviousContext: {Ceiling: 300},
			SectionLore:            {Ceiling: 100},
			SectionFiles:           {Priority: 4, Ceiling: 350},
		}
	}
	return map[SectionType]Limits{
		SectionSystem:          {Ceiling: 1000},
		SectionQuery:           {Ceiling: 1000},
		SectionSession:         {Priority: 3, Floor: 300, Ceiling: 1400},
		SectionParticipants:    {Priority: 2, Floor: 100, Ceiling: 500},
		SectionHistory:         {Priority: 1, Floor: 300, Ceiling: 1600},
		SectionPreviousContext: {Ceiling: 400},
		SectionLore:            {Ceiling: 400},
		SectionFiles:           {Priority: 4, Ceiling: 2000},
	}
}

// sharesOf are a layout's shares, with the sections that are set otherwise.
func sharesOf(layout Layout, set map[SectionType]Limits) (shares, error) {
	all := DefaultSections(layout)
	s := shares{whole: 4000}
	if layout == LayoutPlain {
		s.whole = 700
	}
	for section, limits := range set {
		if _, there := all[section]; !there {
			return shares{}, fmt.Errorf("section %q: there is none of that name whose size can be set", section)
		}
		competes := slices.Contains(sectionTypes[:], section)
		switch {
		case limits.Floor < 0 || limits.Ceiling < limits.Floor:
			return shares{}, fmt.Errorf("section %s: a floor of %d and a ceiling of %d tokens: want 0 <= floor <= ceiling", section, limits.Floor, limits.Ceiling)
		case int64(limits.Ceiling) > s.whole:
			return shares{}, fmt.Errorf("section %s: a ceiling of %d tokens: want at most %d, which is all of the prompt", section, limits.Ceiling, s.whole)
		case !competes && (limits.Floor > 0 || limits.Priority != 0 || len(limits.Modes) > 0):
			return shares{}, fmt.Errorf("section %s is always there: only its ceiling can be set", section)
		}
		for _, m := range limits.Modes {
			if !m.Known() {
				return shares{}, fmt.Errorf("section %s: there is no mode %q: want some of %q", section, m, Modes())
			}
		}
		all[section] = limits
	}
	s.system, s.query = int64(all[SectionSystem].Ceiling), int64(all[SectionQuery].Ceiling)
	for k, section := range sectionTypes {
		limits := all[section]
		s.sections[k] = share{floor: int64(limits.Floor), ceiling: int64(limits.Ceiling),
			priority: limits.Priority, modes: limits.Modes}
		s.order[k] = kind(k)
	}
	slices.SortStableFunc(s.order[:], func(a, b kind) int { return s.sections[b].priority - s.sections[a].priority })
	return s, nil
}
