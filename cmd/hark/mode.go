package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

// modeNames are what a mode may be called on the command line, as a list to choose from.
func modeNames(more ...string) string {
	names := more
	for _, m := range builder.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

func (f *flags) modeCommand() *cobra.Command {
	var at settingFlags
	c := &cobra.Command{
		Use:   "mode [MODE]",
		Short: "Choose what questions in a channel are taken for, or show it",
		Long: "Hark tells by each question what kind of work it asks for, and gives the model the instructions for that: talk (general),\n" +
			"something new (creation), what was said before (search), a change of what is there (modification), or something\n" +
			"explained, compared or judged (analysis). A mode that is chosen for a channel holds for all questions there, and in its\n" +
			"threads that have none of their own; one that is chosen for a server, in all channels that have none. \"auto\" has it told\n" +
			"by each question, \"" + answer.SettingDefault + "\" takes back what was chosen. Without MODE it is shown. It is short for \"hark settings mode\".",
		Example: "  hark mode search --channel archive\n  hark mode default --channel archive",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%q takes one mode, so what is %q?", c.CommandPath(), args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return f.settings(c, at, memory.SettingMode, strings.Join(args, ""))
		},
	}
	at.add(c)
	return c
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
