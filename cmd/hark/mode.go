package main

import (
	"strings"

	"hark/builder"
	"hark/internal/answer"
)

// modeNames are what a mode may be called on the command line, as a list to choose from.
func modeNames() string {
	var names []string
	for _, m := range builder.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// modeReason says why a question is answered in a mode.
func modeReason(m answer.Mode) string {
	switch {
	case m.By == answer.ModeAsked:
		return "as asked"
	case m.By == answer.ModeChannel:
		return "chosen for the channel or the server"
	case m.Why == "":
		return "nothing in the question speaks for another"
	case m.By == answer.ModeEarlier:
		return "of the question before it: " + oneLine(m.Why)
	}
	return oneLine(m.Why)
}
