// Package llm asks models that write answers, at any server that speaks OpenAI's protocol. It passes on only what
// members may see: it drops a model's thoughts in all their forms. Tool calls are passed on whole. An answer is whole
// or an error. Errors say what to do, and never hold the key, the prompt or the answer. Once a part of the answer was
// passed on, nothing is asked again. Begin with Client and Models.
package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"hark/internal/chat"
	"hark/internal/endpoint"
	"hark/internal/pace"
)

// Config says which model is asked, and how.
type Config struct {
	BaseURL     string // up to and including /v1
	APIKey      string // none is sent if empty
	Model       string
	MaxTokens   int               // of an answer, thoughts included; 0: as many as the server likes
	Temperature *float32          // nil: the server's choice. Left out for models that have none.
	Window      int               // tokens that it takes for prompt and answer together; 0: it isn't known
	Vision      bool              // it can see; images are left out of what is sent to one that can't
	Timeout     time.Duration     // until the server begins to answer, and between two signs of life; 0: a minute
	Retries     int               // how often a call that came to nothing is made again; 0: never
	Headers     map[string]string // sent with every request, besides those that the protocol needs; never shown
	Extra       map[string]any    // further fields of the body of Chat's requests, sent as they are; values never shown
	Thinking    string            // "off", "low", "medium" or "high"; "auto" or empty: as the server likes
	AtOnce      int               // calls at once to the server, of all its models together; 0: by the server
	// Breaker leaves the server alone after failures, for all clients that share it; nil: the client's own.
	Breaker *endpoint.Breaker
	// Called, if not nil, is called after each call of a model, with the time until its answer was whole and why
	// it failed, except if the caller ended it.
	Called func(model string, took time.Duration, failed error)
}

// Client asks one model. It may be used by several goroutines.
type Client struct {
	config Config
	http   *http.Client
	clock  clock
}

// clock is time, which tests replace.
type clock struct {
	now   func() time.Time
	after func(d time.Duration, f func()) timer
	sleep func(ctx context.Context, d time.Duration) error
	rand  func() float64 // in [0, 1)
}

// timer is a *time.Timer that was made with a function.
type timer interface {
	Reset(time.Duration) bool
	Stop() bool
}

// New returns a client for the model that c names. It connects to nothing yet.
func New(c Config) *Client {
	c.Headers = maps.Clone(c.Headers)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	if c.Breaker == nil {
		c.Breaker = &endpoint.Breaker{What: "model's server"}
	}
	return &Client{config: c, http: httpClient(), clock: realClock()}
}

// httpClient follows no redirects: the prompt goes to the address that was configured, or nowhere.
func httpClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func realClock() clock {
	return clock{
		now:   time.Now,
		after: func(d time.Duration, f func()) timer { return time.AfterFunc(d, f) },
		sleep: func(ctx context.Context, d time.Duration) error {
			if pace.Sleep(ctx, d) != nil {
				return context.Cause(ctx)
			}
			return nil
		},
		rand: rand.Float64,
	}
}

// Name returns the model's name.
func (c *Client) Name() string { return c.config.Model }

// Health returns how the model's server did of late, whichever of its models was asked.
func (c *Client) Health() endpoint.Health { return c.config.Breaker.Health() }

// Window returns how many tokens the model takes for prompt and answer together, and how many of them the longest
// answer leaves for a prompt, possibly none; 0 and 0 if it isn't known.
func (c *Client) Window() (all, room int) {
	if c.config.Window == 0 {
		return 0, 0
	}
	return c.config.Window, c.config.Window - c.config.MaxTokens
}

// Resting reports whether the model's server is left alone for now, after failures.
func (c *Client) Resting() bool { return c.config.Breaker.Resting() }

// CanSee reports whether the model is sent images.
func (c *Client) CanSee() bool { return c.config.Vision }

// Chat asks the model to go on after a request's messages. It passes what members may see of the answer to delta,
// which may be nil, as it comes, and returns all of it, with the model's calls of tools. A failure is an *Error; if
// ctx ends first, its cause. Then Reply has what came before it, and no calls.
func (c *Client) Chat(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, error) {
	reply, _, err := c.chat(ctx, r, delta)
	return reply, err
}

// chat is Chat, and reports whether delta got anything.
func (c *Client) chat(ctx context.Context, r chat.Request,
	delta func(string)) (reply chat.Reply, passed bool, err error) {
	err = c.config.Breaker.Do(ctx, 0, func(ctx context.Context) error {
		reply, passed, err = c.persist(ctx, r, delta)
		return err
	})
	if rests, is := errors.AsType[*endpoint.Resting](err); is {
		err = c.resting(rests.Left)
	}
	return reply, passed, err
}

// persist asks again where that may help.
func (c *Client) persist(ctx context.Context, r chat.Request, delta func(string)) (chat.Reply, bool, error) {
	for attempt := 0; ; attempt++ {
		began := c.clock.now()
		reply, passed, err := c.call(ctx, r, c.config.MaxTokens, delta)
		if err == nil && len(reply.Calls) == 0 && strings.TrimSpace(reply.Text) == "" {
			err = c.silent(reply)
		}
		if c.config.Called != nil && ctx.Err() == nil {
			c.config.Called(c.config.Model, c.clock.now().Sub(began), err)
		}
		if err == nil || passed || attempt >= c.config.Retries {
			return reply, passed, err
		}
		pause, again := c.pause(err, attempt)
		if !again {
			return reply, passed, err
		}
		if slept := c.clock.sleep(ctx, pause); slept != nil {
			return reply, passed, fmt.Errorf("wait to ask the model again (%w): %w", err, slept)
		}
	}
}

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second // that somebody who asked is kept waiting for a second try
)

// pause returns how long to wait before asking again; false if that won't help, or the server wants a longer pause.
func (c *Client) pause(err error, attempt int) (time.Duration, bool) {
	e, is := errors.AsType[*Error](err)
	if !is || !e.again || e.after > longestPause {
		return 0, false
	}
	pause := min(firstPause<<min(attempt, 10), longestPause)
	pause = pause/2 + time.Duration(c.clock.rand()*float64(pause/2))
	return max(pause, e.after), true
}
