package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"hark/internal/chat"
	"hark/internal/endpoint"
	"hark/internal/llm/failure"
	"hark/internal/llm/stream"
)

const (
	lastWords  = 10 * time.Second // that a server has for its counts once the answer may be whole
	maxRefusal = 64 << 10         // bytes read of an answer that is an error
	patience   = 10               // times the limit of silence for which signs of life alone keep a call alive
)

// errIdle ends a call that shows no sign of life.
var errIdle = errors.New("no sign of life")

// caller asks a server once.
type caller struct {
	config Config
	say    speaker
	http   *http.Client
	clock  clock
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

// call is one request and what answers it.
type call struct {
	caller
	timer  timer         // ends the call when nothing is heard
	heard  time.Time     // when it began, or an event came last
	body   []byte        // of a request for an answer
	sent   sent          // what it holds
	lines  *stream.Lines // of the answer; nil: none came
	listed []byte        // the answer to a request for anything else
}

// answered is what a call brought.
type answered struct {
	reply  chat.Reply
	passed bool // something was shown
	whole  bool // the server wrote an answer, though it may hold nothing
	empty  bool // it wrote no text, nor thoughts
}

// question is a request, and who sees the answer as it comes.
type question struct {
	request chat.Request
	show    func(string) // may be nil
}

// call asks once, in a form, for at most maxTokens. It returns what came, also with an error.
func (c caller) call(ctx context.Context, q question, f form, maxTokens int) (answered, error) {
	inner, k, stop := c.begin(ctx)
	defer stop()
	b := write(c.config, q.request, f, maxTokens)
	k.sent = b.sent
	body, err := b.encode()
	if err != nil {
		return answered{}, err
	}
	k.body = body
	named := openai.ChatCompletionRequest{Model: c.config.Model} // Do sends body
	events, err := k.openai().CreateChatCompletionStream(inner, named)
	if err != nil {
		return answered{}, k.explain(ctx, inner, err, false)
	}
	defer events.Close()
	a := stream.NewAnswer(q.show, toolsIn(q.request), q.request.Headings)
	err = k.read(events, a)
	if a.IsWhole(err, k.lines.HasEnded()) {
		return k.finish(a)
	}
	came := answered{
		reply:  a.Part(), // what may be half a mark is shown to nobody
		passed: a.HasPassed(),
	}
	came.reply.Model = c.config.Model
	return came, k.explain(ctx, inner, err, a.HasBegun())
}

// read takes events until there are no more, and returns why.
func (k *call) read(events *openai.ChatCompletionStream, a *stream.Answer) error {
	for {
		event, err := events.RecvRaw()
		if err == nil {
			k.heard = k.clock.now()
			err = a.Add(event)
		}
		if a.MayBeWhole() {
			k.timer.Reset(min(lastWords, k.config.Timeout))
		}
		if err != nil {
			return err
		}
	}
}

// finish returns a whole answer.
func (k *call) finish(a *stream.Answer) (came answered, err error) {
	came.reply, err = a.End()
	came.reply.Model = k.config.Model
	came.passed = a.HasPassed()
	if err != nil {
		return came, k.say.namelessCall()
	}
	came.whole = true
	came.empty = a.IsEmpty()
	return came, nil
}

// toolsIn returns the names of the tools that the model knows from a request.
func toolsIn(r chat.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			known := slices.Contains(names, c.Name)
			if !known && c.Name != "" {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// begin starts the clock of a call; stop ends both.
func (c caller) begin(ctx context.Context) (inner context.Context, k *call, stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	k = &call{
		caller: c,
		heard:  c.clock.now(),
	}
	k.timer = c.clock.after(c.config.Timeout, func() { cancel(errIdle) })
	return inner, k, func() {
		k.timer.Stop()
		cancel(nil)
	}
}

// openai returns a client for this call alone, so that Do sees what go-openai doesn't hand on.
func (k *call) openai() *openai.Client {
	config := openai.DefaultConfig(k.config.APIKey)
	config.BaseURL = k.config.BaseURL
	config.HTTPClient = k
	return openai.NewClientWithConfig(config)
}

// Do sends a request, and makes an error of a refusal and plain events of an answer.
func (k *call) Do(r *http.Request) (*http.Response, error) {
	for name, value := range k.config.Headers {
		r.Header.Set(name, value)
	}
	if k.body != nil {
		r.Body = k.newBody()
		r.GetBody = func() (io.ReadCloser, error) { return k.newBody(), nil }
		r.ContentLength = int64(len(k.body))
	}
	resp, err := k.http.Do(r)
	if err != nil {
		return nil, err
	}
	k.timer.Reset(k.config.Timeout)
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, k.refusal(resp)
	}
	if k.body != nil {
		k.lines = stream.NewLines(resp.Body, k.live)
		resp.Body = k.lines
		return resp, nil
	}
	return resp, k.keep(resp)
}

func (k *call) newBody() io.ReadCloser {
	return io.NopCloser(bytes.NewReader(k.body))
}

// live lets a call go on after a sign of life, which may be no more than that: some servers send comments while they
// read a prompt.
func (k *call) live() {
	since := k.clock.now().Sub(k.heard)
	if since < patience*k.config.Timeout {
		k.timer.Reset(k.config.Timeout)
	}
}

// keep keeps the answer to a request for a list, of which go-openai hands on only a part.
func (k *call) keep(resp *http.Response) error {
	defer resp.Body.Close()
	all := io.LimitReader(resp.Body, maxList)
	data, err := io.ReadAll(all)
	k.listed = data
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return err
}

// refusal returns the error that an answer other than 200 tells of.
func (k *call) refusal(resp *http.Response) *Error {
	start := io.LimitReader(resp.Body, maxRefusal)
	body, _ := io.ReadAll(start) // the status says enough
	f, is := failure.Read(body)
	if !is && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		f.Code = "text/html"
	}
	if !is && f.Code == "" && resp.StatusCode != http.StatusNotFound { // there it is a page of no API
		f.Message = string(body)
	}
	f.Status = resp.StatusCode
	e := k.say.failed(f, k.sent)
	e.after = cmp.Or(endpoint.RetryAfter(resp.Header, k.clock.now()), e.after)
	return e
}

// explain makes an *Error of whatever ended a call, unless the caller ended it. begun: a part of the answer came.
func (k *call) explain(ctx, inner context.Context, err error, begun bool) error {
	silent := errors.Is(context.Cause(inner), errIdle)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, is := errors.AsType[*Error](err); is {
		return e
	}
	if said, is := errors.AsType[failure.Failure](err); is {
		return k.say.failed(said, k.sent)
	}
	if errors.Is(err, stream.ErrBadEvent) {
		return k.say.badAnswer(err)
	}
	if silent && !begun {
		return k.say.timedOut()
	}
	if before, is := errors.AsType[*url.Error](err); is && !begun {
		return k.say.unreachable(before.Err)
	}
	return k.say.cutOff(silent)
}

// list returns the names of the server's models, and the list as it came.
func (c caller) list(ctx context.Context) (names []string, listed []byte, err error) {
	inner, k, stop := c.begin(ctx)
	defer stop()
	list, err := k.openai().ListModels(inner)
	if err != nil {
		return nil, nil, k.explain(ctx, inner, err, false)
	}
	for _, m := range list.Models {
		names = append(names, m.ID)
	}
	return names, k.listed, nil
}

// fetch asks the server for JSON beside its protocol.
func (c caller) fetch(ctx context.Context, method, address, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	server, err := endpoint.NewServer(endpoint.Server{
		What:    "model's",
		URL:     c.config.BaseURL,
		Limit:   1 << 20,
		Setting: "llm.base_url",
		Secret:  "llm.api_key",
	})
	if err != nil {
		return err
	}
	for name, value := range c.config.Headers {
		r.Header.Set(name, value)
	}
	if c.config.APIKey != "" {
		r.Header.Set("Authorization", "Bearer "+c.config.APIKey)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	data, err := server.Do(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

var _ openai.HTTPDoer = (*call)(nil)
