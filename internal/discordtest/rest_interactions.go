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
	s.decode(c, &b)
	var m messageBody
	if len(b.Data) > 0 && b.Type <= 7 {
		if err := json.Unmarshal(b.Data, &m); err != nil {
			s.badBody(c, err)
		}
	}
	s.respond(c, i, b.Type, &m, b.Data)
	i.answered = true
	i.response = Response{Type: b.Type, Ephemeral: m.Flags&Ephemeral != 0, Data: b.Data}
	return none()
}

// respond does what the callback says.
func (s *Server) respond(c *call, i *Interaction, kind int, b *messageBody, data json.RawMessage) {
	component := i.source != nil
	if kind != 4 && kind != 7 { // whose checks know more exactly what is wrong
		s.checkOdd(c)
	}
	switch {
	case kind == 4 && i.kind != 4:
		s.check(c, i.channel, b, true)
		m := s.composeFor(c, i, b)
		i.original = m
	case kind == 5 && i.kind != 4:
		m := s.composeFor(c, i, &messageBody{Flags: b.Flags & Ephemeral})
		m.Flags |= Loading
		i.original = m
	case kind == 6 && component:
		i.original = i.source
	case kind == 7 && component:
		s.checkEdit(c, i.channel, i.source, b)
		s.applyEdit(c, i.channel, i.source, b)
		i.original = i.source
	case kind == 8 && i.kind == 4:
		if err := checkChoicesShown(data); err != nil {
			s.badBody(c, err)
		}
	case kind == 9 && i.kind != 4 && i.kind != 5:
		if _, err := readModal(data); err != nil {
			s.badBody(c, err)
		}
	default:
		s.misuse(BadRequest, "POST %s: callback of type %d to an interaction of type %d", c.path, kind, i.kind)
		deny(invalid("type", "INTERACTION_APPLICATION_INVALID_TYPE", "Interaction callback type is invalid"))
	}
}

// composeFor makes a message of the bot's in answer to an interaction. What only the user sees isn't posted.
func (s *Server) composeFor(c *call, i *Interaction, b *messageBody) *stored {
	m := s.compose(c, i.channel, b, s.permissions(i.channel, s.Bot.ID))
	m.ApplicationID, m.WebhookID, m.Interaction = s.AppID, s.AppID, i.meta
	if i.kind == 2 {
		m.Type = 20
	}
	if m.Flags&Ephemeral != 0 {
		m.versions = []string{m.Content}
		return m
	}
	s.post(i.channel, m)
	return m
}

// followed is the interaction whose token is in the path, if that still counts.
func (s *Server) followed(c *call) *Interaction {
	i := s.interactions[c.r.PathValue("token")]
	if i == nil || c.id("app") != s.AppID {
		deny(unknownWebhook)
	}
	if age := s.clock.now.Sub(i.ID.Time()); age > tokenLife {
		s.misuse(ExpiredToken, "%s %s, after %v", c.r.Method, c.path, age)
		deny(invalidToken)
	}
	if !i.answered {
		s.misuse(Unacknowledged, "%s %s", c.r.Method, c.path)
		deny(unknownWebhook)
	}
	return i
}

// postFollowUp adds a message. The first one after a deferred answer takes that one's place.
func (s *Server) postFollowUp(c *call) reply {
	i := s.followed(c)
	var b messageBody
	s.decode(c, &b)
	s.check(c, i.channel, &b, true)
	if i.original != nil && i.original.Flags&Loading != 0 {
		return s.amend(c, i.channel, i.original)
	}
	m := s.composeFor(c, i, &b)
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

func (s *Server) patchFollowUp(c *call) reply {
	i := s.followed(c)
	m := i.answerIn(c)
	if m == nil {
		return unknownMessage
	}
	return s.amend(c, i.channel, m)
}
