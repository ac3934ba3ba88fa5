package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

// response is what an interaction shows.
type response struct {
	Content    string
	Components []discord.Component
	More       []string // what doesn't fit into Content
	Files      []markdown.File
}

// edit returns s as an edit of a message that replaces all components.
func (s response) edit() discord.Outgoing {
	m := discord.Saying(s.Content)
	m.Components = append([]discord.Component{}, s.Components...)
	m.Attachments = discord.Attachments(s.Files)
	return m
}

// likeAnswer lays out what a model or members wrote, like an answer: below a heading and above a foot of Hark's own, in at
// most as many messages, without small print, invitations or misleading links.
func likeAnswer(l locale.Locale, heading, text, foot string, sources []answer.Source) (response, error) {
	pages, _, err := markdown.Answer(l, heading+"\n"+markdown.EscapeSmallPrint(memory.Clean(text)), foot, sources, false)
	if err != nil {
		return response{}, err
	}
	return response{Content: pages[0], More: pages[1:]}, nil
}

// paragraphs returns the lines of texts on as many pages as they need.
func paragraphs(texts ...string) response {
	return paged(strings.Split(markdown.Lines(texts...), "\n"))
}

// paged puts lines on as few pages as possible. It leaves out empty lines, and cuts only those longer than a page.
func paged(lines []string) response {
	var pages []string
	for _, line := range lines {
		switch last := len(pages) - 1; {
		case line == "":
		case last >= 0 && markdown.Units(pages[last])+markdown.Units("\n"+line) <= markdown.MessageLimit:
			pages[last] += "\n" + line
		case markdown.Units(line) <= markdown.MessageLimit:
			pages = append(pages, line)
		default:
			pages = append(pages, markdown.Messages(line, "", nil)...)
		}
	}
	return response{Content: pages[0], More: pages[1:]}
}

// fitting returns as many of the first lines as fit into room, in units.
func fitting(lines []string, room int) []string {
	for i, line := range lines {
		room -= markdown.Units(line) + 1
		if room < 0 {
			return lines[:i:i]
		}
	}
	return lines
}

// part is lines under a heading, the most important first.
type part struct {
	heading string
	lines   []string
	left    int // lines left out
}

// onPages shows head, parts and foot on at most most pages. It leaves out and counts the last lines of the last parts.
func onPages(l locale.Locale, most int, head []string, parts []part, foot ...string) response {
	for last := len(parts) - 1; ; {
		all := slices.Clone(head)
		for _, p := range parts {
			if len(p.lines)+p.left > 0 {
				all = append(append(all, p.heading), p.lines...)
			}
			all = append(all, when(p.left > 0, l.Text("-# and %s more", l.Number(p.left))))
		}
		shown := paged(append(all, foot...))
		for last >= 0 && len(parts[last].lines) == 0 {
			last--
		}
		if len(shown.More) < most || last < 0 {
			return shown
		}
		p := &parts[last]
		p.lines = p.lines[:len(p.lines)-1]
		p.left = p.left + 1
	}
}

// asking adds a button with ID(name, args...).
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

// when returns text if holds is true, else "".
func when(holds bool, text string) string {
	if !holds {
		return ""
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
