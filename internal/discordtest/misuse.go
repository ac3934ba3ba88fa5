package discordtest

import "fmt"

// Misuse is a kind of request that a bot must not make.
type Misuse string

// The reported misuses. Discord refuses all except Unlocked, Pings and Previews.
const (
	TooLong        Misuse = "content over 2,000 characters"
	Empty          Misuse = "empty message"
	Unlocked       Misuse = "allowed_mentions not locked"
	Pings          Misuse = "ping that nobody allowed"
	Previews       Misuse = "text whose links Discord would fetch"
	MixedMentions  Misuse = "allowed_mentions contradict themselves"
	BadComponents  Misuse = "components that break Discord's limits"
	Late           Misuse = "interaction answered after 3 seconds"
	AnsweredTwice  Misuse = "interaction answered twice"
	ExpiredToken   Misuse = "interaction token used after 15 minutes"
	Unacknowledged Misuse = "interaction followed up before it was answered"
	BadFiles       Misuse = "files that can't be"
	BadRequest     Misuse = "request that is no valid one"
	Deviation      Misuse = "deviation from Discord's OpenAPI document"
	GatewayMisuse  Misuse = "gateway misuse"
	Early          Misuse = "identify too soon after another"
)

type report struct {
	Kind   Misuse
	Detail string
}

// Allow expects these misuses: they are refused and recorded without failing the test.
func (s *Server) Allow(kinds ...Misuse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kinds {
		s.allowed[k] = true
	}
}

// misuse records a misuse and fails the test. The lock is held.
func (s *Server) misuse(kind Misuse, format string, args ...any) {
	r := report{kind, fmt.Sprintf(format, args...)}
	s.misuses = append(s.misuses, r)
	if !s.closed && !s.allowed[kind] {
		s.tb.Errorf("discordtest: %s: %s", r.Kind, r.Detail)
	}
}

// refuse reports a misuse and ends the handler with an answer.
func (s *Server) refuse(c *call, kind Misuse, answer reply, format string, args ...any) {
	s.misuse(kind, "%s %s: %s", c.r.Method, c.path, fmt.Sprintf(format, args...))
	deny(answer)
}

// Misuses returns how often a misuse was reported.
func (s *Server) Misuses(kind Misuse) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.misuses {
		if r.Kind == kind {
			n++
		}
	}
	return n
}
