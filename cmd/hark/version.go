package main

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/licences"
)

func versionCommand() *cobra.Command {
	terms := false
	c := &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and date, or licences",
		Args:  cli.NoArguments,
		Run: func(c *cobra.Command, _ []string) {
			if terms {
				fmt.Fprint(c.OutOrStdout(), licences.Text)
				return
			}
			fmt.Fprintln(c.OutOrStdout(), "hark", buildInfo())
		},
	}
	c.Flags().BoolVar(&terms, "licences", false, "print the licences of Hark and of all that is part of it")
	return c
}

// build is what Go stamped into the binary.
type build struct {
	version string    // v1.2.3, or made of the commit
	commit  string    // twelve digits; "" if built without Git
	at      time.Time // the commit's
}

var buildInfo = sync.OnceValue(func() build {
	b := build{version: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.at, _ = time.Parse(time.RFC3339, s.Value)
		}
	}
	return b
})

func (b build) String() string {
	if b.commit == "" {
		return b.version
	}
	return fmt.Sprintf("%s (commit %s, %s)", b.version, b.commit, b.at.Format(time.DateOnly))
}
