package discordtest

import (
	"fmt"
	"time"
)

// WaitFor returns once ok does, which is asked again after every change of the fake's, and fails the test when
// that takes longer than the server's patience. ok may call any method but those that wait. If it looks at
// something outside of the fake, call Poke when that changes.
func (s *Server) WaitFor(what string, ok func() bool) {
	s.tb.Helper()
	timeout := time.NewTimer(s.patience)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			s.tb.Fatalf("discordtest: waited %v in vain for %s; %s", s.patience, what, s.summary())
		}
	}
}

// Poke lets those who wait ask again.
func (s *Server) Poke() { s.change(func() {}) }

// WaitReady returns once a bot is connected and has been told of every guild.
func (s *Server) WaitReady() {
	s.tb.Helper()
	s.WaitFor("the bot to connect", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.connected() != nil
	})
}

// WaitSent returns the first message of the bot's in the channel that satisfies match. A reply that is streamed
// by edits satisfies it as soon as one version does.
func (s *Server) WaitSent(channel ID, match func(Sent) bool) Sent {
	s.tb.Helper()
	var found Sent
	s.WaitFor("a message of the bot's in channel "+channel.String(), func() bool {
		for _, m := range s.Sent(channel) {
			if match(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// WaitTyping returns once the bot has shown that it types in the channel.
func (s *Server) WaitTyping(channel ID) {
	s.tb.Helper()
	s.WaitFor("the bot to type in channel "+channel.String(), func() bool { return s.Typing(channel) > 0 })
}

// summary tells, for the one who reads a failure, how things stand.
func (s *Server) summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := "none"
	if n := len(s.requests); n > 0 {
		r := s.requests[n-1]
		last = fmt.Sprintf("%s %s (%d)", r.Method, r.Path, r.Status)
	}
	return fmt.Sprintf("a bot is connected: %t; identifies: %d; resumes: %d; REST calls: %d, the last: %s",
		s.connected() != nil, s.gateway.identifies, s.gateway.resumes, len(s.requests), last)
}
