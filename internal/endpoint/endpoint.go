// Package endpoint asks servers that answer a POST of JSON with JSON, and stops asking those that fail for a while.
//
// Its errors name the server, and the setting that may help. They hold nothing of the request, the key or the
// server's reply, which may quote both.
package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Server is a server and how to speak of it.
type Server struct {
	What    string // what it is for, such as "embedding": errors speak of the embedding server
	URL     string // its address, without a slash at its end
	Key     string // sent by Post, if there is one
	Setting string // the setting that holds URL
	Secret  string // the setting that holds Key
	Example string // of an address
	Missing string // what to check if there is nothing at the address
	Switch  string // what llama.cpp's server needs to be started with for it
	Limit   int64  // of bytes that are read of an answer

	client http.Client
}

// NewServer returns s, or an error if its URL is no address.
func NewServer(s Server) (*Server, error) {
	if Place(s.URL) == "" {
		return nil, fmt.Errorf("%s is no address: it looks like %s", s.Setting, s.Example)
	}
	// What is asked goes to the address that was configured, or nowhere.
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &s, nil
}

// Post sends body as JSON and returns the answer as Do does.
func (s *Server) Post(ctx context.Context, body any) ([]byte, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.Key != "" {
		request.Header.Set("Authorization", "Bearer "+s.Key)
	}
	return s.Do(request)
}

// Do returns the answer to a request, up to Limit. One other than 200 is a *Refusal.
func (s *Server) Do(request *http.Request) ([]byte, error) {
	resp, err := s.client.Do(request)
	if err != nil {
		return nil, s.unreachable(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, s.Limit))
	if err != nil {
		return nil, s.unreachable(err)
	}
	if resp.StatusCode != http.StatusOK {
		refused := s.refusal(resp.StatusCode, RetryAfter(resp.Header, time.Now()), answer)
		refused.said = quotable(answer, s.secrets(request))
		return nil, refused
	}
	return answer, nil
}

// Recorder is the HTTP client of one request for go-openai. It keeps the answer, of which that hands on only a part.
type Recorder struct {
	*Server
	Body []byte // of the answer; nil: there was none
}

// Do implements go-openai's HTTPDoer.
func (x *Recorder) Do(r *http.Request) (resp *http.Response, err error) {
	x.Body, err = x.Server.Do(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Body:       io.NopCloser(bytes.NewReader(x.Body)),
		Header:     http.Header{"Content-Type": {"application/json"}},
	}, nil
}

// String names the server in errors, without what may be secret in its address.
func (s *Server) String() string {
	return "the " + s.What + " server at " + Place(s.URL)
}

// Place returns an address without what may be secret in it; empty if it is none.
func Place(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{
		Scheme: u.Scheme,
		Host:   u.Host,
		Path:   u.Path,
	}).String()
}

func (s *Server) unreachable(err error) error {
	if where, is := errors.AsType[*url.Error](err); is { // names the address, with whatever is secret in it
		err = where.Err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%v %v (%s) %w", s, Whynot(err), s.Setting, err)
}

// refusal makes an error of an answer other than 200.
func (s *Server) refusal(status int, after time.Duration, body []byte) *Refusal {
	advice := "its log may say why"
	text := strings.ToLower(string(body[:min(len(body), maxQuoted)]))
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		advice = "check " + s.Secret
	case status == http.StatusNotFound:
		advice = s.Missing
	case status >= 300 && status < 400:
		advice = "put the address it is really at into " + s.Setting
	case status == http.StatusNotImplemented && s.Switch != "":
		advice = "it isn't started for that (llama.cpp: " + s.Switch + ")"
	case status == http.StatusServiceUnavailable && strings.Contains(text, "loading"):
		advice = "it is still loading its model, and is asked again later"
	case status == http.StatusTooManyRequests || status >= 500:
		advice = "it is asked again later; " + advice
	}
	return &Refusal{
		Err:    fmt.Errorf("%v answers %d %s: %s", s, status, http.StatusText(status), advice),
		Status: status,
		After:  after,
		text:   text,
	}
}

// maxQuoted bounds how much of a refusal is read, in bytes.
const maxQuoted = 4096

// Refusal is a server's answer other than 200.
type Refusal struct {
	Err    error
	Status int           // of HTTP
	After  time.Duration // for which the server doesn't want to be asked; 0 if it doesn't say

	text string // what the server says, in lower case
	said string // the same for people
}

func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

// RetryAfter is for how long the server doesn't want to be asked; 0 if it doesn't say.
func (r *Refusal) RetryAfter() time.Duration { return r.After }

// Said returns the server's own words, short, on one line and without secrets that it was sent; empty if it has none.
// They may quote what was asked, so they are for checks that ask only for texts of Hark's own.
func (r *Refusal) Said() string { return r.said }

// OfText reports whether it is what was asked that is refused, so that something else may be taken.
func (r *Refusal) OfText() bool {
	return r.Status == http.StatusBadRequest || r.Status == http.StatusUnprocessableEntity
}

// Says reports whether the server's answer has one of phrases in it, which are in lower case.
func (r *Refusal) Says(phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(r.text, phrase) })
}

// longestWait bounds how long a server can ask to wait: beyond it, it is likely wrong.
const longestWait = 24 * time.Hour

// RetryAfter returns how long from now an answer asks to wait, in seconds or until a date; 0 if it doesn't say.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	header := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, longestWait.Seconds()) * float64(time.Second))
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return min(max(date.Sub(now), 0), longestWait)
}

// IsLocal reports whether an address is this machine's, also as seen from a container.
func IsLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
