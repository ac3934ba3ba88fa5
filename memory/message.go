package memory

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is the kind of a message's author.
type Kind uint8

const (
	FromMember  Kind = iota // a person
	FromBot                 // another bot
	FromWebhook             // a webhook
	FromHark                // Hark's own answer, never recalled outside its session
	FromSystem              // a notice of Discord's: somebody joined, a message was pinned
)

// Message is one message as logged. Its time is in its id.
type Message struct {
	ID       MessageID
	Guild    GuildID
	Channel  ChannelID
	Author   UserID
	Kind     Kind
	Content  string // valid UTF-8 without NUL; see Clean
	Files    []File
	Edited   time.Time // of this version; zero: never edited
	ReplyTo  MessageID // in the same channel
	Mentions []UserID
	Starred  bool // marked important by a member
	Tokens   int  // of Text by o200k for every model, counted by the store; 0 until stored
}

// File is an attachment. Its URL isn't kept, because it expires.
type File struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

func (m Message) Time() time.Time { return m.ID.Time() }

// Text returns what is indexed, embedded and shown: the content, then a bracketed line for each file.
func (m Message) Text() string {
	if len(m.Files) == 0 {
		return m.Content
	}
	var b strings.Builder
	b.WriteString(m.Content)
	for _, f := range m.Files {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("[file: ")
		b.WriteString(f.Name)
		if f.Description != "" {
			b.WriteString(": ")
			b.WriteString(f.Description)
		}
		b.WriteByte(']')
	}
	return b.String()
}

// Clean makes s storable: bytes that aren't UTF-8 become U+FFFD, and NUL is removed.
func Clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Recalled reports whether messages of kind k can be found later. Others are in the log, but neither indexed
// nor part of a segment.
func (k Kind) Recalled() bool { return k == FromMember || k == FromBot || k == FromWebhook }

// MessageRef is where a message is.
type MessageRef struct {
	Channel ChannelID
	Message MessageID
}

// OpenQuestion is an unanswered message that asks Hark something.
type OpenQuestion struct {
	Guild   GuildID
	Channel ChannelID
	ID      MessageID
}
