package discordtest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// allowedMentions is who a message may ping.
type allowedMentions struct {
	Parse       *[]string `json:"parse"`
	Users       []ID      `json:"users"`
	Roles       []ID      `json:"roles"`
	RepliedUser bool      `json:"replied_user"`
}

// locked reports whether nobody is pinged that isn't named one by one.
func (a *allowedMentions) locked() bool { return a != nil && a.Parse != nil && len(*a.Parse) == 0 }

func (a *allowedMentions) parses(what string) bool {
	return a == nil || a.Parse != nil && slices.Contains(*a.Parse, what)
}

// check asserts what Discord asks of a message, and that its mentions are locked, which is Hark's own rule.
// whole says that it is a new message rather than an edit.
func (s *Server) check(c *call, ch *channel, b *messageBody, whole bool) {
	s.checkContent(c, b, whole)
	s.checkComponents(c, b.Components)
	s.checkMentions(c, b, whole)
	if whole {
		s.checkFiles(c, b, nil)
	}
	s.checkOdd(c)
}

func (s *Server) checkContent(c *call, b *messageBody, whole bool) {
	text := ""
	if b.Content != nil {
		text = *b.Content
	}
	if n := utf8.RuneCountInString(text); n > 2000 { // Discord counts code points
		s.misuse(TooLong, "%s %s: %d characters", c.r.Method, c.path, n)
		deny(invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length."))
	}
	bare := strings.TrimSpace(text) == "" && len(b.Embeds) == 0 && len(c.files) == 0 && len(b.Stickers) == 0 &&
		len(b.Components) == 0
	if whole && bare {
		s.misuse(Empty, "%s %s", c.r.Method, c.path)
		deny(refuse(400, 50006, "Cannot send an empty message"))
	}
	if n := utf8.RuneCountInString(nonceText(b.Nonce)); n > 25 {
		s.misuse(BadNonce, "%s %s: %d characters", c.r.Method, c.path, n)
		deny(invalid("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length."))
	}
}

// fits reports whether a text has 1 to most characters.
func fits(text string, most int) bool {
	n := utf8.RuneCountInString(text)
	return 1 <= n && n <= most
}

// nonceText is a nonce as text, whether it came as a string or as a number.
func nonceText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// checkEdit is check for an edit, which may leave out what stays as it is.
func (s *Server) checkEdit(c *call, ch *channel, m *stored, b *messageBody) {
	s.check(c, ch, b, false)
	if len(c.files) > 0 && !s.permissions(ch, s.Bot.ID).Has(AttachFiles) {
		deny(missingPermission)
	}
	s.checkFiles(c, b, m)
	text, embeds, components, files := m.Content, len(m.Embeds), len(m.Components), len(m.Attachments)
	if b.Attachments != nil {
		files = len(b.Attachments)
	}
	if b.Content != nil {
		text = strings.TrimSpace(*b.Content)
	}
	if b.Embeds != nil {
		embeds = len(b.Embeds)
	}
	if b.Components != nil {
		components = len(b.Components)
	}
	if text == "" && embeds+components+files+len(c.files) == 0 {
		s.misuse(Empty, "%s %s", c.r.Method, c.path)
		deny(refuse(400, 50006, "Cannot send an empty message"))
	}
}

func (s *Server) checkMentions(c *call, b *messageBody, whole bool) {
	a := b.Allowed
	if !a.locked() && (whole || b.Content != nil) {
		s.misuse(Unlocked, `%s %s: allowed_mentions has to be there with "parse":[]`, c.r.Method, c.path)
	}
	if a == nil {
		return
	}
	if a.Parse != nil && (a.parses("users") && len(a.Users) > 0 || a.parses("roles") && len(a.Roles) > 0) {
		s.misuse(MixedMentions, "%s %s: parse beside a list of the same kind", c.r.Method, c.path)
		deny(invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
			"parse: and a list of the same kind are mutually exclusive."))
	}
}

// ping works out whom a new message really notifies, and reports everybody who wasn't named for it.
func (s *Server) ping(c *call, m *stored, a *allowedMentions, p Permissions) {
	for _, u := range m.Mentions {
		replied := m.loud && m.Referenced != nil && m.Referenced.Author.ID == u.ID
		if a != nil && (slices.Contains(a.Users, u.ID) || replied && a.RepliedUser) {
			m.pinged = append(m.pinged, u.ID)
		} else if a.parses("users") {
			s.pingUnasked(c, m, u.ID)
		}
	}
	for _, r := range m.MentionRoles {
		can := p.Has(MentionEveryone) || s.role(s.guilds[m.GuildID], r).Mentionable
		if a != nil && slices.Contains(a.Roles, r) && can {
			m.pinged = append(m.pinged, r)
		} else if a.parses("roles") && can {
			s.pingUnasked(c, m, r)
		}
	}
	m.MentionEveryone = m.MentionEveryone && a.parses("everyone")
	if m.MentionEveryone {
		s.pingUnasked(c, m, m.GuildID)
	}
}

func (s *Server) pingUnasked(c *call, m *stored, id ID) {
	m.pinged = append(m.pinged, id)
	s.misuse(Pings, "%s %s: notifies %d", c.r.Method, c.path, id)
}

// fillComponents adds what Discord fills in: numbers for components without an id, and defaults.
func (s *Server) fillComponents(components []json.RawMessage) []json.RawMessage {
	n := 0
	return numbered(components, &n)
}

// componentDefaults are what Discord answers where a component left something out, by its type: menus.
var componentDefaults = map[int]object{
	3: {"min_values": 1, "max_values": 1}, 5: {"min_values": 1, "max_values": 1}, 6: {"min_values": 1, "max_values": 1},
	7: {"min_values": 1, "max_values": 1}, 8: {"min_values": 1, "max_values": 1},
}

func numbered(components []json.RawMessage, n *int) []json.RawMessage {
	filled := []json.RawMessage{}
	for _, raw := range components {
		*n++
		c := object{"id": *n}
		var inner struct {
			Type       int               `json:"type"`
			Components []json.RawMessage `json:"components"`
		}
		if json.Unmarshal(raw, &inner) != nil {
			continue // the document has found fault with it
		}
		maps.Copy(c, componentDefaults[inner.Type])
		_ = json.Unmarshal(raw, &c)
		if inner.Components != nil {
			c["components"] = numbered(inner.Components, n)
		}
		filled = append(filled, encode(c))
	}
	return filled
}
