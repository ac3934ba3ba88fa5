package discordtest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

type allowedMentions struct {
	Parse       *[]string `json:"parse"`
	Users       []ID      `json:"users"`
	Roles       []ID      `json:"roles"`
	RepliedUser bool      `json:"replied_user"`
}

// locked reports whether only users and roles named by id can be pinged.
func (a *allowedMentions) locked() bool { return a != nil && a.Parse != nil && len(*a.Parse) == 0 }

func (a *allowedMentions) parses(what string) bool {
	return a == nil || a.Parse != nil && slices.Contains(*a.Parse, what)
}

// check checks a new message, or an edit of m if that isn't nil, by Discord's rules, and by Hark's own rule
// that mentions are locked. An edit keeps what it leaves out.
func (s *Server) check(c *call, ch *channel, b *messageBody, m *storedMessage) {
	after := storedMessage{}
	if m != nil {
		after = *m
	}
	if b.Content != nil {
		after.Content = *b.Content
	}
	if b.Embeds != nil {
		after.Embeds = b.Embeds
	}
	if b.Components != nil {
		after.Components = b.Components
	}
	if b.Attachments != nil {
		after.Attachments = b.Attachments
	}
	if n := utf8.RuneCountInString(after.Content); n > 2000 { // Discord counts code points
		s.refuse(c, TooLong, invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length."),
			"%d characters", n)
	}
	parts := len(after.Embeds) + len(after.Components) + len(after.Attachments) + len(c.files) + len(b.Stickers)
	if parts == 0 && strings.TrimSpace(after.Content) == "" {
		s.refuse(c, Empty, refuse(400, 50006, "Cannot send an empty message"), "nothing is in it")
	}
	s.checkComponents(c, b.Components)
	if after.Flags = b.flags(after.Flags); after.Content != "" && after.Flags&suppressEmbeds == 0 {
		s.misuse(Previews, "%s %s: flags have to be there with SUPPRESS_EMBEDS", c.r.Method, c.path)
	}
	a := b.Allowed
	if !a.locked() && (m == nil || b.Content != nil) {
		s.misuse(Unlocked, `%s %s: allowed_mentions has to be there with "parse":[]`, c.r.Method, c.path)
	}
	if a != nil && a.Parse != nil && (a.parses("users") && len(a.Users) > 0 || a.parses("roles") && len(a.Roles) > 0) {
		s.refuse(c, MixedMentions, invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
			"parse: and a list of the same kind are mutually exclusive."), "parse beside a list of the same kind")
	}
	if m != nil && len(c.files) > 0 && !s.permissions(ch, s.Bot.ID).Has(AttachFiles) {
		deny(missingPermission)
	}
	s.checkFiles(c, b, m)
	s.checkSchema(c)
}

// flags returns a message's flags after a body: those that a bot can set, and of an older message (0: there is none) the
// others as they were.
func (b *messageBody) flags(were int) int {
	switch {
	case b.Flags == nil:
		return were
	case were == 0:
		return *b.Flags & (suppressEmbeds | 1<<12 | Ephemeral)
	}
	return were&^suppressEmbeds | *b.Flags&suppressEmbeds
}

// hasLength reports whether a text has 1 to most characters.
func hasLength(text string, most int) bool {
	n := utf8.RuneCountInString(text)
	return 1 <= n && n <= most
}

// ping finds out whom a new message notifies, and reports all who aren't named.
func (s *Server) ping(c *call, m *storedMessage, a *allowedMentions, p Permissions) {
	for _, u := range m.Mentions {
		replied := m.mentionsReplied && m.Referenced != nil && m.Referenced.Author.ID == u.ID
		if a != nil && (slices.Contains(a.Users, u.ID) || replied && a.RepliedUser) {
			m.Pinged = append(m.Pinged, u.ID)
		} else if a.parses("users") {
			s.reportPing(c, m, u.ID)
		}
	}
	for _, r := range m.MentionRoles {
		can := p.Has(MentionEveryone) || s.role(s.guilds[m.GuildID], r).Mentionable
		if a != nil && slices.Contains(a.Roles, r) && can {
			m.Pinged = append(m.Pinged, r)
		} else if a.parses("roles") && can {
			s.reportPing(c, m, r)
		}
	}
	m.MentionEveryone = m.MentionEveryone && a.parses("everyone")
	if m.MentionEveryone {
		s.reportPing(c, m, m.GuildID)
	}
}

func (s *Server) reportPing(c *call, m *storedMessage, id ID) {
	m.Pinged = append(m.Pinged, id)
	s.misuse(Pings, "%s %s: notifies %d", c.r.Method, c.path, id)
}
