package builder

import (
	"fmt"
	"slices"
)

// Limits bound a section of a prompt.
type Limits struct {
	// Sections of higher Priority are served first; of equals in the order session, participants, history,
	// previous context, lore, files.
	Priority int
	// Floor and Ceiling are tokens of a prompt of 4,000 (LayoutPlain: 700) and scale with Options.MaxTokens.
	// No section gets more than its floor until all have theirs, nor more than its ceiling plus what a Mode
	// adds.
	Floor, Ceiling int
	// Modes are the modes that include the section; empty means all.
	Modes []Mode
}

// plainRecalled is the joint limit of summaries, excerpts and lore in LayoutPlain.
const plainRecalled = 300

// DefaultSections returns a layout's default limits; LayoutPlain has no participants. SectionSystem and
// SectionQuery have only ceilings: they and SectionInstruction are always included. SectionSystem may also
// use what other sections leave, unless its ceiling was changed.
func DefaultSections(layout Layout) map[SectionType]Limits {
	if layout == LayoutPlain {
		return map[SectionType]Limits{
			SectionSystem:          {Ceiling: 100},
			SectionQuery:           {Ceiling: 100},
			SectionSession:         {Priority: 3, Ceiling: 200},
			SectionHistory:         {Priority: 1, Ceiling: 300},
			SectionPreviousContext: {Floor: 90, Ceiling: 300},
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

// sharesOf returns a layout's shares with custom sections applied.
func sharesOf(layout Layout, set map[SectionType]Limits) (shares, error) {
	all := DefaultSections(layout)
	s := shares{whole: DefaultMaxTokens, together: DefaultMaxTokens}
	if layout == LayoutPlain {
		s.whole = PlainMaxTokens
		s.together = plainRecalled
	}
	s.systemMost = s.whole
	for section, limits := range set {
		if _, there := all[section]; !there {
			return shares{}, fmt.Errorf("section %q: there is none of that name whose size can be set", section)
		}
		competes := slices.Contains(sectionTypes[:], section)
		switch {
		case limits.Floor < 0 || limits.Ceiling < limits.Floor:
			return shares{}, fmt.Errorf("section %s: a floor of %d and a ceiling of %d tokens: want 0 <= floor <= ceiling",
				section, limits.Floor, limits.Ceiling)
		case int64(limits.Ceiling) > s.whole:
			return shares{}, fmt.Errorf("section %s: a ceiling of %d tokens: want at most %d, which is all of the prompt",
				section, limits.Ceiling, s.whole)
		case !competes && (limits.Floor > 0 || limits.Priority != 0 || len(limits.Modes) > 0):
			return shares{}, fmt.Errorf("section %s is always there: only its ceiling can be set", section)
		}
		for _, m := range limits.Modes {
			if !m.Known() {
				return shares{}, fmt.Errorf("section %s: there is no mode %q: want some of %q", section, m, Modes())
			}
		}
		if section == SectionSystem && limits.Ceiling != all[section].Ceiling {
			s.systemMost = int64(limits.Ceiling)
		}
		all[section] = limits
	}
	s.system = int64(all[SectionSystem].Ceiling)
	s.query = int64(all[SectionQuery].Ceiling)
	for k, section := range sectionTypes {
		limits := all[section]
		s.sections[k] = share{
			floor:    int64(limits.Floor),
			ceiling:  int64(limits.Ceiling),
			priority: limits.Priority,
			modes:    limits.Modes,
		}
		s.order[k] = kind(k)
		if kind(k).isRecalled() {
			s.together = max(s.together, s.sections[k].ceiling)
		}
	}
	slices.SortStableFunc(s.order[:], func(a, b kind) int { return s.sections[b].priority - s.sections[a].priority })
	return s, nil
}

// demand is a section's claim on a budget.
type demand struct {
	need    int64 // for all of it
	floor   int64
	ceiling int64
	raised  int64  // what the mode adds to the ceiling
	room    *int64 // joint limit with other sections; nil if none
}

// take moves up to that much from left to d, within d's limits, and returns the amount.
func (d *demand) take(more, left int64) int64 {
	more = max(0, min(more, left))
	if d.room != nil {
		more = min(more, *d.room)
		*d.room -= more
	}
	return more
}

// distribute serves demands by priority, first up to their floors, then up to their ceilings, and none beyond
// its need. It returns what is left. If floors and ceilings grow in proportion to total+c, for a constant
// c >= 0, a larger total makes no part smaller: what is left after some demands is linear in the total and
// starts at or below zero, so it grows wherever it is positive.
func distribute(total int64, order []kind, demands *[sectionKinds]demand, parts *[sectionKinds]int64) int64 {
	left := max(0, total)
	for _, k := range order {
		d := &demands[k]
		parts[k] = d.take(min(d.need, d.floor), left)
		left -= parts[k]
	}
	return serve(left, order, demands, parts, func(d *demand) int64 { return d.ceiling })
}

// serve gives each demand, by priority, up to a limit from left. It returns what remains.
func serve(left int64, order []kind, demands *[sectionKinds]demand, parts *[sectionKinds]int64,
	limit func(*demand) int64) int64 {
	for _, k := range order {
		d := &demands[k]
		more := d.take(min(d.need, limit(d))-parts[k], left)
		parts[k] += more
		left -= more
	}
	return left
}

// share is a section's floor and ceiling as parts of a whole.
type share struct {
	floor, ceiling int64
	priority       int
	modes          []Mode
}

// shares are a layout's parts of a token budget. They scale with it.
type shares struct {
	whole      int64
	system     int64 // its part before other sections get any
	systemMost int64 // its part if they leave it
	query      int64
	together   int64 // the joint part of everything recalled
	sections   [sectionKinds]share
	order      [sectionKinds]kind // by priority
}

// charShares are parts of a character budget, in thousandths. Only the history may use what others leave.
var charShares = shares{whole: 1000, sections: [sectionKinds]share{
	kindParticipants: {floor: 40, ceiling: 250},
	kindHistory:      {floor: 150, ceiling: 1000},
	kindEarlier:      {floor: 50, ceiling: 250},
	kindLore:         {floor: 50, ceiling: 250},
}}
