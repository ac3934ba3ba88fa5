package config

import (
	"fmt"
	"strings"
)

const referenceHead = `# Configuration

Every setting with its environment variable and its default. Only the bot's token is required. Hark reads the
file that ` + "`--config` or `HARK_CONFIG`" + ` names, else ` + "`config.toml`" + ` in the working directory. Environment
variables override the file, and ` + "`--data`" + ` overrides both. An empty variable counts as not set. A secret can also
be read from a file, which a variable with ` + "`_FILE`" + ` at its end names:
` + "`HARK_DISCORD_TOKEN_FILE=/run/secrets/token`" + `.

Unknown keys are errors; the message names the line and the nearest key. Start from
[config.example.toml](../config.example.toml), which has the same text. What admins decide in Discord overrides the
configuration: see [commands](commands.md).

This page is generated: ` + "`go test ./internal/config -update`" + `.
`

// Reference returns docs/configuration.md.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	c := Default()
	for _, s := range documented(&c) {
		heading := "## [" + s.name + "]"
		described := field.described
		switch {
		case s.list:
			heading = "### [[" + s.name + "]]"
			described = field.describedInList
		case s.name == "":
			heading = "## Without a section"
		}
		b.WriteString("\n" + heading + "\n\n")
		for text := range strings.Lines(s.help) {
			paragraph(&b, "", text)
			b.WriteByte('\n')
		}
		if s.example != "" {
			fmt.Fprintf(&b, "```toml\n[%s]\n%s\n```\n", s.name, s.example)
		}
		for _, f := range s.fields {
			paragraph(&b, "- ", described(f))
		}
	}
	return b.String()
}

func (f field) described() string {
	holds := "no default"
	switch value := f.toml(); {
	case f.secret():
		holds = "a secret, also `" + f.env() + "_FILE`"
	case value == `""`:
		holds = "empty by default"
	case value != "":
		holds = "default `" + value + "`"
	case f.example() != "":
		holds = "no default; such as `" + f.example() + "`"
	}
	return fmt.Sprintf("**`%s`** (`%s`; %s). %s", f.key, f.env(), holds, f.help())
}

func (f field) describedInList() string {
	return fmt.Sprintf("**`%s`** (such as `%s`). %s", last(f.key), f.example(), f.help())
}

// paragraph writes text in lines of 130 characters, the first behind mark.
func paragraph(b *strings.Builder, mark, text string) {
	fill(b, mark, strings.Repeat(" ", len(mark)), 130, text)
}
