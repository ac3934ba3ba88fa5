package builder

import "slices"

// Mode is what kind of work a question asks for. It decides which instructions the model gets, and which sections
// may have more than their ceiling where the budget has room left.
type Mode string

// The modes. Whatever isn't clearly another is ModeGeneral.
const (
	ModeGeneral      Mode = "general"
	ModeCreation     Mode = "creation"     // something new is to be made
	ModeSearch       Mode = "search"       // something said or decided before is looked for
	ModeModification Mode = "modification" // something that is there is to be changed
	ModeAnalysis     Mode = "analysis"     // something is to be explained, compared, judged or summarised
)

// Modes are all modes, ModeGeneral first.
func Modes() []Mode {
	return []Mode{ModeGeneral, ModeCreation, ModeSearch, ModeModification, ModeAnalysis}
}

// Known reports whether m is one of Modes.
func (m Mode) Known() bool { return slices.Contains(Modes(), m) }

// raised are the sections that a mode gives more room than ModeGeneral does, in thousandths of their ceilings. They
// get it of what all sections have left, so that no section of any mode has less than ModeGeneral would give it.
var raised = map[Mode][sectionKinds]int64{
	ModeSearch:       {kindHistory: 375},
	ModeCreation:     {kindLore: 1000, kindEarlier: 500},
	ModeModification: {kindSession: 600},
	ModeAnalysis:     {kindHistory: 200, kindSession: 300},
}
