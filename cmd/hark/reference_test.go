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

What the operator can do, also while ` + "`hark run`" + ` runs. Every command takes ` +
	"`--config FILE`, `--data DIR` and `--help`" + `. It ends with the exit
code 0, with 1 and a sentence on standard error, or with 130 when it was interrupted. What members and admins can do in Discord is in
[commands.md](commands.md).

Shells complete commands, flags and values such as channels' names once that is switched on: with bash by the line
` + "`source <(hark completion bash)`" + ` in ~/.bashrc, with fish by ` + "`hark completion fish | source`" +
	` in ~/.config/fish/config.fish, with zsh by
` + "`source <(hark completion zsh)`" + ` in ~/.zshrc below ` + "`compinit`" + `. ` +
	"`hark completion --help`" + ` tells of other ways.

This page is made from the code: ` + "`go test ./cmd/hark -run TestCommandLineReference -update`" + ` writes it anew.
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
