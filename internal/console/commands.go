package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/terminal"
	"hark/memory"
)

// slash begins a command. A path isn't one: /etc/passwd.
var slash = regexp.MustCompile(`^/([A-Za-z][A-Za-z-]*)(?:\s+(.*))?$`)

// commands returns a talk's commands, new for each use because they hold their flags.
func (t *Talk) commands() []*cobra.Command {
	all := []*cobra.Command{
		t.Recall(t), t.catchUpCommand(), t.Context(t), t.whyCommand(), t.loreCommand(), t.memoryCommand(),
		t.asCommand(), t.helpCommand(),
		{Use: "quit", Short: "End the talk", Args: cli.NoArguments,
			RunE: func(*cobra.Command, []string) error { return io.EOF }},
	}
	for _, c := range all {
		c.Use = "/" + c.Use
		c.CompletionOptions.DisableDefaultCmd = true
		c.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
		cli.SetUp(c, t.Stdin, t.Out, t.Warn)
	}
	return all
}

// command runs a line that is a command, and reports whether it is one. The error is io.EOF if the talk ends.
func (t *Talk) command(ctx context.Context, line string) (bool, error) {
	m := slash.FindStringSubmatch(line)
	if m == nil {
		return false, nil
	}
	err := t.use(ctx, "/"+strings.ToLower(m[1]), m[2])
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return true, err
	case ctx.Err() != nil:
		return true, ctx.Err()
	case t.ask == nil: // piped: the exit code reports it
		t.unanswered = true
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(t.Warn, "%shark: %s%s\n", t.colour.Wrong, terminal.Printable(line), t.colour.Off)
	}
	return true, nil
}

func (t *Talk) use(ctx context.Context, name, rest string) error {
	args, err := arguments(rest)
	if err != nil {
		return err
	}
	all := t.commands()
	var names []string
	for _, c := range all {
		if c.Name() != name {
			names = append(names, c.Name())
			continue
		}
		within, done := t.interrupts.Aside(ctx)
		defer done()
		c.SetArgs(args)
		err := c.ExecuteContext(within)
		if err == nil && len(args) > 0 && (args[0] == "remove" || args[0] == "forget") {
			t.past.Clear() // it may hold what was forgotten
		}
		if within.Err() != nil && ctx.Err() == nil {
			return errors.New("interrupted")
		}
		return err
	}
	meant := ";"
	if near, ok := config.Near(name, names); ok {
		meant = "; did you mean " + near + "?"
	}
	return fmt.Errorf("there is no command %s%s /help lists them; to say the line as it is, begin it with a space",
		name, meant)
}

// arguments splits a line into words; double quotes keep words together.
func arguments(line string) ([]string, error) {
	args := []string{}
	var word strings.Builder
	in := false
	quoted := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quoted && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			i++
			word.WriteByte(line[i])
		case c == '"':
			in = true
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			if in {
				args = append(args, word.String())
			}
			word.Reset()
			in = false
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if quoted {
		return nil, errors.New("a quotation mark isn't closed: close it with \", or write \\\" for a mark within quotes")
	}
	if in {
		args = append(args, word.String())
	}
	return args, nil
}

func (t *Talk) asCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "as NAME",
		Short: "Go on as somebody else: lines without a name are theirs",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			name := strings.Join(strings.Fields(memory.Clean(strings.Join(args, " "))), " ")
			switch {
			case name == "":
				return fmt.Errorf("you are %s. To go on as somebody else, write /as NAME", terminal.OneLine(t.Speaker))
			case utf8.RuneCountInString(name) > 64 || strings.ContainsAny(name, ":/@"):
				return errors.New("a name has at most 64 characters, and no colon, slash or @ among them")
			case strings.EqualFold(name, "Hark"):
				return errors.New("that is my own name: choose another")
			}
			t.Speaker = name
			if t.ask == nil {
				return nil
			}
			fmt.Fprintf(c.OutOrStdout(), "You are %s now.\n", terminal.OneLine(name))
			return nil
		},
	}
}

func (t *Talk) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show what can be done here, or how a command is used",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return t.use(c.Context(), "/"+strings.TrimPrefix(strings.ToLower(args[0]), "/"),
					strings.Join(append(args[1:], "--help"), " "))
			}
			w := c.OutOrStdout()
			fmt.Fprint(w, helpText(t.commands(), cli.Width(w)))
			return nil
		},
	}
}

// helpText lists commands. It breaks lines between words.
func helpText(commands []*cobra.Command, width int) string {
	const (
		narrow = 70 // columns in which what a command does has no room beside it
		edge   = "  "
		below  = "      "
		beside = "                                     " // where what a command does begins
	)
	var b strings.Builder
	b.WriteString(cli.Wrapped("Lines are remembered, as said by you; \"Name: text\" is said by somebody else. "+
		"A line with @hark is answered.", "", width))
	for _, c := range commands {
		line := edge + usageOf(c)
		if width < narrow || len(line) >= len(beside) {
			b.WriteString(line + "\n" + cli.Wrapped(c.Short, below, width))
			continue
		}
		b.WriteString(line + cli.Wrapped(c.Short, beside, width)[len(line):])
	}
	b.WriteString(cli.Wrapped("Put double quotes around an argument with spaces. \"/recall --help\" shows how a command is used.\n"+
		"What concerns a server (/privacy, /limits, /hark) is for Discord only; \"hark export --user\" and "+
		"\"hark forget --user\" give and forget all about somebody.", "", width))
	return b.String()
}

// usageOf returns how a command is written, with those below it.
func usageOf(c *cobra.Command) string {
	if !c.HasSubCommands() {
		return c.Use
	}
	var below []string
	for _, s := range c.Commands() {
		if !s.Hidden {
			below = append(below, s.Name())
		}
	}
	return c.Use + " " + strings.Join(below, "|")
}

func (t *Talk) agrees(ctx context.Context, question string) (bool, error) {
	line, err := terminal.Await(ctx, func() (string, error) { return t.ask(question + " [y/N] ") })
	if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
		return false, nil
	}
	return err == nil && terminal.SaysYes(line), err
}

// Confirm prints warning, if any, and asks whether to go on. With yes it does neither.
func (t *Talk) Confirm(ctx context.Context, yes bool, warning, question string) error {
	if yes {
		return nil
	}
	if warning != "" {
		fmt.Fprintln(t.Warn, warning)
	}
	if t.ask == nil {
		return cli.ErrNobody
	}
	agreed, err := t.agrees(ctx, question)
	if err == nil && !agreed {
		err = cli.ErrDeclined
	}
	return err
}
