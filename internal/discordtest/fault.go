package discordtest

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// Fault is how a REST call fails.
type Fault struct {
	reply
	performed bool // the call is performed all the same
	hang      bool
}

// RateLimited answers Discord's 429 with retry_after d.
func RateLimited(d time.Duration) Fault {
	after := fmt.Sprintf("%.3f", d.Seconds())
	f := Untold(`{"message": "You are being rate limited.", "code": 0, "retry_after": ` + after + `, "global": false}`)
	f.status, f.header = 429, map[string]string{"Content-Type": "application/json", "Retry-After": after,
		"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": after, "X-RateLimit-Scope": "user"}
	return f
}

// Banned answers Cloudflare's 429, in HTML, as after too many refused requests.
func Banned() Fault {
	f := Untold("<!doctype html><title>Access denied | discord.com used Cloudflare to restrict access</title>")
	f.status, f.header = 429, map[string]string{"Retry-After": "1"}
	return f
}

// BadGateway answers 502 without performing the call.
func BadGateway() Fault {
	return Fault{reply: reply{status: 502, body: []byte("<html>502 Bad Gateway</html>")}}
}

// DoneButBadGateway performs the call and answers 502: a retry performs it twice.
func DoneButBadGateway() Fault { return Fault{reply: BadGateway().reply, performed: true} }

// ServerError answers 500 without performing the call.
func ServerError() Fault { return errorFault(500, 0, "500: Internal Server Error") }

// Forbidden answers 403: no permission.
func Forbidden() Fault { return errorFault(403, 50013, "Missing Permissions") }

// Closed answers 403: the user takes no direct messages.
func Closed() Fault { return errorFault(403, 50007, "Cannot send messages to this user") }

// Unfit answers 400: Discord refuses the content.
func Unfit() Fault { return errorFault(400, 50035, "Invalid Form Body") }

// Gone answers 404: unknown message.
func Gone() Fault { return errorFault(404, 10008, "Unknown Message") }

// errorFault answers an error in Discord's form.
func errorFault(status, code int, message string) Fault {
	f := Untold(fmt.Sprintf(`{"message": %q, "code": %d}`, message, code))
	f.status, f.header = status, map[string]string{"Content-Type": "application/json"}
	return f
}

// Untold answers 200 with an incomplete body.
func Untold(body string) Fault { return Fault{reply: ok([]byte(body))} }

// Malformed performs the call and answers 200 with truncated JSON.
func Malformed() Fault { return Fault{reply: ok([]byte(`{"id": "12`)), performed: true} }

// Hang blocks the call until Release, then performs it.
func Hang() Fault { return Fault{hang: true} }

// Injection is a fault for certain calls.
type Injection struct {
	s            *Server
	method, path string
	left, hits   int
	fault        Fault
	release      chan struct{}
	released     bool
}

// Inject makes the next n calls of a route fail: "POST /channels/*/messages", where * is one segment. Earlier
// injections come first.
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

// Hits returns how many calls met the fault.
func (i *Injection) Hits() int { return i.s.count(&i.hits) }

// WaitHits returns once n calls met the fault.
func (i *Injection) WaitHits(n int) {
	i.s.WaitFor(fmt.Sprintf("%d calls of %s %s", n, i.method, i.path), func() bool { return i.Hits() >= n })
}

// Release ends the fault and lets hanging calls go on.
func (i *Injection) Release() {
	defer i.s.change()()
	if !i.released {
		close(i.release)
	}
	i.released = true
}

// takeInjection returns the fault that this call meets, or nil.
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

// hold waits for Release. It is false if the client has gone.
func (i *Injection) hold(r *http.Request) bool {
	select {
	case <-i.release:
		return true
	case <-r.Context().Done():
	case <-i.s.done:
	}
	return false
}
