package discordtest

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Drop breaks every gateway connection without a close frame. The sessions can be resumed.
func (s *Server) Drop() { s.onConnection(func(c *conn) { c.closeWith(abruptClose) }) }

// CloseWith closes every connection with a close code.
func (s *Server) CloseWith(code int) { s.onConnection(func(c *conn) { c.closeWith(code) }) }

// ResetToken replaces the bot's token.
func (s *Server) ResetToken(token string) {
	defer s.change()()
	s.Token = token
}

// SetIntents enables exactly these privileged intents from now on.
func (s *Server) SetIntents(i Intents) {
	defer s.change()()
	s.intents = i
}

// AskReconnect tells the bot to reconnect (op 7).
func (s *Server) AskReconnect() { s.onConnection(func(c *conn) { c.control(7, nil) }) }

// FreezeLastMessage freezes a channel's last_message_id, which Discord updates late under load.
func (s *Server) FreezeLastMessage(channelID ID) {
	defer s.change()()
	s.channel(channelID).lastMessageFrozen = true
}

// LeaveOut removes fields from the next event of that name: "nsfw" or, in each object of a list,
// "channels.nsfw".
func (s *Server) LeaveOut(event string, fields ...string) {
	defer s.change()()
	s.gateway.omitted[event] = fields
}

// omitFields removes those fields from an event.
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

// RefuseResumes makes the next n resumes fail: only REST has what was missed.
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
	all := s.connected()
	if len(all) == 0 {
		s.fatalf("no bot is connected")
	}
	for _, x := range all {
		f(x.conn)
	}
}
