// Package body turns what a Discord message carries into what Hark remembers of it: its text and its links. The
// gateway, a look back into a channel's past, and imports all use it, so that a message is the same wherever it was
// read.
package body

import (
	"fmt"
	"slices"
	"strings"

	"hark/internal/text"
	"hark/memory"
)

// Body is what a message carries, but for its files.
type Body struct {
	Content  string
	Forwards []Body // messages that it forwards
	Embeds   []Embed
	Shown    []string // texts of its components, see Component
	Poll     *Poll
	Stickers []string // their names
}

// IsEmpty reports whether there is nothing in it.
func (b Body) IsEmpty() bool {
	parts := len(b.Forwards) + len(b.Embeds) + len(b.Shown) + len(b.Stickers)
	return b.Content == "" && parts == 0 && b.Poll == nil
}

// Embed is a block below a message: the preview of a link in it, or what a bot wrote.
// https://discord.com/developers/docs/resources/message#embed-object
type Embed struct {
	Type        string // empty: not known
	URL         string
	Title       string
	Description string
	Author      string
	Footer      string
	Fields      []Field
}

// Field is a line of an embed.
type Field struct {
	Name  string
	Value string
}

// Poll is a question with answers to choose from.
type Poll struct {
	Question string
	Answers  []Choice
	Finished bool // the votes are final
}

// Choice is an answer of a poll.
type Choice struct {
	Text  string
	Votes int
}

// longestPreview is how many characters of a link's description are kept.
const longestPreview = 300

// AsText returns the body as text of a message of kind: what was typed, then what it forwards, embeds, shows and asks.
// It is valid UTF-8 without NUL.
func (b Body) AsText(kind memory.Kind) string {
	var l lines
	l.add(b.Content)
	for _, f := range b.Forwards {
		l.addMarked("[forwarded] ", f.AsText(kind), "")
	}
	for _, e := range b.Embeds {
		if !b.isPreview(e, kind) {
			l.addEmbed(e)
		}
	}
	for _, shown := range b.Shown {
		l.add(shown)
	}
	l.addPoll(b.Poll)
	for _, name := range b.Stickers {
		l.addMarked("[sticker: ", name, "]")
	}
	return strings.Join(l, "\n")
}

// Links returns the previews of the links in a message of kind.
func (b Body) Links(kind memory.Kind) []memory.Link {
	var all []memory.Link
	for _, e := range b.Embeds {
		link := memory.Link{
			Title:       memory.Clean(e.Title),
			Description: text.Clip(memory.Clean(e.Description), longestPreview),
		}
		if b.isPreview(e, kind) && link != (memory.Link{}) {
			all = append(all, link)
		}
	}
	for _, f := range b.Forwards {
		all = append(all, f.Links(kind)...)
	}
	return memory.JoinLinks(all, nil)
}

// previews are the types of embeds that Discord makes of links.
// https://discord.com/developers/docs/resources/message#embed-object-embed-types
var previews = []string{"article", "gifv", "image", "link", "video"}

// isPreview reports whether an embed is the preview of a link. Members can't embed anything else. A bot's own embed is
// "rich", as some previews are, and may have an address too; a preview's is in the text.
func (b Body) isPreview(e Embed, kind memory.Kind) bool {
	switch {
	case slices.Contains(previews, e.Type):
		return true
	case e.URL == "":
		return false
	}
	return kind == memory.FromMember || strings.Contains(b.Content, e.URL)
}

// lines are a text's lines. None is empty.
type lines []string

func (l *lines) add(said string) { l.addMarked("", said, "") }

func (l *lines) addMarked(before, said, after string) {
	said = memory.Clean(said)
	if strings.TrimSpace(said) != "" {
		*l = append(*l, before+said+after)
	}
}

func (l *lines) addEmbed(e Embed) {
	result, is := resultOf(e)
	if is {
		l.add(result)
		return
	}
	l.add(e.Author)
	l.add(e.Title)
	l.add(e.Description)
	for _, f := range e.Fields {
		l.add(strings.TrimPrefix(f.Name+": "+f.Value, ": "))
	}
	l.add(e.Footer)
}

func (l *lines) addPoll(p *Poll) {
	if p == nil {
		return
	}
	l.add(p.Question)
	for _, choice := range p.Answers {
		votes := ""
		if p.Finished {
			votes = fmt.Sprintf(" (votes: %d)", choice.Votes)
		}
		l.addMarked("- ", choice.Text, votes)
	}
}

// resultOf returns the result that Discord's notice at the end of a poll tells in an embed.
// https://discord.com/developers/docs/resources/message#embed-fields-by-embed-type-poll-result-embed-fields
func resultOf(e Embed) (result string, is bool) {
	fields := map[string]string{}
	for _, f := range e.Fields {
		fields[f.Name] = f.Value
	}
	question, is := fields["poll_question_text"]
	if !is {
		return "", false
	}
	winner := fields["victor_answer_text"]
	if winner == "" {
		return fmt.Sprintf("[poll result] %s: no winner (votes: %s)", question, fields["total_votes"]), true
	}
	return fmt.Sprintf("[poll result] %s: %s (votes: %s of %s)", question, winner,
		fields["victor_answer_votes"], fields["total_votes"]), true
}
