// Package clock tells a server's time by the dates of its answers.
package clock

import (
	"net/http"
	"sync"
	"time"
)

// Clock is this machine's clock, corrected by as little as a server's dates demand. The zero Clock isn't corrected yet.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration // by how much this machine's clock is ahead of the server's
	known bool          // whether the server has told its date
}

// Now returns the server's time. Where this machine's clock agrees with it, that is this machine's time; otherwise it
// is right within a second and the time that an answer takes.
func (c *Clock) Now() time.Time {
	ahead, _ := c.Ahead()
	return time.Now().Add(-ahead)
}

// Ahead returns by how much this machine's clock is ahead of the server's, less than 0 if it is behind. known is false
// while the server hasn't told its date.
func (c *Clock) Ahead() (ahead time.Duration, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead, c.known
}

// Transport returns next, and lets the clock read the dates of its answers.
func (c *Clock) Transport(next http.RoundTripper) http.RoundTripper { return transport{c, next} }

type transport struct {
	clock *Clock
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := time.Now()
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.Header.Get("Age") != "" { // a cache's copy is old
		return answer, nil
	}
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err == nil {
		t.clock.read(sent, time.Now(), date)
	}
	return answer, nil
}

// read corrects the clock by the date of an answer. It was written after sent and before received, in the second that
// date begins.
func (c *Clock) read(sent, received, date time.Time) {
	least := sent.Sub(date.Add(time.Second))
	most := received.Sub(date)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = min(max(c.ahead, least), most)
	c.known = true
}
