package command

import (
	"fmt"
	"strings"

	"hark/bot/discord"
	"hark/bot/markdown"
)

// response is what an interaction shows.
type response struct {
	Content    string
	Components []discord.Component
	More       []string        // what doesn't fit into Content
	Files      []markdown.File // that go with it
}

// edit returns s as a message edit. It replaces all components.
func (s response) edit() discord.Outgoing {
	return discord.Outgoing{Content: s.Content, AllowedMentions: discord.NoMentions,
		Components: append([]discord.Component{}, s.Components...), Attachments: discord.Attachments(s.Files)}
}

// paragraphs returns texts as lines in as many messages as they need. It leaves out empty ones.
func paragraphs(texts ...string) response {
	return paged(strings.Split(markdown.Lines(texts...), "\n"))
}

// asking adds a button with the id ID(name, args...) to s.
func (s response) asking(style int, label, name string, args ...any) response {
	s.Components = append(s.Components, discord.Row(discord.Button(style, label, ID(name, args...))))
	return s
}

// ID returns the custom_id of a component or a modal: its name and its arguments, joined by colons.
func ID(name string, args ...any) string {
	for _, arg := range args {
		name += fmt.Sprintf(":%v", arg)
	}
	return name
}

// when returns text if holds, or else "".
func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}
