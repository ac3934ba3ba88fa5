package discordtest

import (
	"encoding/json"
	"net/http"
)

var (
	unknownInteraction = refuse(http.StatusNotFound, 10062, "Unknown interaction")
	unknownWebhook     = refuse(http.StatusNotFound, 10015, "Unknown Webhook")
	invalidToken       = refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token")
)

// postCallback is the first answer to an interaction, due within 3 seconds.
func (s *Server) postCallback(c *call) reply {
	i := s.interactions[c.r.PathValue("token")]
	if i == nil || i.ID != c.id("id") {
		return unknownInteraction
	}
	if i.answered {
		s.misuse(AnsweredTwice, "interaction %d", i.ID)
		return refuse(400, 40060, "Interaction has already been acknowledged.")
	}
	if late := s.clock.now.Sub(i.ID.Time()); late > answerWithin {
		s.misuse(Late, "interaction %d, after %v", i.ID, late)
		return unknownInteraction
	}
	var b struct {
		Type int             `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := c.decode(&b); err != nil {
		return s.badBody(c, err)
	}
	var m messageBody
	if len(b.Data) > 0 && b.Type <= 7 {
		if err := json.Unmarshal(b.Data, &m); err != nil {
			return s.badBody(c, err)
		}
	}
	if bad := s.respond(c, i, b.Type, &m, b.Data); bad != nil {
		return *bad
	}
	i.answered = true
	i.response = Response{Type: b.Type, Ephemeral: m.Flags&Ephemeral != 0, Data: b.Data}
	return none()
}

// respond does what the callback says.
func (s *Server) respond(c *call, i *Interaction, kind int, b *messageBody, data json.RawMessage) *reply {
	component := i.source != nil
	if bad := s.checkOdd(c); bad != nil && kind != 4 && kind != 7 {
		return bad
	}
	switch {
	case kind == 4 && i.kind != 4:
		if bad := s.check(c, i.channel, b, true); bad != nil {
			return bad
		}
		m, bad := s.composeFor(c, i, b)
		if bad != nil {
			return bad
		}
		i.original = m
	case kind == 5 && i.kind != 4:
		m, bad := s.composeFor(c, i, &messageBody{Flags: b.Flags & Ephemeral})
		if bad != nil {
			return bad
		}
		m.Flags |= Loading
		i.original = m
	case kind == 6 && component:
		i.original = i.source
	case kind == 7 && component:
		if bad := s.checkEdit(c, i.channel, i.source, b); bad != nil {
			return bad
		}
		s.applyEdit(c, i.channel, i.source, b)
		i.original = i.source
	case kind == 8 && i.kind == 4:
		if err := checkChoicesShown(data); err != nil {
			return s.badForm(c, err)
		}
	case kind == 9 && i.kind != 4 && i.kind != 5:
		if _, err := readModal(data); err != nil {
			return s.badForm(c, err)
		}
	default:
		s.misuse(BadRequest, "POST %s: callback of type %d to an interaction of type %d", c.path, kind, i.kind)
		return new(invalid("type", "INTERACTION_APPLICATION_INVALID_TYPE", "Interaction callback type is invalid"))
	}
	return nil
}

func (s *Server) badForm(c *call, err error) *reply {
	bad := s.badBody(c, err)
	return &bad
}

// composeFor makes a message of the bot's in answer to an interaction. What only the user sees isn't posted.
func (s *Server) composeFor(c *call, i *Interaction, b *messageBody) (*stored, *reply) {
	m, bad := s.compose(c, i.channel, b, s.permissions(i.channel, s.Bot.ID))
	if bad != nil {
		return nil, bad
	}
	m.ApplicationID, m.WebhookID, m.Interaction = s.AppID, s.AppID, i.meta
	if i.kind == 2 {
		m.Type = 20
	}
	if m.Flags&Ephemeral != 0 {
		m.versions = []string{m.Content}
		return m, nil
	}
	s.post(i.channel, m)
	return m, nil
}

// followed is the interaction whose token is in the path, if that still counts.
func (s *Server) followed(c *call) (*Interaction, *reply) {
	i := s.interactions[c.r.PathValue("token")]
	if i == nil || c.id("app") != s.AppID {
		return nil, &unknownWebhook
	}
	if age := s.clock.now.Sub(i.ID.Time()); age > tokenLife {
		s.misuse(ExpiredToken, "%s %s, after %v", c.r.Method, c.path, age)
		return nil, &invalidToken
	}
	if !i.answered {
		s.misuse(Unacknowledged, "%s %s", c.r.Method, c.path)
		return nil, &unknownWebhook
	}
	return i, nil
}

// postFollowUp adds a message. The first one after a deferred answer takes that one's place.
func (s *Server) postFollowUp(c *call) reply {
	i, refused := s.followed(c)
	if refused != nil {
		return *refused
	}
	var b messageBody
	if err := c.decode(&b); err != nil {
		return s.badBody(c, err)
	}
	if bad := s.check(c, i.channel, &b, true); bad != nil {
		return *bad
	}
	if i.original != nil && i.original.Flags&Loading != 0 {
		return s.amend(c, i.channel, i.original)
	}
	m, bad := s.composeFor(c, i, &b)
	if bad != nil {
		return *bad
	}
	i.follows = append(i.follows, m)
	return ok(m.clone())
}

// answerIn is the message of the interaction that the path means: @original or a follow-up.
func (i *Interaction) answerIn(c *call) *stored {
	if c.r.PathValue("message") == "@original" {
		if i.original != nil && !i.original.deleted {
			return i.original
		}
		return nil
	}
	for _, m := range append([]*stored{i.original}, i.follows...) {
		if m != nil && m.ID == c.id("message") && !m.deleted {
			return m
		}
	}
	return nil
}

func (s *Server) onFollowUp(c *call, do func(*Interaction, *stored) reply) reply {
	i, refused := s.followed(c)
	if refused != nil {
		return *refused
	}
	m := i.answerIn(c)
	if m == nil {
		return unknownMessage
	}
	return do(i, m)
}

func (s *Server) patchFollowUp(c *call) reply {
	return s.onFollowUp(c, func(i *Interaction, m *stored) reply { return s.amend(c, i.channel, m) })
}
