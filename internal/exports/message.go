// Package exports writes messages in the form that "hark import" reads.
package exports

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"hark/internal/imports"
	"hark/memory"
)

// Message is a message in an export: a recall set's line, with what "hark import" needs besides.
type Message struct {
	Type      string           `json:"type,omitempty"`
	Server    string           `json:"server,omitempty"`
	Channel   string           `json:"channel"`
	ChannelID memory.ChannelID `json:"channel_id,string"`
	In        string           `json:"in,omitempty"` // the channel's kind
	Parent    memory.ChannelID `json:"parent_id,string,omitempty"`
	Owner     memory.UserID    `json:"owner_id,string,omitempty"` // who made the thread
	Tags      []string         `json:"tags,omitempty"`            // of the forum post
	ID        string           `json:"id"`
	Author    string           `json:"author,omitempty"`
	AuthorID  memory.UserID    `json:"author_id,string,omitempty"`
	Username  string           `json:"username,omitempty"` // where it isn't the author's name
	Kind      string           `json:"kind,omitempty"`     // who speaks, if not a person
	Time      time.Time        `json:"time"`
	Edited    time.Time        `json:"edited,omitzero"`
	Text      string           `json:"text"`
	Files     []memory.File    `json:"files,omitempty"`
	Links     []memory.Link    `json:"links,omitempty"`
	ReplyTo   []string         `json:"reply_to,omitempty"`
	Mentions  []Named          `json:"mentions,omitempty"`
	CopyOf    CopyOf           `json:"copy_of,omitzero"` // what it forwards
	Starred   bool             `json:"starred,omitempty"`
}

// CopyOf is the message that a forward copies.
type CopyOf struct {
	Server    string           `json:"server,omitempty"` // empty: not known
	ChannelID memory.ChannelID `json:"channel_id,string"`
	ID        string           `json:"id"`
	Version   int64            `json:"version,omitempty"` // as in memory.Original
}

// Named is somebody who is mentioned.
type Named struct {
	ID   memory.UserID `json:"id,string"`
	Name string        `json:"name,omitempty"`
}

// People are a guild's people by id.
type People map[memory.UserID]memory.Person

// PeopleOf returns people by id.
func PeopleOf(all []memory.Person) People {
	people := make(People, len(all))
	for _, p := range all {
		people[p.ID] = p
	}
	return people
}

// Of returns m in the form of an export, without its place.
func Of(m memory.Message, people People) Message {
	e := Message{
		ChannelID: m.Channel,
		ID:        m.ID.String(),
		AuthorID:  m.Author,
		Kind:      imports.SpeakerWord(m.Kind),
		Time:      m.Time(),
		Edited:    m.Edited,
		Text:      m.Content,
		Files:     m.Files,
		Links:     m.Links,
		Starred:   m.Starred,
	}
	if m.ReplyTo != 0 {
		e.ReplyTo = []string{m.ReplyTo.String()}
	}
	if m.Author != 0 {
		p := people[m.Author]
		e.Author = cmp.Or(p.DisplayName(), m.Author.String())
		if p.Username != e.Author {
			e.Username = p.Username
		}
	}
	if o := m.Original; m.IsCopy() {
		e.CopyOf = CopyOf{
			ChannelID: o.Channel,
			ID:        o.Message.String(),
			Version:   o.Version,
		}
		if o.Guild != memory.DirectGuild {
			e.CopyOf.Server = o.Guild.String()
		}
	}
	for _, u := range m.Mentions {
		e.Mentions = append(e.Mentions, Named{u, people[u].DisplayName()})
	}
	return e
}

// In returns m, which is from c, as a line of a channel's export. c's parent is nil if unknown.
func In(c memory.Channel, parent *memory.Channel, m memory.Message, people People) Message {
	e := Of(m, people)
	e.Type = "message"
	e.Channel = cmp.Or(c.Name, c.ID.String())
	if c.Guild != memory.LocalGuild {
		e.Server = c.Guild.String()
		e.In = imports.ChannelWord(c.Kind)
		e.Parent = c.Parent
		if c.Name != "" { // the owner is needed for the name only: with them that goes
			e.Owner = c.Owner
			e.Tags = memory.TitleOf(&c, parent).Tags
		}
	}
	return e
}

// NewEncoder returns an encoder that writes one JSON value a line, without escaping HTML.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
