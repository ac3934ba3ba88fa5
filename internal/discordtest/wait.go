package discordtest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// fatalf ends the test and names its line.
func (s *Server) fatalf(format string, args ...any) {
	s.tb.Fatalf("discordtest: %s, asked for in %s", fmt.Sprintf(format, args...), testLine())
}

// testLine returns the test's current line.
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

// WaitFor returns once ok is true. It asks at the beginning and after each change of the fake. ok must not
// change the fake. If it depends on anything else, call Poke when that changes.
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

// Poke has waiters ask again. Never call it within WaitFor's ok.
func (s *Server) Poke() { s.changed.Send() }

// WaitTakenIn returns once the bot has handled all events sent so far. The fake requests two heartbeats,
// because one may be the bot's own.
func (s *Server) WaitTakenIn() {
	wanted := map[*conn]int{}
	s.onConnection(func(c *conn) {
		wanted[c] = c.beats + 2
		c.control(1, nil)
		c.control(1, nil)
	})
	s.until("heartbeats", func() bool {
		for c, n := range wanted {
			if c.beats < n {
				return false
			}
		}
		return true
	})
}

// WaitReady returns once a bot is connected and was sent every guild.
func (s *Server) WaitReady() {
	s.until("the bot to connect", func() bool { return len(s.connected()) > 0 })
}

// WaitSent returns the bot's first message in the channel that satisfies match, in any of its versions.
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

// WaitTyping returns once the bot was typing in the channel.
func (s *Server) WaitTyping(channel ID) {
	s.until("the bot to type in channel "+channel.String(), func() bool { return s.channels[channel].typing })
}

// summary describes the fake's state for a failure.
func (s *Server) summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := "none"
	if n := len(s.requests); n > 0 {
		r := s.requests[n-1]
		last = fmt.Sprintf("%s %s (%d)", r.Method, r.Path, r.Status)
	}
	return fmt.Sprintf("waited in %s; a bot is connected: %t; identifies: %d; resumes: %d; REST calls: %d, the last: %s",
		testLine(), len(s.connected()) > 0, s.gateway.identifies, s.gateway.resumes, len(s.requests), last)
}
