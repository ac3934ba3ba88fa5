package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/bot/discord"
	"hark/bot/locale"
)

const (
	helpUnknown = "I know no command of that name. `/help` shows those there are."
	helpIntro   = "**What I can do**\nMention me with a question, reply to me or write me a direct message, and I answer from what I remember of what was said here. Only what everybody who reads the answer could read at its source is used."
)

// useful returns the entries that the user of x can use, by the declared permissions: a server may decide otherwise.
func (c *Commands) useful(x *interaction) []entry {
	where := discord.InGuilds
	if x.Guild == 0 {
		where = discord.InDirect
	}
	return slices.DeleteFunc(slices.Clone(c.entries), func(e entry) bool {
		return !slices.Contains(e.Contexts, where) || e.needs != 0 && !x.May(e.needs)
	})
}

// helpGroups returns the headings of the groups of commands, in order.
func helpGroups(l locale.Locale) []string {
	return []string{l.Text("**Ask**"), l.Text("**Find**"), l.Text("**My data**"),
		l.Text("**For those who manage this server**"),
		l.Text("**In the menu of a message, under Apps**"), l.Text("**In the menu of a person, under Apps**"),
		l.Text("**And**")}
}

// groupOf is the group, as in helpGroups, of the commands that all may use.
var groupOf = map[string]int{"context": 0, "limits": 0, "recall": 1, "catchup": 1, "lore": 1, "memory": 2, "privacy": 2}

// group returns the index of e's group in helpGroups.
func (e entry) group() int {
	switch {
	case e.Type == discord.CommandMessage:
		return 4
	case e.Type == discord.CommandUser:
		return 5
	case e.Permissions != nil:
		return 3
	}
	if group, is := groupOf[e.Name]; is {
		return group
	}
	return 6
}

// menuName returns the name of a command in a menu, quoted.
func menuName(l locale.Locale, name string) string {
	if l.Catalog != nil && l.Commands[name] != "" {
		name = l.Commands[name]
	}
	return "“" + name + "”"
}

func (c *Commands) line(x *interaction, e entry) string {
	name := menuName(x.Locale, e.Name)
	if e.Type == discord.CommandSlash {
		name = c.Mention(e.path)
	}
	return "- " + name + ": " + x.Translated(e.says)
}

// help lists the commands, or explains one.
func (c *Commands) help(_ context.Context, x *interaction) (response, error) {
	all := c.useful(x)
	if name := strings.TrimPrefix(x.Words("command"), "/"); name != "" {
		all = slices.DeleteFunc(all, func(e entry) bool {
			path := strings.ToLower(e.path) + " "
			name := strings.ToLower(name) + " "
			return !strings.HasPrefix(path, name)
		})
		if len(all) == 0 {
			return response{Content: x.Text(helpUnknown)}, nil
		}
		var lines []string
		for _, e := range all {
			lines = append(append(lines, c.line(x, e)), explainedOptions(x.Locale, e.options)...)
		}
		return paged(lines), nil
	}
	lines := []string{x.Text(helpIntro)}
	for group, heading := range helpGroups(x.Locale) {
		for _, e := range all {
			if e.group() == group {
				if heading != "" {
					lines = append(lines, heading)
					heading = ""
				}
				lines = append(lines, c.line(x, e))
			}
		}
	}
	return paged(append(lines, x.Text("-# `/help` with a command's name explains it."))), nil
}

// explainedOptions explains options, a line each.
func explainedOptions(l locale.Locale, options []option) []string {
	var lines []string
	for _, o := range options {
		line := fmt.Sprintf("  - `%s`: %s", o.Name, l.Translated(o.Description))
		var more []string
		if o.Required {
			more = append(more, l.Text("needed"))
		}
		if o.MinValue != nil && o.MaxValue != nil {
			more = append(more, l.Text("from %s to %s", l.Number(*o.MinValue), l.Number(*o.MaxValue)))
		}
		if o.MaxLength > 0 {
			more = append(more, l.Text("at most %s characters", l.Number(o.MaxLength)))
		}
		if len(o.Choices) > 0 {
			var names []string
			for _, c := range o.Choices {
				names = append(names, l.Translated(c.Name))
			}
			more = append(more, l.Text("one of: %s", strings.Join(names, ", ")))
		}
		if o.Autocomplete {
			more = append(more, l.Text("choices are shown while you type"))
		}
		if len(more) > 0 {
			line += " (" + strings.Join(more, "; ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// helpNames completes the commands that can be explained.
func (c *Commands) helpNames(_ context.Context, x *interaction) ([]optionChoice, error) {
	var all []optionChoice
	for _, e := range c.useful(x) {
		name := e.path
		if e.Type == discord.CommandSlash {
			name = "/" + name
		}
		all = append(all, optionChoice{Name: name, Value: e.path})
	}
	return all, nil
}
