package discordtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"
)

// shard is a shard's number, and how many there are.
type shard [2]int

// has reports whether the shard gets a guild's events. Direct messages, guild 0, go to shard 0.
func (x shard) has(guild ID) bool { return int(int64(guild)>>22%int64(x[1])) == x[0] }

// Begun is a session that a bot began or resumed.
type Begun struct {
	Session   string
	Shard, Of int
	Door      int // where the connection came in; see Server.Door
	Resumed   bool
	At        time.Time // real time
	Beside    []int     // the doors of other connections of the shard that were open then
}

// Begun returns the sessions that were begun and resumed, in order.
func (s *Server) Begun() []Begun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gateway.begun)
}

// WithShards sets how many shards the fake recommends; the default is 1.
func WithShards(n int) Option { return func(s *Server) { s.shards = n } }

// WithConcurrency sets max_concurrency, the number of buckets in which sessions begin; the default is 1.
func WithConcurrency(n int) Option { return func(s *Server) { s.concurrency = n } }

// WithIdentifyEvery sets the least real time between two sessions that begin in a bucket. An earlier IDENTIFY is
// a misuse, and gets an invalid session. Discord's is 5 seconds; the default is none, so that tests are quick.
func WithIdentifyEvery(d time.Duration) Option { return func(s *Server) { s.identifyEvery = d } }

// SetShards changes how many shards the fake recommends, and the least number that it takes. IDENTIFY with fewer
// closes the gateway with 4011.
func (s *Server) SetShards(recommended, least int) {
	defer s.change()()
	s.shards, s.leastShards = recommended, least
}

// NextOn moves the fake's time so that the next id belongs to a shard. Ids of one millisecond share a shard.
func (s *Server) NextOn(no, of int) {
	defer s.change()()
	for at := (shard{no, of}); ; {
		s.clock.now = s.clock.now.Add(time.Millisecond)
		if at.has(ID((s.clock.now.UnixMilli() - discordEpoch) << 22)) {
			return
		}
	}
}

// WaitShards returns once all shards are connected and were sent their guilds.
func (s *Server) WaitShards(of int) {
	s.until("all shards to connect", func() bool {
		up := map[shard]bool{}
		for _, x := range s.connected() {
			if x.shard[1] == of {
				up[x.shard] = true
			}
		}
		return len(up) == of
	})
}

// doorKey has the door's number in a request's context.
type doorKey struct{}

func doorOf(r *http.Request) int {
	door, _ := r.Context().Value(doorKey{}).(int)
	return door
}

// Door opens another address of the same server and returns it, to be used instead of URL, which is door 0. The
// fake records at which door a request or connection came in. So tests tell several processes apart. With several
// doors, READY names no address to resume at, as it would lead through another process's door.
func (s *Server) Door() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	no := len(s.doors)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r.WithContext(context.WithValue(r.Context(), doorKey{}, no)))
	}))
	s.doors = append(s.doors, door)
	return door.URL
}

// Doors returns how many doors there are; the newest is one less.
func (s *Server) Doors() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.doors)
}

func (s *Server) isDoor(addr string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.doors, func(d *httptest.Server) bool { return d.Listener.Addr().String() == addr })
}

// gatewayURL returns the gateway's address at a door. The lock is held.
func (s *Server) gatewayURL(door int) string { return "ws" + s.doors[door].URL[len("http"):] }

// resumeURL returns the address for RESUME.
func (s *Server) resumeURL() string {
	if len(s.doors) > 1 {
		return ""
	}
	return s.gatewayURL(0)
}
