package llm

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/sashabaranov/go-openai"

	"hark/internal/chat"
)

const (
	maxAnswer = 1 << 20         // bytes of text and thoughts; what writes more has run wild
	lastWords = 2 * time.Second // that a server has for its counts once the answer is whole
)

// errIdle ends a call that shows no sign of life.
var errIdle = errors.New("no sign of life")

// call is one request and the stream that answers it.
type call struct {
	client *Client
	asked  asked
	timer  timer // ends the call when nothing is heard
}

// call asks once, for at most maxTokens. passed: delta got something.
func (c *Client) call(ctx context.Context, r chat.Request, maxTokens int,
	delta func(string)) (reply chat.Reply, passed bool, err error) {
	inner, k, stop := c.begin(ctx)
	defer stop()
	k.asked = c.asked(r)
	stream, err := k.openai().CreateChatCompletionStream(inner, c.request(r, maxTokens))
	if err != nil {
		return chat.Reply{}, false, k.explain(ctx, inner, err)
	}
	defer stream.Close()
	a := answer{delta: delta, reply: chat.Reply{Model: c.config.Model}}
	for {
		raw, err := stream.RecvRaw()
		if err == nil {
			err = a.take(raw)
		}
		if a.reply.FinishReason != "" {
			k.timer.Reset(min(lastWords, c.config.Timeout))
		}
		switch {
		case err == nil:
		case a.whole(err):
			reply, ok := a.end()
			if !ok {
				return reply, a.passed, c.problem(BadAnswer, true,
					"the model %q made a tool's call without a name", c.config.Model)
			}
			return reply, a.passed, nil
		default:
			reply := a.part() // what may be half a tag is shown to nobody
			if a.passed || len(a.calls) > 0 {
				err = &broken{err}
			}
			return reply, a.passed, k.explain(ctx, inner, err)
		}
	}
}

// begin starts the clock of a call; stop ends both.
func (c *Client) begin(ctx context.Context) (inner context.Context, k *call, stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	k = &call{client: c}
	k.timer = c.clock.after(c.config.Timeout, func() { cancel(errIdle) })
	return inner, k, func() {
		k.timer.Stop()
		cancel(nil)
	}
}

// openai returns a client for this call alone, so that Do sees what go-openai doesn't hand on.
func (k *call) openai() *openai.Client {
	config := openai.DefaultConfig(k.client.config.APIKey)
	config.BaseURL = k.client.config.BaseURL
	config.HTTPClient = k
	return openai.NewClientWithConfig(config)
}

// Do sends a request, and makes an error of a refusal and plain events of an answer.
func (k *call) Do(r *http.Request) (*http.Response, error) {
	for name, value := range k.client.config.Headers {
		r.Header.Set(name, value)
	}
	resp, err := k.client.http.Do(r)
	if err != nil {
		return nil, err
	}
	k.timer.Reset(k.client.config.Timeout)
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, k.refusal(resp)
	}
	if r.Method == http.MethodPost { // not the list of models
		resp.Body = newEvents(resp.Body, func() { k.timer.Reset(k.client.config.Timeout) })
	}
	return resp, nil
}

// explain makes an *Error of whatever ended a call, unless the caller ended it.
func (k *call) explain(ctx, inner context.Context, err error) error {
	c := k.client
	var e *Error
	var said failure
	var midway *broken
	var before *url.Error
	silent := errors.Is(context.Cause(inner), errIdle)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &e):
		return e
	case errors.As(err, &said):
		return k.failed(said)
	case errors.Is(err, openai.ErrReasoningToolsRequireResponses): // which it says of some models' names
		return c.noTools(failure{})
	case errors.Is(err, errBadEvent):
		return c.badAnswer(err)
	case silent && !errors.As(err, &midway):
		return c.timedOut()
	case errors.As(err, &before):
		return c.unreachable(before.Err)
	}
	return c.cutOff(silent)
}

// broken is an error after which a part of the answer stands.
type broken struct{ error }

func (b *broken) Unwrap() error { return b.error }

// answer is what has come of an answer so far.
type answer struct {
	delta    func(string)
	thoughts filter
	calls    calls
	reply    chat.Reply
	passed   bool
	size     int
}

// take adds an event.
func (a *answer) take(raw []byte) error {
	e, err := parseEvent(raw)
	if err != nil {
		return err
	}
	if e.prompt > 0 || e.completion > 0 {
		a.reply.PromptTokens, a.reply.CompletionTokens = e.prompt, e.completion
	}
	a.size += len(e.text) + e.thought
	if a.size > maxAnswer {
		return errTooMuch
	}
	for _, p := range e.calls {
		if err := a.calls.add(p); err != nil {
			return err
		}
	}
	a.pass(a.thoughts.write(e.text))
	if e.finish != "" {
		a.reply.FinishReason = e.finish
	}
	return nil
}

func (a *answer) pass(text string) {
	if a.passed = a.passed || text != ""; text != "" && a.delta != nil {
		a.delta(text)
	}
}

// whole reports whether the answer is, although err ended the stream. What fails after its last word doesn't
// matter.
func (a *answer) whole(err error) bool {
	var failed failure
	return a.reply.FinishReason != "" && !errors.As(err, &failed) && !errors.Is(err, errBadEvent)
}

// end returns a whole answer, with what was held back in case it became a tag, unless a call makes no sense.
func (a *answer) end() (reply chat.Reply, ok bool) {
	a.pass(a.thoughts.flush())
	reply = a.part()
	reply.Calls, ok = a.calls.end(reply.FinishReason)
	if len(reply.Calls) > 0 && reply.FinishReason == "stop" { // so say Ollama, and OpenAI at times
		reply.FinishReason = "tool_calls"
	}
	return reply, ok
}

// part returns what there is of the answer, without calls: half a call is none.
func (a *answer) part() chat.Reply {
	a.reply.Text = a.thoughts.shown.String()
	return a.reply
}

var _ openai.HTTPDoer = (*call)(nil)
