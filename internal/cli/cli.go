// Package cli is what all commands share, at the command line and in a talk: arguments, errors, help, and printing.
package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/internal/config"
)

// ErrShown means that the error was printed already.
var ErrShown = errors.New("shown")

// What a command returns that wasn't confirmed.
var (
	ErrNobody   = errors.New("there is no terminal to ask on: confirm with --yes")
	ErrDeclined = errors.New("nothing was changed")
)

// SetUp has a command report errors and help as all of Hark's do, with these streams. The help is as wide as stdout.
func SetUp(c *cobra.Command, stdin io.Reader, stdout, stderr io.Writer) {
	c.SilenceUsage = true
	c.SilenceErrors = true
	c.PersistentPreRunE = refuseEmpty
	c.SetFlagErrorFunc(flagError)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { help(c, Width(stdout)) })
	c.SetIn(stdin)
	c.SetOut(stdout)
	c.SetErr(stderr)
}

// KnownCommand refuses unknown commands, and suggests the nearest.
func KnownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	if near, ok := config.Near(args[0], names); ok {
		return fmt.Errorf("unknown command %q; did you mean %s?", args[0], near)
	}
	return fmt.Errorf("unknown command %q; \"%s --help\" shows what there is", args[0], c.CommandPath())
}

// refuseEmpty refuses empty flags, as from "--user $NAME": they must not select everybody.
func refuseEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = !slices.ContainsFunc(list.GetSlice(), func(s string) bool { return strings.TrimSpace(s) != "" })
		}
		if err == nil && empty {
			err = fmt.Errorf("--%s is empty: give it a value or leave it out", f.Name)
		}
	})
	return err
}

// NoArguments refuses arguments.
func NoArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%q takes no arguments: leave out %q; \"%[1]s --help\" shows what there is",
		c.CommandPath(), args[0])
}

// ExactArgs requires n arguments that aren't empty. wanted is the error, with a verb for the command.
func ExactArgs(n int, wanted string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n || slices.ContainsFunc(args, func(a string) bool { return strings.TrimSpace(a) == "" }) {
			return fmt.Errorf(wanted, c.CommandPath())
		}
		return nil
	}
}

// AtLeastOne requires an argument.
func AtLeastOne(wanted string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(wanted)
		}
		return nil
	}
}

// ParentCommand returns a command that only groups those below it.
func ParentCommand(use, short, long string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args:  KnownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(below...)
	return c
}
