// Package exports writes down what is remembered, in the form in which "hark import" reads it back.
package exports

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"hark/internal/imports"
	"hark/memory"
)

// Message is a message as exports tell it. Those of a channel have the form of a recall set's, and what
// "hark import" needs besides to put those of Discord's back to where they were.
type Message struct {
	Type      string        `json:"type,omitempty"`
	Server    string        `json:"server,omitempty"`
	Channel   string        `json:"channel"`
	ChannelID string        `json:"channel_id"`
	In        string        `json:"in,omitempty"` // the channel's kind
	Parent    string        `json:"parent_id,omitempty"`
	Owner     string        `json:"owner_id,omitempty"` // who made the thread
	ID        string        `json:"id"`
	Author    string        `json:"author,omitempty"`
	AuthorID  string        `json:"author_id,omitempty"`
	Username  string        `json:"username,omitempty"` // where it isn't the author's name
	Kind      string        `json:"kind,omitempty"`     // who speaks, if not a person
	Time      time.Time     `json:"time"`
	Edited    *time.Time    `json:"edited,omitempty"`
	Text      string        `json:"text"`
	Files     []memory.File `json:"files,omitempty"`
	ReplyTo   []string      `json:"reply_to,omitempty"`
	Mentions  []Named       `json:"mentions,omitempty"`
	Starred   bool          `json:"starred,omitempty"`
}

// Event is something besides messages that another store is to know, as exports tell it.
type Event struct {
	Type  string       `json:"type"`
	Event string       `json:"event"`
	Body  memory.Event `json:"body"`
}

// EventOf is e as exports tell it.
func EventOf(e memory.Event) Event { return Event{Type: "event", Event: imports.EventName(e), Body: e} }

// Named is somebody who is mentioned.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// People are those of a guild, by id.
type People map[memory.UserID]memory.Person

// PeopleOf are people by id.
func PeopleOf(all []memory.Person) People {
	people := make(People, len(all))
	for _, p := range all {
		people[p.ID] = p
	}
	return people
}

// Of is m as exports tell it, but for the place.
func Of(m memory.Message, people People) Message {
	e := Message{
		ChannelID: m.Channel.String(), ID: m.ID.String(), Kind: imports.SpeakerWord(m.Kind),
		Time: m.Time(), Text: m.Content, Files: m.Files, Starred: m.Starred,
	}
	if !m.Edited.IsZero() {
		e.Edited = &m.Edited
	}
	if m.ReplyTo != 0 {
		e.ReplyTo = []string{m.ReplyTo.String()}
	}
	if m.Author != 0 {
		p := people[m.Author]
		e.Author, e.AuthorID = cmp.Or(p.DisplayName(), m.Author.String()), m.Author.String()
		if p.Username != e.Author {
			e.Username = p.Username
		}
	}
	for _, u := range m.Mentions {
		e.Mentions = append(e.Mentions, Named{u.String(), people[u].DisplayName()})
	}
	return e
}

// In is m, which was said in c, as the line of a channel's export tells it.
func In(c memory.Channel, m memory.Message, people People) Message {
	e := Of(m, people)
	e.Type, e.Channel = "message", cmp.Or(c.Name, c.ID.String())
	if c.Guild != memory.LocalGuild {
		e.Server, e.In = c.Guild.String(), imports.ChannelWord(c.Kind)
		if c.Parent != 0 {
			e.Parent = c.Parent.String()
		}
		if c.Owner != 0 && c.Name != "" { // it is needed for the name only: with them that goes
			e.Owner = c.Owner.String()
		}
	}
	return e
}

// NewEncoder writes one JSON value a line to w, with text as it is.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}
