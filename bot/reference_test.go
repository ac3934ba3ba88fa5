package bot

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hark/internal/golden"
)

const referenceHead = `# Commands in Discord

What members and admins can do. All of it is shown only to whoever does it, but for what the description says otherwise, and in the
language of their Discord where Hark speaks it: English, German, French, Spanish, Japanese, Traditional Chinese. Options in [brackets] can
be left out. Who may use a command can be changed for each server, in *Server Settings*, *Integrations*.

To ask something, mention Hark, reply to it, or write to it directly. What can be done at the operator's command line is in
[command-line.md](command-line.md).

This page is made from the code: ` + "`go test ./bot -run TestCommandReference -update`" + ` writes it anew.
`

// TestCommandReference holds the page of commands against those that are registered.
func TestCommandReference(t *testing.T) {
	t.Parallel()
	golden.File(t, "../docs/commands.md", commandReference(registered()))
}

func commandReference(all []command) string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, part := range []struct {
		title string
		in    func(command) bool
	}{
		{"For members", func(c command) bool { return c.Type == commandSlash && c.Permissions == nil }},
		{"For those who manage the server", func(c command) bool {
			return c.Type == commandSlash && c.Permissions != nil
		}},
		{"In the menus of messages and members, under *Apps*", func(c command) bool { return c.Type != commandSlash }},
	} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		if strings.HasPrefix(part.title, "In ") {
			b.WriteByte('\n')
		}
		for _, c := range all {
			if part.in(c) {
				c.describe(&b)
			}
		}
	}
	return b.String()
}

func (c command) describe(b *strings.Builder) {
	if c.Type != commandSlash {
		fmt.Fprintf(b, "- *%s*%s\n", c.Name, c.needed())
		return
	}
	fmt.Fprintf(b, "\n### /%s\n\n%s%s\n\n", c.Name, c.Description, c.needed())
	if len(c.Options) == 0 || !c.Options[0].nested() {
		usage(b, "/"+c.Name, "", c.Options)
		return
	}
	for _, o := range c.Options {
		o.describe(b, "/"+c.Name)
	}
}

// needed is what is needed to use a command, and where it can't be used.
func (c command) needed() string {
	text := ""
	if c.Permissions != nil {
		names := map[string]string{
			strconv.Itoa(int(manageGuild)): "Manage Server", strconv.Itoa(int(manageMessages)): "Manage Messages",
		}
		text = " (needs *" + names[*c.Permissions] + "*)"
	}
	return text
}

func (o option) nested() bool { return o.Type == optionSubcommand || o.Type == optionGroup }

func (o option) describe(b *strings.Builder, path string) {
	path += " " + o.Name
	if o.Type == optionGroup {
		for _, within := range o.Options {
			within.describe(b, path)
		}
		return
	}
	usage(b, path, o.Description, o.Options)
}

func usage(b *strings.Builder, path, means string, options []option) {
	fmt.Fprintf(b, "- `%s", path)
	for _, o := range options {
		if o.Required {
			fmt.Fprintf(b, " %s", o.Name)
		} else {
			fmt.Fprintf(b, " [%s]", o.Name)
		}
	}
	b.WriteString("`")
	if means != "" {
		b.WriteString(": " + means)
	}
	b.WriteByte('\n')
	for _, o := range options {
		fmt.Fprintf(b, "  - `%s`: %s", o.Name, o.Description)
		if len(o.Choices) > 0 {
			var names []string
			for _, c := range o.Choices {
				names = append(names, c.Name)
			}
			fmt.Fprintf(b, " (%s)", strings.Join(names, ", "))
		}
		b.WriteByte('\n')
	}
}
