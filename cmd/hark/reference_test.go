package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/internal/golden"
)

const referenceHead = `# The command line

These commands are for the operator. They work while ` + "`hark run`" + ` runs, unless they say otherwise. Every
command takes ` + "`--config FILE`, `--data DIR` and `--help`" + `. The exit code is 0; or 1, with a sentence on standard
error; or 130 after an interruption. Commands for members and admins in Discord are in [commands.md](commands.md).

To complete commands, flags and values such as channels' names with the tab key, add a line to your shell's
configuration:

- bash, in ~/.bashrc: ` + "`source <(hark completion bash)`" + `
- fish, in ~/.config/fish/config.fish: ` + "`hark completion fish | source`" + `
- zsh, in ~/.zshrc below ` + "`compinit`: `source <(hark completion zsh)`" + `

` + "`hark completion --help`" + ` shows other ways.

This page is generated: ` + "`go test ./cmd/hark -run TestCommandLineReference -update`" + `.
`

// TestCommandLineReference holds the page of the command line against the commands there are.
func TestCommandLineReference(t *testing.T) {
	t.Parallel()
	root := newRoot(&environment{lookup: func(string) (string, bool) { return "", false }})
	var b strings.Builder
	b.WriteString(referenceHead)
	describeCommands(&b, root)
	golden.File(t, "../../docs/command-line.md", b.String())
}

func describeCommands(b *strings.Builder, of *cobra.Command) {
	for _, c := range of.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", c.CommandPath())
		b.WriteString(strings.TrimSuffix(c.Short, ".") + ".\n\n```\n" + c.UseLine() + "\n```\n")
		if c.Long != "" {
			b.WriteString("\n" + c.Long + "\n")
		}
		if c.Example != "" {
			b.WriteString("\n```\n" + c.Example + "\n```\n")
		}
		first := true
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if first {
				b.WriteByte('\n')
				first = false
			}
			value, usage := pflag.UnquoteUsage(f)
			if value != "" {
				value = " " + value
			}
			fmt.Fprintf(b, "- `--%s%s`: %s\n", f.Name, value, usage)
		})
		describeCommands(b, c)
	}
}
