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
	Connection(ctx context.Context, guild memory.GuildID, user memory.UserID) (memory.Connection, error)
	Apply(ctx context.Context, events ...memory.Event) error
}

// Open is what a Door serves while Hark runs.
type Open struct {
	Store  Store
	Engine Engine
	// Asker returns a question of a member's without its text, as Discord knows them now. A answer.CallError
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
	limits  *ttl.Cache[memory.TokenHash, *rate.Limiter]
	mu      sync.Mutex // from the reading of a count to its keeping
}

// Path is where a Door is served.
const Path = "/mcp"

// Limits of requests.
const (
	maxBody   = 64 << 10 // bytes
	callEvery = time.Second
	callBurst = 30
	limiters  = 10_000
	limitTime = time.Hour
)

// NewDoor returns a door.
func NewDoor(now func() *Open, version string, failed func(tool string, err error)) *Door {
	d := &Door{Now: now, Version: version, Failed: failed, clock: time.Now,
		limits: ttl.New[memory.TokenHash, *rate.Limiter](limiters)}
	d.handler = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return r.Context().Value(visitorKey{}).(*mcp.Server)
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true}) // the token protects, and a proxy's requests come to localhost
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
	if ok = ok && strings.EqualFold(scheme, "Bearer"); ok {
		var err error
		if ok, err = d.holds(r.Context(), open, guild, user, hash); err != nil {
			d.Failed("", err)
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
	if !d.limiter(hash).AllowN(d.clock(), 1) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Too many requests: wait some seconds.", http.StatusTooManyRequests)
		return
	}
	s := New(Config{Engine: open.Engine, Version: d.Version, Failed: d.Failed,
		Reader: fmt.Sprintf("what is remembered of the Discord server %q, as far as the member who made the token may read "+
			"it there now", nameOf(r.Context(), open.Store, guild)),
		Asker: func(ctx context.Context) (answer.Question, error) {
			if err := d.use(ctx, open, guild, user, hash); err != nil {
				return answer.Question{}, err
			}
			return open.Asker(ctx, guild, user)
		}})
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
	c, err := open.Store.Connection(ctx, guild, user)
	return err == nil && c.IsOpen() && subtle.ConstantTimeCompare(c.Hash[:], hash[:]) == 1, err
}

// use counts a use, before anything is told.
func (d *Door) use(ctx context.Context, open *Open, guild memory.GuildID, user memory.UserID,
	hash memory.TokenHash) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, err := open.Store.Connection(ctx, guild, user)
	switch {
	case err != nil:
		return err
	case c.Hash != hash:
		return answer.CallError("The token was taken back.")
	}
	return open.Store.Apply(ctx, memory.ConnectionUsed{Guild: guild, User: user, Hash: hash, Uses: c.Uses + 1,
		At: d.clock()})
}

func (d *Door) limiter(hash memory.TokenHash) *rate.Limiter {
	now := d.clock()
	l, known := d.limits.Get(hash, now)
	if !known {
		l = rate.NewLimiter(rate.Every(callEvery), callBurst)
	}
	d.limits.Put(hash, l, now, now.Add(limitTime))
	return l
}
