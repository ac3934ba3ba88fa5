package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/time/rate"

	"hark/internal/clock"
	"hark/internal/metrics"
	"hark/internal/pace"
)

const (
	requestTimeout = 20 * time.Second
	// Attempts is how often a request with a transient failure is made.
	Attempts = 5
	// startupAttempts is how often Self asks, for half a minute.
	startupAttempts = 7
	// defaultRetryAfter is the wait after a rate limit without retry_after.
	defaultRetryAfter = 5 * time.Second
)

// Client makes requests to Discord. Unlike with discordgo's own calls, every wait ends with the context.
type Client struct {
	Backoff time.Duration // before the second attempt; doubles each time
	// Limit bounds the requests of all copies, except answers to interactions, which Discord doesn't count. nil:
	// unbounded.
	Limit *rate.Limiter
	// Guard is asked right before each request is written. Its error ends the request unsent. nil: all are sent.
	Guard   func() error
	Clock   *clock.Clock // Discord's
	tries   int          // 0: Attempts
	session *discordgo.Session
	files   *fetcher
	metrics *metrics.Metrics
}

// Options say how to reach Discord.
type Options struct {
	Token   string           // the bot's, with or without "Bot "
	APIURL  string           // default: https://discord.com
	Client  *http.Client     // its Transport gets requests to APIURL and for files
	Metrics *metrics.Metrics // may be nil
}

// NewClient returns a client, or the option at fault.
func NewClient(o Options) (*Client, error) {
	token := strings.Fields(o.Token)
	if len(token) > 0 && token[0] == "Bot" {
		token = token[1:]
	}
	if len(token) != 1 {
		return nil, ErrNoToken
	}
	base, err := parseBase(o.APIURL)
	if err != nil {
		return nil, err
	}
	next := http.DefaultTransport
	own := http.Client{}
	if o.Client != nil {
		own = *o.Client
	}
	if own.Transport != nil {
		next = own.Transport
	}
	if own.Timeout == 0 {
		own.Timeout = requestTimeout
	}
	its := &clock.Clock{}
	own.Transport = &proxy{base: base, next: its.Transport(next)}
	s, _ := discordgo.New("Bot " + token[0]) // its error is always nil
	s.Client = &own
	s.LogLevel = -1 // discordgo's own log goes to standard error, with message text in it at some levels
	s.ShouldRetryOnRateLimit = false
	return &Client{
		Backoff: UsualGateway.Retry,
		Clock:   its,
		session: s,
		files:   newFetcher(next),
		metrics: metrics.Or(o.Metrics),
	}, nil
}

// call makes a request and decodes the answer into into, unless that is nil. Requests of a bucket, Discord's unit of
// rate limiting, run one at a time. A request may be repeated, so it must be idempotent.
func (c *Client) call(ctx context.Context, method, address, bucket string, body, into any) error {
	wait := c.Backoff
	route := routeOf(address)
	request := func() ([]byte, error) {
		with := []discordgo.RequestOption{discordgo.WithContext(context.WithValue(ctx, guardKey{}, c.Guard)),
			discordgo.WithRetryOnRatelimit(false)}
		if f, is := body.(*multipartForm); is {
			return c.session.RequestRaw(method, address, f.kind, f.data, bucket, 0, with...)
		}
		return c.session.RequestWithBucketID(method, address, body, bucket, with...)
	}
	for attempt := 1; ; {
		if err := c.waitForTurn(ctx, bucket, route); err != nil {
			return err
		}
		answer, err := request()
		c.count(route, err)
		if err == nil && into != nil {
			err = json.Unmarshal(answer, into)
			if err != nil {
				err = fmt.Errorf("decode Discord's answer: %w", err)
			}
		}
		if err == nil {
			return nil
		}
		pause := wait
		var limited *discordgo.RateLimitError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &limited):
			pause = limited.RetryAfter
			c.countWait(route, pause)
		case fatal(err) != nil:
			return fatal(err)
		case !isTransient(err) || attempt == cmp.Or(c.tries, Attempts):
			return Redact(err)
		default:
			attempt++
			wait *= 2
		}
		if err := pace.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// get makes a GET request. The address without its query is the bucket.
func (c *Client) get(ctx context.Context, address string, into any) error {
	bucket, _, _ := strings.Cut(address, "?")
	return c.call(ctx, http.MethodGet, address, bucket, nil, into)
}

// gateway fetches the gateway's address and session limits.
func (c *Client) gateway(ctx context.Context) (g wireGateway, err error) {
	err = c.get(ctx, discordgo.EndpointGatewayBot, &g)
	return g, err
}

// post makes a POST request. The address is the bucket.
func (c *Client) post(ctx context.Context, address string, body, into any) error {
	return c.call(ctx, http.MethodPost, address, address, body, into)
}

// waitForTurn waits until a request may be made.
func (c *Client) waitForTurn(ctx context.Context, bucket, route string) error {
	if err := c.waitForBucket(ctx, bucket, route); err != nil {
		return err
	}
	if c.Limit != nil && route != routeInteractions {
		if err := c.Limit.Wait(ctx); err != nil {
			return err
		}
	}
	if c.Guard != nil {
		return c.Guard()
	}
	return nil
}

// waitForBucket waits until the bucket lets a request through. discordgo's own wait ignores the context.
func (c *Client) waitForBucket(ctx context.Context, name, route string) error {
	bucket := c.session.Ratelimiter.GetBucket(name)
	for {
		bucket.Lock()
		wait := c.session.Ratelimiter.GetWaitTime(bucket, 1)
		bucket.Unlock()
		if wait <= 0 {
			return ctx.Err()
		}
		c.countWait(route, wait)
		if err := pace.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// isTransient reports whether a failed request may succeed later.
func isTransient(err error) bool {
	s := Status(err)
	return s == 0 || s >= 500 || s == http.StatusRequestTimeout
}

// Redact removes addresses from err, which may contain an interaction's token.
func Redact(err error) error {
	if at, is := errors.AsType[*url.Error](err); is {
		return at.Err
	}
	return err
}

// proxy redirects discordgo's requests to base, because its addresses are package variables, and gives every rate
// limit the form that discordgo reads.
type proxy struct {
	base *url.URL // in place of https://discord.com
	next http.RoundTripper
}

var apiSuffix = regexp.MustCompile(`/api(/v[0-9]+)?$`)

// parseBase parses discord.api_url, which may end in /api or /api/vN.
func parseBase(address string) (*url.URL, error) {
	if address == "" {
		address = discordgo.EndpointDiscord
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("discord.api_url is %q: give an address like https://discord.com", address)
	}
	path := strings.TrimRight(base.Path, "/")
	base.Path = apiSuffix.ReplaceAllString(path, "")
	base.RawQuery = ""
	base.Fragment = ""
	return base, nil
}

// RoundTrip implements http.RoundTripper.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = p.base.Scheme, p.base.Host, p.base.Host
	r.URL.Path = p.base.Path + r.URL.Path
	r.URL.RawPath = ""
	if guard, _ := r.Context().Value(guardKey{}).(func() error); guard != nil {
		if err := guard(); err != nil {
			return nil, err
		}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = guardedBody{r.Body, guard}
		}
	}
	answer, err := p.next.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusTooManyRequests {
		return answer, err
	}
	return normalizeRateLimit(answer)
}

// guardKey has Client.Guard in a request's context.
type guardKey struct{}

// guardedBody asks a guard whenever a part of a request's body is about to be written. Much time may have passed since
// the request began: it waits for a connection. Discord ignores a request whose body is cut off.
type guardedBody struct {
	io.ReadCloser
	guard func() error
}

func (b guardedBody) Read(p []byte) (int, error) {
	if err := b.guard(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// normalizeRateLimit rewrites a 429 that isn't Discord's JSON but Cloudflare's.
func normalizeRateLimit(answer *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	answer.Body.Close()
	if err != nil {
		return nil, err
	}
	var limit struct {
		RetryAfter *float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &limit) != nil || limit.RetryAfter == nil {
		wait := defaultRetryAfter.Seconds()
		if s, err := strconv.ParseFloat(answer.Header.Get("Retry-After"), 64); err == nil && s >= 0 {
			wait = s
		}
		body = fmt.Appendf(nil, `{"retry_after":%g}`, wait)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	answer.ContentLength = int64(len(body))
	return answer, nil
}

// routeInteractions is the class of answers to interactions.
const routeInteractions = "interactions"

// routeOf returns an address's class, without ids.
func routeOf(address string) string {
	path, ours := strings.CutPrefix(address, discordgo.EndpointAPI)
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	switch {
	case !ours:
		return "other"
	case parts[0] == "webhooks":
		return routeInteractions
	case len(parts) > 2 && (parts[2] == "messages" || parts[2] == "typing"):
		return parts[2]
	}
	return parts[0]
}

// count counts a request by outcome: "ok", "limited" by rate limits, "refused" by Discord, or "failed" on the way.
func (c *Client) count(route string, err error) {
	outcome := "ok"
	switch {
	case err == nil:
	case errors.As(err, new(*discordgo.RateLimitError)):
		outcome = "limited"
	case Status(err) != 0:
		outcome = "refused"
	default:
		outcome = "failed"
	}
	c.metrics.DiscordRequests.WithLabelValues(route, outcome).Inc()
}

// countWait records a wait for a rate limit.
func (c *Client) countWait(route string, d time.Duration) {
	if d > 0 {
		c.metrics.RateLimitSeconds.WithLabelValues(route).Observe(d.Seconds())
	}
}
