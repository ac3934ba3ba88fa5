// Command hark is a Discord bot with a long memory. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
	_ "time/tzdata" // the image has no time zones of its own

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/console"
	"hark/internal/licences"
	"hark/internal/terminal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	interrupts := &terminal.Interrupts{}
	ctx = interrupts.Watch(ctx)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	env := environment{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		lookup: os.LookupEnv, environ: os.Environ, interrupts: interrupts,
	}
	os.Exit(run(ctx, env, os.Args[1:]))
}

// environment is what a command uses besides files and the network.
type environment struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	lookup  func(string) (string, bool)
	environ func() []string
	// interrupts, if not nil, lets Ctrl-C end a part of a command.
	interrupts *terminal.Interrupts
	// discord, if not nil, makes the requests to Discord and for its files.
	discord *http.Client
	// space, if not nil, replaces doctor's measure of the disk.
	space func(dir string) (free, total uint64, err error)
	// progress, if not nil, is called when "hark run" has done something that neither Discord nor the log shows, for
	// tests to wait by. Several goroutines call it; it must not block.
	progress func()
	// unchecked leaves out the checks at the start, for tests that count requests.
	unchecked bool
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

// output keeps the first write error for run, and then writes nothing more, so that printing code needn't check.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (n int, err error) {
	if o.failed == nil {
		n, o.failed = o.Writer.Write(p)
	}
	return n, o.failed
}

// flags are those of every command.
type flags struct {
	env    *environment
	config string
	data   string
	talk   *console.Talk // that uses the command; nil at the command line
}

const otherCommands = "Other"

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

func (e *environment) transport() http.RoundTripper {
	if e.discord != nil {
		return e.discord.Transport
	}
	return http.DefaultTransport
}
