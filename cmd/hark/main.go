// Command hark is a Discord bot with a long memory. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // the image has no time zones of its own

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := &terminal.Interrupts{}
	ctx = interrupts.Watch(ctx)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := environment{
		stdin:      os.Stdin,
		stdout:     os.Stdout,
		stderr:     os.Stderr,
		lookup:     os.LookupEnv,
		environ:    os.Environ,
		interrupts: interrupts,
	}
	os.Exit(run(ctx, env, os.Args[1:]))
}

// run runs one command and returns the exit code: 0, 1 with a sentence on stderr, or 130 when interrupted.
func run(ctx context.Context, env environment, args []string) int {
	root := newRoot(&env)
	root.SetArgs(args)
	out := &output{Writer: env.stdout}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.failed
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil, errors.Is(err, terminal.ErrUnwritten):
		fmt.Fprintln(env.stderr, "hark:", terminal.Interruption(err))
		return 130
	case errors.Is(err, cli.ErrShown):
		return 1
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintln(env.stderr, "hark:", line)
	}
	return 1
}

func newRoot(env *environment) *cobra.Command {
	f := &flags{env: env}
	root := &cobra.Command{
		Use:   "hark",
		Short: "A Discord bot with a long memory",
		Long: "Hark remembers what is said in a Discord server and answers with that in mind.\n" +
			"It says only what everybody who can read the answer could have read themselves.",
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	cli.SetUp(root, env.stdin, env.stdout, env.stderr)
	root.Version = buildInfo().String()
	root.SetVersionTemplate("hark {{.Version}}\n")
	root.PersistentFlags().StringVar(&f.config, "config", "",
		"configuration `file` (default config.toml, if there is one)")
	root.PersistentFlags().StringVar(&f.data, "data", "", "data `directory` (default ./data, or HARK_DATA)")
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Set up and run", []*cobra.Command{f.doctorCommand(), f.healthCommand(), f.initCommand(), f.migrateCommand(),
			f.runCommand()}},
		{"Ask, and see why", []*cobra.Command{f.chatCommand(), f.contextCommand("context QUERY",
			"Show the exact prompt that a question would make, with the tokens of each section"), f.evalCommand(), f.mcpCommand(),
			f.searchCommand("search QUERY", "Show what would be recalled for a question, and why"), f.traceCommand(),
			f.webCommand()}},
		{"Memory", []*cobra.Command{f.backfillCommand(), f.exportCommand(), f.forgetCommand(), f.importCommand()}},
		{"Data", []*cobra.Command{f.backupCommand(), f.keyCommand(), f.moveCommand(), f.reindexCommand(), f.restoreCommand()}},
		{otherCommands, []*cobra.Command{versionCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	root.SetHelpCommandGroupID(otherCommands)
	root.SetCompletionCommandGroupID(otherCommands)
	f.completeFlags(root)
	return root
}
