package main

import (
	"fmt"
	"slices"

	"hark/builder"
	"hark/internal/config"
)

// sections are the limits of a prompt's sections: the layout's, but for those that the operator has set.
func sections(c config.Builder) (map[builder.SectionType]builder.Limits, error) {
	layout := builder.Layout(c.Layout)
	all := builder.DefaultSections(layout)
	for name, set := range c.Sections {
		section := builder.SectionType(name)
		if set == (config.Limits{}) {
			continue
		}
		limits, there := all[section]
		if !there {
			return nil, fmt.Errorf("builder.sections.%s: the layout %q has no such section", section, layout)
		}
		for to, value := range map[*int]*int{&limits.Priority: set.Priority, &limits.Floor: set.Floor, &limits.Ceiling: set.Ceiling} {
			if value != nil {
				*to = *value
			}
		}
		limits.Modes = nil
		for _, name := range set.ModeList() {
			if mode := builder.Mode(name); !mode.Known() {
				return nil, fmt.Errorf("builder.sections.%s.modes: there is no mode %q: want some of %q", section, name, builder.Modes())
			} else if !slices.Contains(limits.Modes, mode) {
				limits.Modes = append(limits.Modes, mode)
			}
		}
		all[section] = limits
	}
	return all, nil
}
