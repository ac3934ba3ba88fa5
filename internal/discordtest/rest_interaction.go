package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

var (
	unknownInteraction = refuse(http.StatusNotFound, 10062, "Unknown interaction")
	unknownWebhook     = refuse(http.StatusNotFound, 10015, "Unknown Webhook")
)

// postCallback is the first response to an interaction, due within 3 seconds.
func (s *Server) postCallback(c *call) reply {
	i := s.interactions[c.r.PathValue("interaction_token")]
	if i == nil || i.ID != c.id("interaction") {
		return unknownInteraction
	}
	if i.answered {
		s.refuse(c, AnsweredTwice, refuse(400, 40060, "Interaction has already been acknowledged."),
			"interaction %d", i.ID)
	}
	if late := s.clock.now.Sub(i.ID.Time()); late > answerWithin {
		s.refuse(c, Late, unknownInteraction, "interaction %d, after %v", i.ID, late)
	}
	var b struct {
		Type int             `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	s.decode(c, &b)
	var m messageBody
	if len(b.Data) > 0 && b.Type <= 5 {
		if err := json.Unmarshal(b.Data, &m); err != nil {
			s.badBody(c, err)
		}
	}
	if b.Type != 4 { // its own checks are more exact
		s.checkSchema(c)
	}
	var err error
	switch {
	case b.Type == 4 && i.kind != 4:
		s.check(c, i.channel, &m, nil)
		i.original = s.composeFor(c, i, &m)
	case b.Type == 5 && i.kind != 4:
		i.original = s.composeFor(c, i, &messageBody{Flags: new(m.flags(0) & Ephemeral)})
		i.original.Flags |= Loading
	case b.Type == 6 && i.source != nil:
		i.original = i.source
	case b.Type == 8 && i.kind == 4:
		err = checkChoicesShown(b.Data)
	case b.Type == 9 && i.kind != 4 && i.kind != 5:
		_, _, err = readForm(b.Data)
	default:
		err = fmt.Errorf("callback of type %d to an interaction of type %d", b.Type, i.kind)
	}
	if err != nil {
		s.badBody(c, err)
	}
	i.answered = true
	i.response = Response{Type: b.Type, Ephemeral: m.flags(0)&Ephemeral != 0, Data: b.Data}
	return noContent()
}

// composeFor makes the bot's response message. An ephemeral one isn't posted.
func (s *Server) composeFor(c *call, i *Interaction, b *messageBody) *storedMessage {
	m := s.compose(c, i.channel, b, s.permissions(i.channel, s.Bot.ID))
	m.ApplicationID, m.WebhookID, m.Interaction = s.AppID, s.AppID, i.meta
	if i.kind == 2 {
		m.Type = 20
	}
	if m.Flags&Ephemeral != 0 {
		m.Versions = []string{m.Content}
		return m
	}
	s.post(i.channel, m)
	return m
}

// followedInteraction returns the interaction of the path's token, if that is valid.
func (s *Server) followedInteraction(c *call) *Interaction {
	i := s.interactions[c.r.PathValue("webhook_token")]
	if i == nil || c.id("webhook") != s.AppID {
		deny(unknownWebhook)
	}
	if age := s.clock.now.Sub(i.ID.Time()); age > tokenLifetime {
		s.refuse(c, ExpiredToken, refuse(http.StatusUnauthorized, 50027, "Invalid Webhook Token"), "after %v", age)
	}
	if !i.answered {
		s.refuse(c, Unacknowledged, unknownWebhook, "interaction %d", i.ID)
	}
	return i
}

// postFollowUp adds a message. The first after a deferred response replaces that.
func (s *Server) postFollowUp(c *call) reply {
	i := s.followedInteraction(c)
	var b messageBody
	s.decode(c, &b)
	s.check(c, i.channel, &b, nil)
	if i.original != nil && i.original.Flags&Loading != 0 {
		return s.editMessage(c, i.channel, i.original, &b)
	}
	m := s.composeFor(c, i, &b)
	i.follows = append(i.follows, m)
	return ok(m.Message)
}

// patchFollowUp edits the path's follow-up, or the original response.
func (s *Server) patchFollowUp(c *call) reply {
	i := s.followedInteraction(c)
	var b messageBody
	s.decode(c, &b)
	for _, m := range i.messages() {
		if m.ID == c.id("message") || c.id("message") == 0 && m == i.original {
			return s.editMessage(c, i.channel, m, &b)
		}
	}
	return unknownMessage
}
