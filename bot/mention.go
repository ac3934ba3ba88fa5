package bot

import (
	"strconv"
	"strings"

	"hark/memory"
)

// ask is a question put to Hark by a message.
type ask struct {
	id       memory.MessageID
	guild    memory.GuildID
	channel  memory.ChannelID
	asker    memory.UserID
	name     string
	text     string
	mentions []memory.UserID
	replyTo  memory.MessageID
}

// question is what a new message asks Hark, or nil: a member's message that mentions Hark by name (not by
// @everyone or a role), replies to it, or is direct.
func (c *converter) question(w *wireMessage) *ask {
	if c.kindOf(w) != memory.FromMember || w.Author == nil || w.Content == nil || w.ID == 0 {
		return nil
	}
	text, named := c.strip(*w.Content)
	reply := w.Referenced
	if typeOf(w) != typeReply || reply == nil || reply.Author == nil {
		reply = nil
	}
	named = named && c.mentions(w)
	answersUs := reply != nil && memory.UserID(reply.Author.ID) == c.self
	if !named && !answersUs && w.Guild != 0 {
		return nil
	}
	a := &ask{
		id:      memory.MessageID(w.ID),
		guild:   memory.GuildID(w.Guild),
		channel: memory.ChannelID(w.Channel),
		asker:   memory.UserID(w.Author.ID),
		name:    displayName(w.Author, w.Member),
		text:    memory.Clean(text),
	}
	for _, u := range w.Mentions {
		a.concerns(u, c.self)
	}
	if reply != nil {
		a.replyTo = memory.MessageID(reply.ID)
		a.concerns(reply.Author, c.self)
	}
	return a
}

// concerns adds somebody whom the question is about, once.
func (a *ask) concerns(u *wireUser, self memory.UserID) {
	if u == nil || u.ID == 0 || memory.UserID(u.ID) == self {
		return
	}
	for _, known := range a.mentions {
		if known == memory.UserID(u.ID) {
			return
		}
	}
	a.mentions = append(a.mentions, memory.UserID(u.ID))
}

// mentions reports whether Discord counts the message as mentioning Hark: a mention inside code isn't one.
func (c *converter) mentions(w *wireMessage) bool {
	for _, u := range w.Mentions {
		if u != nil && memory.UserID(u.ID) == c.self {
			return true
		}
	}
	return false
}

// strip takes Hark's mentions out of text, each with the space after it.
func (c *converter) strip(text string) (rest string, found bool) {
	id := strconv.FormatInt(int64(c.self), 10)
	for _, mention := range []string{"<@" + id + ">", "<@!" + id + ">"} {
		found = found || strings.Contains(text, mention)
		text = strings.ReplaceAll(text, mention+" ", "")
		text = strings.ReplaceAll(text, mention, "")
	}
	return strings.TrimSpace(text), found
}

func displayName(u *wireUser, m *wireMember) string {
	p := memory.Person{Username: memory.Clean(u.Username), Name: memory.Clean(u.GlobalName)}
	if m != nil {
		p.Nick = memory.Clean(m.Nick)
	}
	return p.DisplayName()
}
