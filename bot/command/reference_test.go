package command

import (
	"fmt"
	"strings"
	"testing"

	"hark/bot/discord"
	"hark/internal/golden"
	"hark/memory"
)

const referenceHead = `# Commands in Discord

What members and admins can do. Only the user sees the response, unless the description says otherwise. It is in the
language of their Discord, if Hark speaks it: English, German, French, Spanish, Japanese, Traditional Chinese. Options
in [brackets] are optional. Each server can change who may use a command, in *Server Settings*, *Integrations*.

To ask something, mention Hark, reply to it, or write to it directly. A mention alone, as a reply to a message, asks
what that says. A channel in a question (` +
	"`#dev`) narrows the search to it, and a link to a message shows Hark that\n" + `message. The operator's command line is in [command-line.md](command-line.md).

This page is made from the code: ` + "`go test ./bot/command -run TestCommandReference -update`" + ` writes it anew.
`

// TestCommandReference compares the page of commands with the registered ones.
func TestCommandReference(t *testing.T) {
	t.Parallel()
	golden.File(t, "../../docs/commands.md", commandReference(entriesOf((&Commands{}).declared())))
}

func commandReference(all []entry) string {
	var b strings.Builder
	b.WriteString(referenceHead)
	needed := map[memory.Permissions]string{discord.ManageGuild: " (needs *Manage Server*)",
		discord.ManageMessages: " (needs *Manage Messages*)"}
	for _, part := range []struct {
		title string
		in    func(entry) bool
	}{
		{"For members", func(e entry) bool { return e.Type == discord.CommandSlash && e.needs == 0 }},
		{"For those who manage the server", func(e entry) bool {
			return e.Type == discord.CommandSlash &&
				e.needs != 0
		}},
		{"In the menus of messages and members, under *Apps*\n",
			func(e entry) bool { return e.Type != discord.CommandSlash }},
	} {
		fmt.Fprintf(&b, "\n## %s\n", part.title)
		last := ""
		for _, e := range all {
			switch {
			case !part.in(e):
				continue
			case e.Type != discord.CommandSlash:
				fmt.Fprintf(&b, "- *%s*%s\n", e.Name, needed[e.needs])
				continue
			case e.Name != last:
				fmt.Fprintf(&b, "\n### /%s\n\n%s%s\n\n", e.Name, e.Description, needed[e.needs])
				last = e.Name
			}
			means := e.says
			if e.path == e.Name { // which has said it already
				means = ""
			}
			usage(&b, "/"+e.path, means, e.options)
		}
	}
	return b.String()
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
