// Package llm asks models that write answers, at any server that speaks OpenAI's protocol. What a server doesn't take of
// a request is left out, and that is remembered. It passes on only what members may see: it drops a model's thoughts in
// all their forms. Tool calls are passed on whole. An answer is whole or an error. Errors say what to do, and never hold
// the key, the prompt or the answer. Once a part of the answer was passed on, nothing is asked again. Begin with Client
// and Models.
//
// From the bottom: config.go and clock.go; form.go says what is left out, thinking.go how servers are told to think;
// request.go writes a request; error.go makes errors; call.go asks once; window.go and habits.go are what is learnt of
// a server; client.go asks until there is an answer; model.go has models and their fallback, check.go tries them.
package llm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"hark/internal/chat"
	"hark/internal/endpoint"
	"hark/internal/tokens"
)

// Client asks one model. It may be used by several goroutines.
type Client struct {
	caller
	habits habits
	window window
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
	if c.Queue == nil {
		c.Queue = endpoint.NewQueue(atOnce(c))
	}
	return &Client{caller: caller{config: c, say: speakerOf(c), http: httpClient(), clock: realClock()}}
}

// Name returns the model's name.
func (c *Client) Name() string { return c.config.Model }

// Health returns how the model's server did of late, whichever of its models was asked.
func (c *Client) Health() endpoint.Health { return c.config.Breaker.Health() }

// Resting reports whether the model's server is left alone for now, after failures.
func (c *Client) Resting() bool { return c.config.Breaker.Resting() }

// CanSee reports whether the model is sent images.
func (c *Client) CanSee() bool { return c.config.Vision && !c.habits.known(c.clock.now()).blind }

// TakesTools reports whether the model is offered tools: false once its server has refused them.
func (c *Client) TakesTools() bool { return !c.habits.known(c.clock.now()).noTools }

// Learned returns what Hark learned of the server, a sentence each.
func (c *Client) Learned() []string { return c.habits.told(c.clock.now()) }

// Chat asks the model to go on after a request's messages. It passes what members may see of the answer to show,
// which may be nil, as it comes, and returns all of it, with the model's calls of tools. A failure is an *Error; if
// ctx ends first, its cause. Then Reply has what came before it, and no calls.
func (c *Client) Chat(ctx context.Context, r chat.Request, show func(string)) (chat.Reply, error) {
	came, err := c.chat(ctx, r, show)
	return came.reply, err
}

// chat waits for the server, which may be busy or left alone, and asks.
func (c *Client) chat(ctx context.Context, r chat.Request, show func(string)) (came answered, err error) {
	leave, err := c.config.Queue.Enter(ctx, r.Tenant)
	if err != nil {
		return answered{}, err
	}
	defer func() { leave() }()
	alone := func() error { // the server has too much to write at once
		c.config.Queue.Lower(c.config.Queue.Running())
		leave()
		leave, err = c.config.Queue.EnterAlone(ctx, r.Tenant)
		if err != nil {
			leave = func() {}
		}
		return err
	}
	err = c.config.Breaker.Do(ctx, 0, func(ctx context.Context) error {
		came, err = c.persist(ctx, r, show, alone)
		return err
	})
	if rests, is := errors.AsType[*endpoint.Resting](err); is {
		err = c.say.resting(rests.Left)
	}
	return came, err
}

// persist asks until there is an answer: in other forms if the server refuses the request, alone if it has too much to
// write, without tools if it can't read what the model wrote, and otherwise after a pause.
func (c *Client) persist(ctx context.Context, r chat.Request, show func(string), alone func() error) (answered, error) {
	try := c.habits.begin(c.clock.now())
	for {
		came, err := c.askOnce(ctx, r, try.form(), show)
		if came.whole {
			c.learn(try, came.reply, r)
		}
		if err == nil {
			return came, nil
		}
		e, is := errors.AsType[*Error](err)
		if !is || came.passed || ctx.Err() != nil {
			return came, err
		}
		c.noticeLimit(e)
		pause := time.Duration(0)
		again := true
		switch {
		case e.Kind == Crowded && try.alone():
			err := alone()
			if err != nil {
				return came, err
			}
		case e.Kind == Crowded:
			return came, c.fit(e)
		case e.ofText:
			again = try.otherText(r)
		case e.unknown && try.otherForm(e):
		default:
			pause, again = c.pause(e, try.attempt)
			again = again && try.attempt < c.config.Retries && !(e.unknown && try.ladder.begun)
			try.attempt++
			isLast := try.attempt == c.config.Retries
			try.bare = e.Kind == BadAnswer && isLast // it may be the tools that the model can't deal with
		}
		if !again {
			c.habits.giveUp(try, c.clock.now())
			return came, try.first(err)
		}
		slept := c.clock.sleepFor(ctx, pause)
		if slept != nil {
			return came, fmt.Errorf("wait to ask the model again (%w): %w", err, slept)
		}
	}
}

// askOnce makes one call and tells how it went.
func (c *Client) askOnce(ctx context.Context, r chat.Request, f form, show func(string)) (answered, error) {
	began := c.clock.now()
	came, err := c.call(ctx, r, f, c.longest(r), show)
	if err == nil && len(came.reply.Calls) == 0 && strings.TrimSpace(came.reply.Text) == "" {
		err = c.say.silent(came)
	}
	if c.config.Called != nil && ctx.Err() == nil {
		c.config.Called(c.config.Model, c.clock.now().Sub(began), err)
	}
	return came, err
}

// longest returns the longest answer in tokens, with a budget of thoughts if the server has one; 0: as it likes.
func (c *Client) longest(r chat.Request) int {
	wanted := c.config.MaxTokens
	if r.MaxTokens > 0 && (wanted == 0 || r.MaxTokens < wanted) {
		wanted = r.MaxTokens
	}
	if wanted == 0 {
		return 0
	}
	return tokens.ForAnswer(c.window.size(c.clock.now(), c.config.Window), wanted) + thoughtTokens(c.config, r.Brief)
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

// learn remembers the form that the server took, and whether it read all of the prompt.
func (c *Client) learn(t *try, reply chat.Reply, r chat.Request) {
	told := c.habits.keep(t, c.clock.now())
	if dropsPrompt(reply, r) {
		told = append(told, c.habits.note(droppedPrompt)...)
	}
	if c.config.Learned == nil {
		return
	}
	for _, what := range told {
		c.config.Learned(c.config.Model, what)
	}
}

// noticeLimit remembers how many tokens the server says it takes.
func (c *Client) noticeLimit(e *Error) {
	if e.Kind != TooLong || e.limit <= 0 {
		return
	}
	c.window.learn(e.limit, c.clock.now())
	e.room = e.limit - tokens.ForAnswer(e.limit, c.config.MaxTokens)
}

// fit makes an error of a prompt that didn't fit, although the server wrote nothing else.
func (c *Client) fit(e *Error) *Error {
	long := c.say.tooLong(0, 0)
	long.Status = e.Status
	long.said = e.said
	return long
}

// Window returns how many tokens the model takes for prompt and answer together, and how many of them the longest
// answer leaves for a prompt; 0 and 0 if that isn't known. It may ask the server, for two seconds at most.
func (c *Client) Window(ctx context.Context) (all, room int) {
	if c.config.Window == 0 && c.config.BaseURL != "" && c.window.mustLook(c.clock.now()) {
		looking, cancel := context.WithTimeout(ctx, lookFor)
		c.window.list(look(looking, c.caller))
		cancel()
	}
	all = c.window.size(c.clock.now(), c.config.Window)
	if all == 0 {
		return 0, 0
	}
	return all, all - tokens.ForAnswer(all, c.config.MaxTokens)
}
