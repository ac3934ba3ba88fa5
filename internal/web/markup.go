package web

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hark/bot/markdown"
	"hark/memory"
)

// Text of members and of models is shown as Discord shows it. markdown.HTML escapes it: only its tags are markup.

// markup returns a text of a guild as block elements.
func (v *visit) markup(guild memory.GuildID, text string) template.HTML {
	return markdown.HTML(visible(text), v.reader(guild))
}

// markupLine returns a text of a guild on one line, without links.
func (v *visit) markupLine(guild memory.GuildID, text string) template.HTML {
	r := v.reader(guild)
	r.Message = nil // the line may be within a link
	return markdown.HTMLLine(visible(text), r)
}

func (v *visit) reader(guild memory.GuildID) markdown.Reader {
	return markdown.Reader{
		Tag:     func(tag string) string { return visible(v.tagName(guild, tag)) },
		Message: v.pageOf,
	}
}

// pageOf returns where the log shows a message; "" if its channel isn't shown.
func (v *visit) pageOf(_ memory.GuildID, channel memory.ChannelID, message memory.MessageID) string {
	g, _, err := v.channelOf(channel)
	if err != nil {
		return ""
	}
	return messageURL(g.ID, channel, message)
}

var (
	// tag matches tags of people, roles and channels.
	tag = regexp.MustCompile(`<(@!?|@&|#)(\d{1,19})>`)
	// emoji matches a server's emoji.
	emoji = regexp.MustCompile(`^<a?(:\w{2,32}:)\d{1,20}>$`)
	// moment matches a time stamp.
	moment = regexp.MustCompile(`^<t:(-?\d{1,11})(?::[tTdDfFR])?>$`)
)

// tagName returns what a tag is called in a guild; "" if it is unknown.
func (v *visit) tagName(guild memory.GuildID, text string) string {
	if m := emoji.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := moment.FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64) // it has few digits
		return time.Unix(seconds, 0).In(v.zone()).Format("2006-01-02 15:04")
	}
	m := tag.FindStringSubmatch(text)
	if m == nil || m[0] != text {
		return ""
	}
	n, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return ""
	}
	g := v.archive.GuildByID(guild)
	switch {
	case m[1] == "#":
		return v.channelName(guild, memory.ChannelID(n))
	case m[1] == "@&":
		return roleName(g, memory.RoleID(n))
	case memory.UserID(n) == g.Self:
		return "@Hark"
	}
	return "@" + v.personRef(guild, memory.UserID(n)).Name
}

func roleName(g *memory.Guild, id memory.RoleID) string {
	for _, r := range g.Roles {
		if r.ID == id {
			return "@" + strings.TrimPrefix(r.Name, "@")
		}
	}
	return ""
}

// named returns what a message says, with names for the tags of people, roles and channels.
func (v *visit) named(m memory.Message) string {
	return tag.ReplaceAllStringFunc(m.Text(), func(text string) string {
		if name := v.tagName(m.Guild, text); name != "" {
			return name
		}
		return text
	})
}
