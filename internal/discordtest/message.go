package discordtest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// storedMessage is a message in the fake's store.
type storedMessage struct {
	Sent
	sentBy          ID   // the account behind it, also for a webhook's message
	mentionsReplied bool // a reply that mentions the author it replies to
}

// MessageOption modifies a message before it is sent.
type MessageOption func(*Server, *storedMessage)

// ReplyTo makes the message a reply that mentions the author it replies to.
func ReplyTo(id ID) MessageOption {
	return func(s *Server, m *storedMessage) {
		QuietReplyTo(id)(s, m)
		m.mentionsReplied = true
		s.readMentions(m)
	}
}

// QuietReplyTo makes the message a reply that mentions nobody.
func QuietReplyTo(id ID) MessageOption {
	return func(s *Server, m *storedMessage) {
		m.Type = 19
		m.Reference = &Reference{MessageID: id, ChannelID: m.ChannelID, GuildID: m.GuildID}
		if to := s.find(s.channels[m.ChannelID], id); to != nil {
			original := to.Message
			original.Referenced = nil
			m.Referenced = &original
		}
	}
}

// WithFile attaches a file with a name and a description.
func WithFile(name, description string) MessageOption {
	return func(s *Server, m *storedMessage) {
		id := s.clock.nextID()
		url := "https://cdn.discordapp.com/attachments/" + m.ChannelID.String() + "/" + id.String() + "/" +
			name + "?ex=0"
		m.Attachments = append(m.Attachments, Attachment{ID: id, Filename: name, Description: description, Size: 1000,
			URL: url, ProxyURL: url})
	}
}

// WithEmbed adds an embed, given as JSON.
func WithEmbed(embed string) MessageOption {
	return func(_ *Server, m *storedMessage) { m.Embeds = append(m.Embeds, json.RawMessage(embed)) }
}

// ViaWebhook sends the message through a webhook of that name.
func ViaWebhook(name string) MessageOption {
	return func(s *Server, m *storedMessage) {
		id := s.clock.nextID()
		m.WebhookID = id
		m.Author = User{ID: id, Username: name, Discriminator: "0000", Bot: true}
	}
}

// Forward makes the message a forward of another, which is as it is now.
func Forward(channelID, id ID) MessageOption {
	return func(s *Server, m *storedMessage) {
		from := s.channel(channelID)
		of := s.mustFind(from, id)
		m.Reference = &Reference{Type: 1, MessageID: id, ChannelID: channelID, GuildID: from.GuildID}
		m.Flags |= HasSnapshot
		m.Snapshots = []Snapshot{{SnapshotMessage{
			Type: of.Type, Content: of.Content, Timestamp: of.Timestamp, EditedTimestamp: of.EditedTimestamp,
			Flags: of.Flags, Mentions: of.Mentions, MentionRoles: of.MentionRoles, Attachments: of.Attachments,
			Embeds: of.Embeds, Components: of.Components,
		}}}
	}
}

// CrosspostOf makes the message, which is a webhook's, the crosspost of another.
func CrosspostOf(channelID, id ID) MessageOption {
	return func(s *Server, m *storedMessage) {
		from := s.channel(channelID)
		m.Content = s.mustFind(from, id).Content
		m.Reference = &Reference{MessageID: id, ChannelID: channelID, GuildID: from.GuildID}
		m.Flags |= Crosspost
	}
}

// LoseSource tells of a crosspost that its source was deleted, as Discord does.
func (s *Server) LoseSource(channelID, messageID ID) {
	defer s.change()()
	c, m := s.message(channelID, messageID)
	m.Flags |= SourceDeleted
	m.Content = "[Original Message Deleted]"
	s.emitMessage("MESSAGE_UPDATE", c, m)
}

// AsNotice makes it a system message by type: 7 for a join, 6 for a pin.
func AsNotice(messageType int) MessageOption {
	return func(_ *Server, m *storedMessage) { m.Type = messageType }
}

// Say sends a message. Mentions are read from the text. Permissions aren't checked: they may have changed
// since.
func (s *Server) Say(channelID, author ID, text string, more ...MessageOption) Message {
	defer s.change()()
	c := s.channel(channelID)
	m := s.newMessage(c, author, text)
	for _, o := range more {
		o(s, m)
	}
	s.post(c, m)
	return m.Message
}

// DM sends the bot a direct message; its ChannelID is where an answer goes.
func (s *Server) DM(author ID, text string, more ...MessageOption) Message {
	done := s.change()
	c := s.directChannel(author)
	done()
	return s.Say(c.ID, author, text, more...)
}

// Edit changes a message's text as its author does.
func (s *Server) Edit(channelID, messageID ID, text string) Message {
	defer s.change()()
	c, m := s.message(channelID, messageID)
	s.rewrite(m, text)
	s.emitMessage("MESSAGE_UPDATE", c, m)
	return m.Message
}

// EditBriefly changes a message's text and sends only id, text and time, as Discord's documents allow.
func (s *Server) EditBriefly(channelID, messageID ID, text string) {
	defer s.change()()
	c, m := s.message(channelID, messageID)
	s.rewrite(m, text)
	s.emitPart("MESSAGE_UPDATE", c, object{"id": m.ID, "content": text, "edited_timestamp": m.EditedTimestamp})
}

// Unfurl adds a link's preview, given as JSON: an update without an edit.
func (s *Server) Unfurl(channelID, messageID ID, embed string) {
	defer s.change()()
	c, m := s.message(channelID, messageID)
	m.Embeds = append(m.Embeds, json.RawMessage(embed))
	s.emitMessage("MESSAGE_UPDATE", c, m)
}

// Delete deletes a message.
func (s *Server) Delete(channelID, messageID ID) {
	defer s.change()()
	s.remove(s.message(channelID, messageID))
}

// BulkDelete deletes messages in one event.
func (s *Server) BulkDelete(channelID ID, messageIDs ...ID) {
	defer s.change()()
	c := s.channel(channelID)
	for _, id := range messageIDs {
		s.mustFind(c, id).Deleted = true
	}
	s.emitPart("MESSAGE_DELETE_BULK", c, object{"ids": messageIDs})
}

// Messages returns a channel's existing messages, oldest first.
func (s *Server) Messages(channelID ID) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ms []Message
	for _, m := range s.channel(channelID).messages {
		if !m.Deleted {
			ms = append(ms, m.Message)
		}
	}
	return ms
}

// Sent returns the bot's messages in a channel, oldest first, with deleted ones.
func (s *Server) Sent(channelID ID) []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ms []Sent
	for _, m := range s.channel(channelID).messages {
		if m.Author.ID == s.Bot.ID {
			ms = append(ms, m.Sent)
		}
	}
	return ms
}

func (s *Server) newMessage(c *channel, author ID, text string) *storedMessage {
	m := &storedMessage{sentBy: author, Sent: Sent{Message: Message{
		ID: s.clock.nextID(), ChannelID: c.ID, GuildID: c.GuildID, Author: *s.user(author),
		Timestamp: timestamp(s.clock.now), Attachments: []Attachment{}, Embeds: []json.RawMessage{},
		Components: []json.RawMessage{}, Mentions: []User{}, MentionRoles: []ID{}, Content: text}}}
	s.readMentions(m)
	return m
}

// post stores the message and sends its event.
func (s *Server) post(c *channel, m *storedMessage) {
	m.Versions = []string{m.Content}
	c.messages = append(c.messages, m)
	if !c.lastMessageFrozen {
		c.LastMessageID = &m.ID
	}
	s.emitMessage("MESSAGE_CREATE", c, m)
}

func (s *Server) rewrite(m *storedMessage, text string) {
	at := timestamp(s.clock.now)
	m.Content, m.EditedTimestamp = text, &at
	m.Versions = append(m.Versions, text)
	s.readMentions(m)
}

func (s *Server) remove(c *channel, m *storedMessage) {
	m.Deleted = true
	for _, a := range m.Attachments {
		delete(s.cdn, filePath(a.URL))
	}
	s.emitPart("MESSAGE_DELETE", c, object{"id": m.ID})
}

var mention = regexp.MustCompile(`<@(!|&)?(\d+)>`)

// readMentions sets the mentions from the text and the reply.
func (s *Server) readMentions(m *storedMessage) {
	m.Mentions, m.MentionRoles = []User{}, []ID{}
	if m.mentionsReplied && m.Referenced != nil {
		m.addMention(m.Referenced.Author)
	}
	for _, found := range mention.FindAllStringSubmatch(m.Content, -1) {
		id := parseID(found[2])
		if u := s.users[id]; u != nil && found[1] != "&" {
			m.addMention(*u)
		}
		if g := s.guilds[m.GuildID]; g != nil && found[1] == "&" && !slices.Contains(m.MentionRoles, id) &&
			slices.ContainsFunc(g.roles, func(r Role) bool { return r.ID == id }) {
			m.MentionRoles = append(m.MentionRoles, id)
		}
	}
	m.MentionEveryone = (strings.Contains(m.Content, "@everyone") || strings.Contains(m.Content, "@here")) &&
		m.GuildID != 0 &&
		s.permissions(s.channels[m.ChannelID], m.sentBy).Has(MentionEveryone)
}

func (m *storedMessage) addMention(u User) {
	if !slices.ContainsFunc(m.Mentions, func(x User) bool { return x.ID == u.ID }) {
		m.Mentions = append(m.Mentions, u)
	}
}

// find returns the message, or nil.
func (s *Server) find(c *channel, id ID) *storedMessage {
	i, ok := slices.BinarySearchFunc(c.messages, id, func(m *storedMessage, id ID) int { return cmp.Compare(m.ID, id) })
	if !ok || c.messages[i].Deleted {
		return nil
	}
	return c.messages[i]
}

func (s *Server) mustFind(c *channel, id ID) *storedMessage {
	m := s.find(c, id)
	if m == nil {
		s.fatalf("there is no message %d in channel %d", id, c.ID)
	}
	return m
}

func (s *Server) message(channelID, messageID ID) (*channel, *storedMessage) {
	c := s.channel(channelID)
	return c, s.mustFind(c, messageID)
}

// directChannel returns the bot's channel with the user, made if needed.
func (s *Server) directChannel(user ID) *channel {
	for _, c := range s.channels {
		if c.Type == Direct && c.Recipients[0].ID == user {
			return c
		}
	}
	c := &channel{Channel: Channel{ID: s.clock.nextID(), Type: Direct, Recipients: []User{*s.user(user)}}}
	s.channels[c.ID] = c
	return c
}
