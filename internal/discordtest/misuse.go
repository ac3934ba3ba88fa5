package discordtest

import "fmt"

// Misuse is a kind of thing that a bot must not do.
type Misuse string

// What the fake reports. Everything but Unlocked and Pings is refused by Discord as well.
const (
	TooLong        Misuse = "content over 2,000 characters"
	Empty          Misuse = "empty message"
	Unlocked       Misuse = "allowed_mentions not locked"
	Pings          Misuse = "ping that nobody allowed"
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
)

// report is one misuse that was seen.
type report struct {
	Kind   Misuse
	Detail string
}

// Allow says that the test expects these misuses: they are still refused and recorded, but don't fail it.
func (s *Server) Allow(kinds ...Misuse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kinds {
		s.allowed[k] = true
	}
}

// misuse records and reports what the bot did. The lock is held.
func (s *Server) misuse(kind Misuse, format string, args ...any) {
	r := report{kind, fmt.Sprintf(format, args...)}
	s.misuses = append(s.misuses, r)
	if !s.closed && !s.allowed[kind] {
		s.tb.Errorf("discordtest: %s: %s", r.Kind, r.Detail)
	}
}

// refuse reports what the bot did with a call and ends the handler with an answer.
func (s *Server) refuse(c *call, kind Misuse, answer reply, format string, args ...any) {
	s.misuse(kind, "%s %s: %s", c.r.Method, c.path, fmt.Sprintf(format, args...))
	deny(answer)
}
