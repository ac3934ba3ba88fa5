package mcpserver

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"hark/internal/answer"
	"hark/internal/ttl"
	"hark/memory"
)

// Store is the part of memory.Store that a Door uses.
type Store interface {
	Guild(ctx context.Context, id memory.GuildID) (*memory.Guild, error)
	memory.Members
	Apply(ctx context.Context, events ...memory.Event) error
}

// Open is what a Door serves while Hark runs.
type Open struct {
	Store  Store
	Engine Engine
	// Asker returns a question of a member's without its text, as Discord knows them now. An answer.CallError
	// says why they may not ask.
	Asker func(ctx context.Context, guild memory.GuildID, user memory.UserID) (answer.Question, error)
}

// Door serves members' programs over HTTP. Each request brings a member's token; nothing else lets it in. It keeps no
// sessions, so that a token that was taken back opens nothing from then on.
type Door struct {
	// Now returns what is open; nil: nothing is yet.
	Now     func() *Open
	Version string
	Failed  func(tool string, err error)

	handler http.Handler
	clock   func() time.Time
	mu      sync.Mutex
	bearers *ttl.Cache[memory.TokenHash, *bearer] // guarded by mu
}

// bearer is what is known of who brings a token.
type bearer struct {
	requests, calls *rate.Limiter
	running         chan struct{} // calls
	counts          sync.Mutex    // from the reading of a count to its keeping
}

// Path is where a Door is served.
const Path = "/mcp"

// Limits of requests.
const (
	maxBody     = 64 << 10 // bytes
	callEvery   = time.Second
	callBurst   = 30
	perCall     = 4 // requests
	callsAtOnce = 4
	maxBearers  = 10_000
	bearerTime  = time.Hour
)

// NewDoor returns a door.
func NewDoor(now func() *Open, version string, failed func(tool string, err error)) *Door {
	d := &Door{
		Now:     now,
		Version: version,
		Failed:  failed,
		clock:   time.Now,
		bearers: ttl.New[memory.TokenHash, *bearer](maxBearers),
	}
	d.handler = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return r.Context().Value(visitorKey{}).(*mcp.Server)
	}, &mcp.StreamableHTTPOptions{
		Stateless:                  true,
		JSONResponse:               true,
		MaxRequestBodyBytes:        maxBody,
		DisableLocalhostProtection: true,
	}) // the token protects, and a proxy's requests come to localhost
	return d
}

// visitorKey is the context key of the server for a request.
type visitorKey struct{}

// ServeHTTP serves a request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	open := d.Now()
	if open == nil {
		http.Error(w, "Hark is starting: try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	guild, user, hash, ok := memory.ParseToken(strings.TrimSpace(token))
	ok = ok && strings.EqualFold(scheme, "Bearer")
	if ok {
		var err error
		ok, err = d.holds(r.Context(), open, guild, user, hash)
		if err != nil {
			if r.Context().Err() == nil {
				d.Failed("", err)
			}
			http.Error(w, errFailed, http.StatusServiceUnavailable)
			return
		}
	}
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Give the token that /memory connect gave you in Discord, as \"Authorization: Bearer hark_…\". "+
			"If you had one, it was taken back or replaced.", http.StatusUnauthorized)
		return
	}
	b := d.bearer(hash)
	if !b.requests.AllowN(d.clock(), 1) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Too many requests: wait some seconds.", http.StatusTooManyRequests)
		return
	}
	s := New(Config{Engine: open.Engine, Version: d.Version, Failed: d.Failed,
		Reader: fmt.Sprintf("what is remembered of the Discord server %q, as far as the member who made the token may read "+
			"it there now", nameOf(r.Context(), open.Store, guild)),
		Asker: func(ctx context.Context) (answer.Question, error) {
			if !b.calls.AllowN(d.clock(), 1) { // a request may hold many
				return answer.Question{}, answer.CallError("Too many calls: wait some seconds.")
			}
			q, err := open.Asker(ctx, guild, user)
			if err == nil {
				err = b.use(ctx, d.clock(), open.Store, guild, user, hash)
			}
			return q, err
		},
		Still: func(ctx context.Context) error {
			if ok, err := d.holds(ctx, open, guild, user, hash); ok || err != nil {
				return err
			}
			return errTakenBack
		},
		Turn: b.running})
	d.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, s)))
}

// nameOf returns a guild's name, or its id if it has none.
func nameOf(ctx context.Context, s Store, guild memory.GuildID) string {
	if g, err := s.Guild(ctx, guild); err == nil && g.Name != "" {
		return g.Name
	}
	return guild.String()
}

// holds reports whether a token is the member's.
func (d *Door) holds(ctx context.Context, open *Open, guild memory.GuildID, user memory.UserID,
	hash memory.TokenHash) (bool, error) {
	member, err := open.Store.Member(ctx, guild, user)
	c := member.Connection
	return err == nil && c.IsOpen() && subtle.ConstantTimeCompare(c.Hash[:], hash[:]) == 1, err
}

// errTakenBack is a CallError for a token that was taken back meanwhile.
const errTakenBack = answer.CallError("The token was taken back.")

// use counts a use of a token, before anything is told.
func (b *bearer) use(ctx context.Context, now time.Time, s Store, guild memory.GuildID, user memory.UserID,
	hash memory.TokenHash) error {
	b.counts.Lock()
	defer b.counts.Unlock()
	member, err := s.Member(ctx, guild, user)
	c := member.Connection
	switch {
	case err != nil:
		return err
	case c.Hash != hash:
		return errTakenBack
	}
	return s.Apply(ctx, memory.ConnectionUsed{
		Guild: guild,
		User:  user,
		Hash:  hash,
		Uses:  c.Uses + 1,
		At:    now,
	})
}

// bearer returns what is known of who brings a token.
func (d *Door) bearer(hash memory.TokenHash) *bearer {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock()
	b, known := d.bearers.Get(hash, now)
	if !known {
		calls := rate.Every(callEvery)
		b = &bearer{rate.NewLimiter(calls*perCall, callBurst*perCall), rate.NewLimiter(calls, callBurst),
			make(chan struct{}, callsAtOnce), sync.Mutex{}}
	}
	d.bearers.Put(hash, b, now, now.Add(bearerTime))
	return b
}
