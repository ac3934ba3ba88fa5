package builder

import "regexp"

// The modes. A question that isn't clearly of another is ModeGeneral.
const (
	ModeGeneral      Mode = "general"
	ModeCreation     Mode = "creation"     // make something new
	ModeSearch       Mode = "search"       // find something said or decided earlier
	ModeModification Mode = "modification" // change something that exists
	ModeAnalysis     Mode = "analysis"     // explain, compare, judge or summarise
)

// cue is a pattern that speaks for a mode. A weight of 2 or more suffices alone.
type cue struct {
	mode    Mode
	weight  int
	pattern *regexp.Regexp
}

// Mode is the kind of work that a question asks for. It decides the instructions, and which sections may
// exceed their ceiling if the budget has room left.
type Mode string
