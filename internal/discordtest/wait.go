package discordtest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// fatalf ends the test, and names the line of the test that led to it.
func (s *Server) fatalf(format string, args ...any) {
	s.tb.Fatalf("discordtest: %s, asked for in %s", fmt.Sprintf(format, args...), testLine())
}

// testLine is the line of the test that is being carried out.
func testLine() string {
	callers := make([]uintptr, 50)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		at, more := frames.Next()
		if strings.HasSuffix(at.File, "_test.go") || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(at.File), at.Line)
		}
	}
}

// WaitFor returns once ok is true. It asks at the beginning and then once for each change of the fake's. ok
// may call any method but those that change something. If it looks at something outside of the fake, call
// Poke when that changes.
func (s *Server) WaitFor(what string, ok func() bool) {
	s.changed.Until(s.tb, what, ok, s.summary)
}

// until is WaitFor with the lock held while it asks.
func (s *Server) until(what string, ok func() bool) {
	s.WaitFor(what, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return ok()
	})
}

// Poke has those who wait ask again. Call it when something outside of the fake has changed, never in what
// WaitFor asks.
func (s *Server) Poke() { s.changed.Send() }

// WaitTakenIn returns once the bot has handled all that the gateway sent it. It is asked for two heartbeats,
// which it sends in its turn: one that it sends by itself meanwhile says nothing.
func (s *Server) WaitTakenIn() {
	before := s.count(&s.gateway.heartbeats)
	for range 2 {
		s.onConnection(func(c *conn) { c.control(1, nil) })
	}
	s.until("heartbeats", func() bool { return s.gateway.heartbeats >= before+2 })
}

// WaitReady returns once a bot is connected and has been told of every guild.
func (s *Server) WaitReady() {
	s.until("the bot to connect", func() bool { return s.connected() != nil })
}

// WaitSent returns the first message of the bot's in the channel that satisfies match. A reply that is streamed
// by edits satisfies it as soon as one version does.
func (s *Server) WaitSent(channel ID, match func(Sent) bool) Sent {
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
	s.until("the bot to type in channel "+channel.String(), func() bool { return s.channels[channel].typing })
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
	return fmt.Sprintf("waited in %s; a bot is connected: %t; identifies: %d; resumes: %d; REST calls: %d, the last: %s",
		testLine(), s.connected() != nil, s.gateway.identifies, s.gateway.resumes, len(s.requests), last)
}
