// Package llm speaks to the model that writes answers, at any server that knows OpenAI's protocol. What it passes
// on is only what guild members may see: a model's thoughts are left out, however they come. An answer is either
// whole or an error, which says what happened and what to do, and never holds the key, the prompt or the answer.
// Nothing is asked twice once a part of the answer was passed on.
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

	"hark/builder"
)

// Config says which model is asked, and how.
type Config struct {
	BaseURL     string // up to and including /v1
	APIKey      string // none is sent if empty
	Model       string
	MaxTokens   int               // of an answer, thoughts included; 0: as many as the server likes
	Temperature *float32          // nil: the server's choice. Left out for models that have none.
	Timeout     time.Duration     // until the server begins to answer, and between two signs of life; 0: a minute
	Retries     int               // how often a call that came to nothing is made again; 0: never
	Headers     map[string]string // sent with every request, besides those that the protocol needs
}

// Client asks one model. It may be used by several goroutines.
type Client struct {
	config Config
	http   *http.Client
	clock  clock
}

// Reply is a model's answer.
type Reply struct {
	// Text is what members may see. It is all that delta got, but where a model closes a thought that it never
	// opened: what it wrote before was the thought, and isn't in Text.
	Text             string
	FinishReason     string // "stop", or "length" where Config.MaxTokens ended it
	PromptTokens     int    // as the server counts; 0 if it didn't say
	CompletionTokens int
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
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-t.C:
				return nil
			}
		},
		rand: rand.Float64,
	}
}

// Name is the model's.
func (c *Client) Name() string { return c.config.Model }

// Chat asks the model to go on after messages. It passes what members may see of the answer to delta, in order,
// as it comes, and returns the whole of it. delta may be nil. A failure is an *Error, with the part of the answer
// that came before it in Reply; if ctx ends first, its cause.
func (c *Client) Chat(ctx context.Context, messages []builder.ChatMessage, delta func(string)) (Reply, error) {
	for attempt := 0; ; attempt++ {
		reply, passed, err := c.call(ctx, c.request(messages, c.config.MaxTokens), delta)
		if err == nil && strings.TrimSpace(reply.Text) == "" {
			err = c.silent(reply)
		}
		if err == nil || passed || attempt >= c.config.Retries {
			return reply, err
		}
		pause, again := c.pause(err, attempt)
		if !again {
			return reply, err
		}
		if slept := c.clock.sleep(ctx, pause); slept != nil {
			return reply, fmt.Errorf("wait to ask the model again (%w): %w", err, slept)
		}
	}
}

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second // that somebody who asked is kept waiting for a second try
)

// pause says how long to wait before asking again, and whether there is any use in it. Where the server wants
// more patience than people have, there isn't.
func (c *Client) pause(err error, attempt int) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || !e.again || e.RetryAfter > longestPause {
		return 0, false
	}
	pause := min(firstPause<<min(attempt, 10), longestPause)
	pause = pause/2 + time.Duration(c.clock.rand()*float64(pause/2))
	return max(pause, e.RetryAfter), true
}
