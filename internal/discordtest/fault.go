package discordtest

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// Fault is how a REST call goes wrong. Make one with the functions below.
type Fault struct {
	reply
	performed bool // whether the call is carried out all the same
	hang      bool
}

// RateLimited answers 429 as Discord does, to be tried again after d.
func RateLimited(d time.Duration) Fault {
	after := fmt.Sprintf("%.3f", d.Seconds())
	f := Untold(`{"message": "You are being rate limited.", "code": 0, "retry_after": ` + after + `, "global": false}`)
	f.status, f.header = 429, map[string]string{"Content-Type": "application/json", "Retry-After": after,
		"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": after, "X-RateLimit-Scope": "user"}
	return f
}

// Banned answers 429 as Cloudflare does, in HTML, after too many refused requests.
func Banned() Fault {
	f := Untold("<!doctype html><title>Access denied | discord.com used Cloudflare to restrict access</title>")
	f.status, f.header = 429, map[string]string{"Retry-After": "1"}
	return f
}

// BadGateway answers 502 without having done anything.
func BadGateway() Fault {
	return Fault{reply: reply{status: 502, body: []byte("<html>502 Bad Gateway</html>")}}
}

// DoneButBadGateway carries the call out and answers 502: who tries again does it twice.
func DoneButBadGateway() Fault { return Fault{reply: BadGateway().reply, performed: true} }

// ServerError answers 500 without having done anything.
func ServerError() Fault { return errorFault(500, 0, "500: Internal Server Error") }

// Forbidden answers that the bot may not do that.
func Forbidden() Fault { return errorFault(403, 50013, "Missing Permissions") }

// Closed answers that somebody takes no direct messages from the bot.
func Closed() Fault { return errorFault(403, 50007, "Cannot send messages to this user") }

// Unfit answers that Discord doesn't take what was sent.
func Unfit() Fault { return errorFault(400, 50035, "Invalid Form Body") }

// Gone answers that there is no such message.
func Gone() Fault { return errorFault(404, 10008, "Unknown Message") }

// failing answers with an error as Discord words it.
func errorFault(status, code int, message string) Fault {
	f := Untold(fmt.Sprintf(`{"message": %q, "code": %d}`, message, code))
	f.status, f.header = status, map[string]string{"Content-Type": "application/json"}
	return f
}

// Untold answers with a body that lacks something.
func Untold(body string) Fault { return Fault{reply: ok([]byte(body))} }

// Malformed carries the call out and answers 200 with JSON that breaks off.
func Malformed() Fault { return Fault{reply: ok([]byte(`{"id": "12`)), performed: true} }

// Hang holds the call up until Release, then goes on as if nothing had been.
func Hang() Fault { return Fault{hang: true} }

// Injection is a fault that waits for its calls.
type Injection struct {
	s            *Server
	method, path string
	left, hits   int
	fault        Fault
	release      chan struct{}
	released     bool
}

// Inject lets the next n calls of a route go wrong: "POST /channels/*/messages", where * stands for one segment.
// Of several that fit, the first injected has the first calls.
func (s *Server) Inject(route string, n int, f Fault) *Injection {
	method, pattern, found := strings.Cut(route, " ")
	if _, err := path.Match(pattern, ""); !found || err != nil {
		s.fatalf("route %q is no method and path", route)
	}
	inj := &Injection{s: s, method: method, path: pattern, left: n, fault: f, release: make(chan struct{})}
	defer s.change()()
	s.injections = append(s.injections, inj)
	return inj
}

// Hits is how many calls have met the fault.
func (i *Injection) Hits() int { return i.s.count(&i.hits) }

// WaitHits returns once n calls have met the fault.
func (i *Injection) WaitHits(n int) {
	i.s.WaitFor(fmt.Sprintf("%d calls of %s %s", n, i.method, i.path), func() bool { return i.Hits() >= n })
}

// Release ends the fault: calls that Hang holds up go on, and later ones don't meet it.
func (i *Injection) Release() {
	defer i.s.change()()
	if !i.released {
		close(i.release)
	}
	i.released = true
}

// injected is the fault that this call meets, if any.
func (s *Server) takeInjection(c *call) *Injection {
	defer s.change()()
	for _, i := range s.injections {
		fits, _ := path.Match(i.path, c.path)
		if i.left > 0 && !i.released && i.method == c.r.Method && fits {
			i.left--
			i.hits++
			return i
		}
	}
	return nil
}

// hold waits for Release and reports whether the client is still there.
func (i *Injection) hold(r *http.Request) bool {
	select {
	case <-i.release:
		return true
	case <-r.Context().Done():
	case <-i.s.done:
	}
	return false
}
