package discordtest

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// messageBody is the body of a message's POST or PATCH.
type messageBody struct {
	Content      *string           `json:"content"`
	Embeds       []json.RawMessage `json:"embeds"`
	Components   []json.RawMessage `json:"components"`
	Allowed      *allowedMentions  `json:"allowed_mentions"`
	Flags        *int              `json:"flags"` // nil: an edit keeps them
	Nonce        string            `json:"nonce"`
	EnforceNonce bool              `json:"enforce_nonce"`
	Attachments  []Attachment      `json:"attachments"`
	Stickers     []ID              `json:"sticker_ids"`
	Reference    *struct {
		MessageID       ID    `json:"message_id"`
		FailIfNotExists *bool `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

// pathChannel returns the path's channel, if the bot has all of the permissions there.
func (s *Server) pathChannel(c *call, need Permissions) *channel {
	ch := s.channels[c.id("channel")]
	if ch == nil {
		deny(unknownChannel)
	}
	p := s.permissions(ch, s.Bot.ID)
	if !p.Has(ViewChannel) {
		deny(missingAccess)
	}
	if !p.Has(need) {
		deny(missingPermission)
	}
	return ch
}

// getMessages lists messages, newest first, at most 100. Without ReadMessageHistory Discord answers an empty
// list rather than an error; voice channels also need CONNECT.
func (s *Server) getMessages(c *call) reply {
	ch := s.pathChannel(c, 0)
	p := s.permissions(ch, s.Bot.ID)
	if (ch.Type == Voice || ch.Type == Stage) && !p.Has(Connect) {
		return missingAccess
	}
	q := c.r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "50"))
	if err != nil || limit < 1 || limit > 100 {
		s.refuse(c, BadRequest, invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100."),
			"limit=%q", q.Get("limit"))
	}
	page := []Message{}
	if !p.Has(ReadMessageHistory) {
		return ok(page)
	}
	before, after := parseID(q.Get("before")), parseID(q.Get("after"))
	there := slices.DeleteFunc(slices.Clone(ch.messages), func(m *storedMessage) bool {
		return m.Deleted || m.Flags&Ephemeral != 0 || m.ID <= after || before != 0 && before <= m.ID
	})
	if after != 0 {
		there = there[:min(len(there), limit)]
	}
	for _, m := range there[max(0, len(there)-limit):] {
		page = append(page, m.Message)
	}
	slices.Reverse(page)
	return ok(page)
}

func (s *Server) getMessage(c *call) reply {
	ch := s.pathChannel(c, ReadMessageHistory)
	m := s.find(ch, c.id("message"))
	if m == nil || m.Flags&Ephemeral != 0 {
		return unknownMessage
	}
	return ok(m.Message)
}

// nonceLifetime is how long a nonce is remembered.
const nonceLifetime = 5 * time.Minute

func (s *Server) postMessage(c *call) reply {
	ch := s.pathChannel(c, 0)
	p := s.permissions(ch, s.Bot.ID)
	if ch.Type == Category || ch.Type == Forum || ch.Type == Media {
		s.refuse(c, BadRequest, refuse(400, 50008, "Cannot send messages in a non-text channel"),
			"nobody can write in a channel of type %d", ch.Type)
	}
	if !p.Has(ch.Type.sendPermission()) || len(c.files) > 0 && !p.Has(AttachFiles) {
		return missingPermission
	}
	var b messageBody
	s.decode(c, &b)
	s.check(c, ch, &b, nil)
	if first := s.nonces[b.Nonce]; b.Nonce != "" && b.EnforceNonce && first != nil &&
		s.clock.now.Sub(first.ID.Time()) < nonceLifetime {
		return ok(first.Message)
	}
	m := s.compose(c, ch, &b, p)
	m.Nonce = b.Nonce
	s.nonces[b.Nonce] = m
	s.post(ch, m)
	return ok(m.Message)
}

// compose makes the bot's message from a checked body.
func (s *Server) compose(c *call, ch *channel, b *messageBody, p Permissions) *storedMessage {
	text := ""
	if b.Content != nil {
		text = strings.TrimSpace(*b.Content)
	}
	m := s.newMessage(ch, s.Bot.ID, text)
	m.Embeds, m.Components = append([]json.RawMessage{}, b.Embeds...), filled(b.Components, new(int))
	m.Flags = b.flags(0)
	m.Bodies, m.Doors = []json.RawMessage{c.body}, []int{doorOf(c.r)}
	s.attach(c, b, m)
	if b.Reference != nil {
		to := s.find(ch, b.Reference.MessageID)
		switch {
		case !p.Has(ReadMessageHistory):
			deny(refuse(400, 160002, "Cannot reply without permission to read message history"))
		case to != nil && (b.Allowed == nil || b.Allowed.RepliedUser):
			ReplyTo(to.ID)(s, m)
		case to != nil:
			QuietReplyTo(to.ID)(s, m)
		case b.Reference.FailIfNotExists == nil || *b.Reference.FailIfNotExists:
			deny(invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message"))
		}
	}
	s.ping(c, m, b.Allowed, p)
	return m
}

var archived = refuse(400, 50083, "Thread is archived")

func (s *Server) patchMessage(c *call) reply {
	ch := s.pathChannel(c, 0)
	m := s.find(ch, c.id("message"))
	switch {
	case m == nil:
		return unknownMessage
	case m.Author.ID != s.Bot.ID:
		return refuse(403, 50005, "Cannot edit a message authored by another user")
	case ch.Thread != nil && ch.Thread.Archived:
		return archived
	}
	var b messageBody
	s.decode(c, &b)
	return s.editMessage(c, ch, m, &b)
}

// editMessage applies the bot's edit: it changes what the edit names.
func (s *Server) editMessage(c *call, ch *channel, m *storedMessage, b *messageBody) reply {
	s.check(c, ch, b, m)
	m.Bodies, m.Doors = append(m.Bodies, c.body), append(m.Doors, doorOf(c.r))
	if b.Embeds != nil {
		m.Embeds = b.Embeds
	}
	if b.Components != nil {
		m.Components = filled(b.Components, new(int))
	}
	text := m.Content
	if b.Content != nil {
		text = strings.TrimSpace(*b.Content)
	}
	s.rewrite(m, text)
	m.MentionEveryone = m.MentionEveryone && b.Allowed.parses("everyone")
	s.attach(c, b, m)
	m.Flags = b.flags(m.Flags) &^ Loading
	if m.Flags&Ephemeral == 0 {
		s.emitMessage("MESSAGE_UPDATE", ch, m)
	}
	return ok(m.Message)
}

func (s *Server) deleteMessage(c *call) reply {
	ch := s.pathChannel(c, 0)
	m := s.find(ch, c.id("message"))
	if m == nil {
		return unknownMessage
	}
	if m.Author.ID != s.Bot.ID && !s.permissions(ch, s.Bot.ID).Has(ManageMessages) {
		return missingPermission
	}
	if ch.Thread != nil && ch.Thread.Archived {
		return archived
	}
	s.remove(ch, m)
	return noContent()
}

func (s *Server) postTyping(c *call) reply {
	ch := s.pathChannel(c, 0)
	if !s.permissions(ch, s.Bot.ID).Has(ch.Type.sendPermission()) {
		return missingPermission
	}
	ch.typing = true
	return noContent()
}
