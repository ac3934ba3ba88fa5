package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"hark/internal/config"
	"hark/internal/terminal"
)

// usualWidth is the width of a terminal that reports none.
const usualWidth = 80

// Width returns how wide text on out may be: a terminal's width, or what terminals usually have.
func Width(out io.Writer) int {
	if t, ok := terminal.Of(out); ok {
		if width, _, err := term.GetSize(int(t.Fd())); err == nil && width > 0 {
			return max(width, 30)
		}
	}
	return usualWidth
}

func help(c *cobra.Command, width int) {
	var b strings.Builder
	b.WriteString(Wrapped(cmp.Or(c.Long, c.Short), "", width) + "\nUsage:\n")
	if !c.HasAvailableSubCommands() {
		b.WriteString(Wrapped(c.UseLine(), "  ", width))
	} else {
		b.WriteString(Wrapped(c.CommandPath()+" COMMAND [flags]", "  ", width))
	}
	if c.HasExample() {
		b.WriteString("\nExamples:\n" + c.Example + "\n") // unwrapped, to be copied
	}
	if c.HasAvailableSubCommands() {
		writeCommands(&b, c, width)
	}
	for _, part := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags", c.LocalFlags()}, {"Flags of every command", c.InheritedFlags()}} {
		if part.flags.HasAvailableFlags() {
			b.WriteString("\n" + part.title + ":\n" + strings.TrimRight(part.flags.FlagUsagesWrapped(width),
				" \n") + "\n")
		}
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + Wrapped(fmt.Sprintf("\"%s COMMAND --help\" tells more about a command.",
			c.CommandPath()), "", width))
	}
	fmt.Fprint(c.OutOrStdout(), b.String())
}

// writeCommands lists the commands below c, under the headings of their groups.
func writeCommands(b *strings.Builder, c *cobra.Command, width int) {
	longest := 0
	for _, sub := range c.Commands() {
		longest = max(longest, len(sub.Name()))
	}
	for _, g := range append(c.Groups(), &cobra.Group{Title: "Commands"}) {
		title := "\n" + g.Title + ":\n"
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.GroupID != g.ID {
				continue
			}
			text := Wrapped(sub.Short, strings.Repeat(" ", longest+4), width)
			b.WriteString(title + "  " + sub.Name() + text[2+len(sub.Name()):])
			title = ""
		}
	}
}

// Wrapped wraps text at width columns, behind indent. It keeps lines that begin with a space.
func Wrapped(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	end := func() {
		if column > 0 {
			b.WriteByte('\n')
		}
		column = 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			end()
			b.WriteString(line + "\n")
			continue
		}
		for word := range strings.FieldsSeq(line) {
			columns := uniseg.StringWidth(word)
			if column > 0 && column+1+columns <= width {
				b.WriteByte(' ')
				column++
			} else {
				end()
				b.WriteString(indent)
				column = len(indent)
			}
			b.WriteString(word)
			column += columns
		}
	}
	end()
	return b.String()
}

func flagError(c *cobra.Command, err error) error {
	more := fmt.Sprintf("\"%s --help\" shows what there is", c.CommandPath())
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s takes %s, not %q", wrong.GetFlag().Name, flagTakes(wrong.GetFlag()), wrong.GetValue())
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value after it: %s", bare.GetFlag().Name, flagTakes(bare.GetFlag()))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if len(name) < 2 {
			return fmt.Errorf("there is no flag -%s; %s", name, more)
		}
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				known = append(known, f.Name)
			}
		})
		if near, ok := config.Near(name, known); ok {
			return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, near)
		}
		return fmt.Errorf("there is no flag --%s; %s", name, more)
	}
	return fmt.Errorf("%w; %s", err, more)
}

func flagTakes(f *pflag.Flag) string {
	name, _ := pflag.UnquoteUsage(f)
	switch f.Value.Type() {
	case "int":
		return "a whole number, such as 5"
	case "bool":
		return "true or false, or no value"
	}
	article := "a "
	if strings.ContainsAny(name[:1], "aeiou") {
		article = "an "
	}
	if strings.HasSuffix(name, "s") {
		article = ""
	}
	return article + name
}
