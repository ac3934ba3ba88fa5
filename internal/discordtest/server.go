package discordtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"hark/internal/wait"
)

// Server is a fake Discord with one bot account. Any goroutine may call its methods, except those that wait
// or take ids: they may end the test, so only its own goroutine may call them.
type Server struct {
	URL   string // the value for discord.api_url
	Token string // the bot's, without "Bot "
	Bot   User
	AppID ID

	tb       testing.TB
	doors    []*httptest.Server
	rest     http.Handler
	client   *http.Transport
	schema   *openAPI
	gateways sync.WaitGroup
	done     chan struct{} // closed when the server stops

	changed            wait.Signal
	mu                 sync.Mutex
	closed             bool
	clock              clock
	intents            Intents       // enabled in the developer portal
	sessionStarts      int           // sessions allowed a day
	shards             int           // recommended
	leastShards        int           // fewer are refused
	concurrency        int           // sessions that may begin at once
	identifyEvery      time.Duration // between sessions of a bucket
	dateSkew           time.Duration // of the Date header from real time
	guilds             map[ID]*guild
	users              map[ID]*User
	channels           map[ID]*channel
	commands           map[ID][]*command // by guild; 0 for the global ones
	locales            map[ID]string     // of users who use Discord in another than en-US
	commandPermissions map[commandPermission]bool
	letsAll            bool // use commands that they may not use
	interactions       map[string]*Interaction
	nonces             map[string]*storedMessage
	cdn                map[string][]byte // files by the path of their URL
	gateway            gateway
	injections         []*Injection
	allowed            map[Misuse]bool
	misuses            []report
	requests           []Request
}

// Option configures New.
type Option func(*Server)

// WithIntents enables exactly these privileged intents; the default is MessageContent. Requesting another
// closes the gateway with 4014.
func WithIntents(i Intents) Option { return func(s *Server) { s.intents = i } }

// WithTime sets the fake's clock; the default is now.
func WithTime(t time.Time) Option { return func(s *Server) { s.clock.now = t } }

// WithStarts sets how many sessions a day the fake reports; the default is 1,000.
func WithStarts(n int) Option { return func(s *Server) { s.sessionStarts = n } }

// WithDateOff sets how far the Date header is ahead of real time.
func WithDateOff(d time.Duration) Option { return func(s *Server) { s.dateSkew = d } }

// New starts a fake Discord on loopback and stops it when the test ends.
func New(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s := &Server{
		tb:                 tb,
		done:               make(chan struct{}),
		clock:              clock{now: time.Now().Truncate(time.Millisecond)},
		intents:            MessageContent,
		sessionStarts:      1000,
		shards:             1,
		concurrency:        1,
		guilds:             map[ID]*guild{},
		users:              map[ID]*User{},
		channels:           map[ID]*channel{},
		commands:           map[ID][]*command{},
		locales:            map[ID]string{},
		commandPermissions: map[commandPermission]bool{},
		interactions:       map[string]*Interaction{},
		nonces:             map[string]*storedMessage{},
		cdn:                map[string][]byte{},
		allowed:            map[Misuse]bool{},
	}
	s.gateway = gateway{sessions: map[string]*session{}, conns: map[*conn]struct{}{}, omitted: map[string][]string{},
		buckets: map[int]time.Time{}}
	for _, o := range opts {
		o(s)
	}
	s.Bot = User{ID: s.clock.nextID(), Username: "hark", Discriminator: "0", Bot: true}
	s.users[s.Bot.ID] = &s.Bot
	s.AppID = s.Bot.ID
	s.Token = base64.RawURLEncoding.EncodeToString([]byte(s.Bot.ID.String())) +
		".Fake00.0000000000000000000000000000000"
	s.schema = loadOpenAPI(tb)
	s.rest = s.routes()
	s.URL = s.Door()
	s.client = &http.Transport{}
	tb.Cleanup(s.close)
	return s
}

// Client sends requests for Discord to the fake, and refuses all others.
func (s *Server) Client() *http.Client { return &http.Client{Transport: redirect{s}} }

// Dialer opens websockets to the fake only.
func (s *Server) Dialer() *websocket.Dialer {
	return &websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !s.isDoor(addr) {
			return nil, fmt.Errorf("dial %s: the fake Discord is at %s", addr, s.URL)
		}
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}}
}

// Now returns the fake's time, which only Advance moves.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.now
}

// Advance moves the fake's time: interactions and nonces expire, ids grow.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.now = s.clock.now.Add(d)
	s.notify()
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.serveGateway(w, r)
		return
	}
	r.URL.Path, r.URL.RawPath = version.ReplaceAllString(r.URL.Path, ""), ""
	s.rest.ServeHTTP(w, r)
}

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	close(s.done)
	for c := range s.gateway.conns {
		c.ws.Close()
	}
	s.notify()
	s.mu.Unlock()
	s.client.CloseIdleConnections()
	for _, d := range s.doors {
		d.CloseClientConnections()
		d.Close()
	}
	s.gateways.Wait()
}

// notify wakes all waiters. The lock is held.
func (s *Server) notify() { s.changed.Send() }

var discordHosts = regexp.MustCompile(`^(.+\.)?(discord\.com|discordapp\.com|discordapp\.net|discord\.gg)$`)

// redirect sends requests for Discord's hosts to the fake.
type redirect struct{ s *Server }

func (t redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	own, err := url.Parse(t.s.URL)
	if err != nil {
		return nil, err
	}
	if t.s.isDoor(r.URL.Host) {
		own.Host = r.URL.Host
	} else if !discordHosts.MatchString(r.URL.Hostname()) {
		return nil, fmt.Errorf("%s %s: a bot under test speaks to Discord only", r.Method, r.URL.Host)
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = own.Scheme, own.Host, ""
	return t.s.client.RoundTrip(r)
}
