package discordtest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Drop breaks the gateway connection without a word. The session can be resumed.
func (s *Server) Drop() { s.onConnection(func(c *conn) { c.closeWith(abruptClose) }) }

// CloseWith closes the connection with a code of Discord's.
func (s *Server) CloseWith(code int) { s.onConnection(func(c *conn) { c.closeWith(code) }) }

// ResetToken makes another token the bot's, as its owner can.
func (s *Server) ResetToken(token string) {
	defer s.change()()
	s.Token = token
}

// SetIntents has no privileged intents but these be switched on in the portal from now on.
func (s *Server) SetIntents(i Intents) {
	defer s.change()()
	s.intents = i
}

// AskReconnect tells the bot to reconnect (op 7).
func (s *Server) AskReconnect() { s.onConnection(func(c *conn) { c.control(7, nil) }) }

// Late has a channel tell its newest message late, as Discord does under load: last_message_id stays what it is.
func (s *Server) Late(channelID ID) {
	defer s.change()()
	s.channel(channelID).lastMessageFrozen = true
}

// LeaveOut has the next event of that name come without some of its fields, as Discord's may: "nsfw", or, of
// each object in a list, "channels.nsfw".
func (s *Server) LeaveOut(event string, fields ...string) {
	defer s.change()()
	s.gateway.omitted[event] = fields
}

// without is what an event tells without the fields to be left out of it.
func (g *gateway) omitFields(event string, payload any) any {
	fields, brief := g.omitted[event]
	if !brief {
		return payload
	}
	delete(g.omitted, event)
	told := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(encode(payload)))
	decoder.UseNumber()
	if err := decoder.Decode(&told); err != nil {
		panic(err) // a payload of the fake's own
	}
	for _, field := range fields {
		list, inner, nested := strings.Cut(field, ".")
		if !nested {
			delete(told, field)
			continue
		}
		for _, item := range told[list].([]any) {
			delete(item.(map[string]any), inner)
		}
	}
	return told
}

// RefuseResumes makes the next n resumes fail: what was said in the gap is then to be had by REST only.
func (s *Server) RefuseResumes(n int) {
	defer s.change()()
	s.gateway.resumesToRefuse = n
}

// Duplicate delivers each of the next n events twice.
func (s *Server) Duplicate(n int) {
	defer s.change()()
	s.gateway.duplicate = n
}

func (s *Server) onConnection(f func(*conn)) {
	defer s.change()()
	x := s.connected()
	if x == nil {
		s.fatalf("no bot is connected")
	}
	f(x.conn)
}
