// Package llm asks models that write answers, at any server that speaks OpenAI's protocol. What a server doesn't take of
// a request is left out, and that is remembered. It passes on only what members may see: it drops a model's thoughts in
// all their forms. Tool calls are passed on whole. An answer is whole or an error. Errors say what to do, and never hold
// the key, the prompt or the answer. Once a part of the answer was passed on, nothing is asked again. Begin with Client
// and Models.
//
// From the bottom: config.go and clock.go; form.go says what is left out, thinking.go how servers are told to think;
// request.go writes a request; error.go makes errors; call.go asks once; window.go, unsaid.go and habits.go are what is
// learnt of a server; client.go asks until there is an answer; model.go has models and their fallback, check.go tries
// them.
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
	"hark/internal/llm/failure"
	"hark/internal/tokens"
)

// Client asks one model. It may be used by several goroutines.
type Client struct {
	caller
	habits habits
	window window
	unsaid unsaid
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
	asks := caller{
		config: c,
		say:    speakerOf(c),
		http:   httpClient(),
		clock:  realClock(),
	}
	return &Client{caller: asks}
}

// Name returns the model's name.
func (c *Client) Name() string { return c.config.Model }

// Health returns how the model's server did of late, whichever of its models was asked.
func (c *Client) Health() endpoint.Health { return c.config.Breaker.Health() }

// Resting reports whether the model's server is left alone for now, after failures.
func (c *Client) Resting() bool { return c.config.Breaker.Resting() }

// CanSee reports whether the model is sent images.
func (c *Client) CanSee() bool {
	known := c.habits.known(c.clock.now())
	return c.config.Vision && !known.blind
}

// TakesTools reports whether the model is offered tools: false once its server has refused them.
func (c *Client) TakesTools() bool {
	known := c.habits.known(c.clock.now())
	return !known.noTools
}

// Learned returns what Hark learned of the server, a sentence each.
func (c *Client) Learned() []string { return c.habits.told(c.clock.now()) }

// Chat asks the model to go on after a request's messages. It passes what members may see of the answer to show,
// which may be nil, as it comes, and returns all of it, with the model's calls of tools. A failure is an *Error; if
// ctx ends first, its cause. Then Reply has what came before it, and no calls.
func (c *Client) Chat(ctx context.Context, r chat.Request, show func(string)) (chat.Reply, error) {
	came, err := c.chat(ctx, question{r, show})
	return came.reply, err
}

// chat waits for the server, which may be busy or left alone, and asks.
func (c *Client) chat(ctx context.Context, q question) (came answered, err error) {
	turn := &turn{
		queue:  c.config.Queue,
		tenant: q.request.Tenant,
	}
	err = turn.wait(ctx)
	if err != nil {
		return answered{}, err
	}
	defer turn.end()
	err = c.config.Breaker.Do(ctx, 0, func(ctx context.Context) error {
		came, err = c.persist(ctx, q, turn)
		return err
	})
	rests, is := errors.AsType[*endpoint.Resting](err)
	if is {
		err = c.say.resting(rests.Left)
	}
	return came, err
}

// turn is a question's turn at a server that answers few at once.
type turn struct {
	queue  *endpoint.Queue
	tenant uint64
	leave  func() // nil: it isn't its turn
}

func (t *turn) wait(ctx context.Context) (err error) {
	t.leave, err = t.queue.Enter(ctx, t.tenant)
	return err
}

// waitAlone waits until the server answers nobody else: it had too much to write at once.
func (t *turn) waitAlone(ctx context.Context) (err error) {
	t.queue.Lower(t.queue.Running())
	t.end()
	t.leave, err = t.queue.EnterAlone(ctx, t.tenant)
	return err
}

func (t *turn) end() {
	if t.leave != nil {
		t.leave()
	}
}

// persist asks until there is an answer: in other forms if the server refuses the request, alone if it has too much to
// write, without tools if it can't read what the model wrote, and otherwise after a pause.
func (c *Client) persist(ctx context.Context, q question, turn *turn) (answered, error) {
	try := c.habits.begin(c.clock.now())
	for {
		came, err := c.askOnce(ctx, q, try.form())
		if came.whole {
			c.learn(try, came.reply, q.request)
		}
		if err == nil {
			return came, nil
		}
		e, is := errors.AsType[*Error](err)
		if !is || came.passed || ctx.Err() != nil {
			return came, err
		}
		c.noticeLimit(e, q.request)
		next := c.next(try, e, q.request)
		if !next.again {
			c.habits.giveUp(try, c.clock.now())
			return came, try.first(next.failed)
		}
		if next.alone {
			err = turn.waitAlone(ctx)
		} else {
			err = c.waitAgain(ctx, next.pause, err)
		}
		if err != nil {
			return came, err
		}
	}
}

// waitAgain waits before a call is made again that failed.
func (c *Client) waitAgain(ctx context.Context, pause time.Duration, failed error) error {
	slept := c.clock.sleepFor(ctx, pause)
	if slept != nil {
		return fmt.Errorf("wait to ask the model again (%w): %w", failed, slept)
	}
	return nil
}

// next is what follows a failed call.
type next struct {
	again  bool // it is made again
	alone  bool // beside no other
	pause  time.Duration
	failed *Error // what is told if it isn't made again
}

// next says what follows a failed call, and counts that as done.
func (c *Client) next(try *try, e *Error, r chat.Request) next {
	switch {
	case e.Kind == Crowded && try.alone():
		return next{again: true, alone: true}
	case e.Kind == Crowded:
		return next{failed: c.fit(e)}
	case e.ofText:
		return next{again: try.otherText(r), failed: e}
	case e.unknown && try.otherForm(e):
		return next{again: true}
	}
	pause, again := c.pause(e, try.attempt)
	inVain := e.unknown && try.ladder.begun
	isLeft := try.attempt < c.config.Retries
	try.attempt++
	isLast := try.attempt == c.config.Retries
	try.bare = e.Kind == BadAnswer && isLast // it may be the tools that the model can't deal with
	return next{
		again:  again && isLeft && !inVain,
		pause:  pause,
		failed: e,
	}
}

// askOnce makes one call and tells how it went.
func (c *Client) askOnce(ctx context.Context, q question, f form) (answered, error) {
	began := c.clock.now()
	came, err := c.call(ctx, q, f, c.longest(q.request))
	if err == nil && isSilent(came.reply) {
		err = c.say.silent(came)
	} else if err == nil && came.reply.FinishReason == "content_filter" {
		err = c.say.withheld("the rest of the answer", "")
	}
	if c.config.Called != nil && ctx.Err() == nil {
		took := c.clock.now().Sub(began)
		c.config.Called(c.config.Model, took, err)
	}
	return came, err
}

func isSilent(r chat.Reply) bool {
	return len(r.Calls) == 0 && strings.TrimSpace(r.Text) == ""
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
	now := c.clock.now()
	window := c.window.size(now, c.config.Window)
	thoughts := thoughtTokens(c.config, r.Brief)
	return tokens.ForAnswer(window, wanted) + thoughts
}

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second // that somebody who asked is kept waiting for a second try
)

// pause returns how long to wait before asking again; false if that won't help, or the server wants a longer pause.
func (c *Client) pause(e *Error, attempt int) (time.Duration, bool) {
	if !e.again || e.after > longestPause {
		return 0, false
	}
	longest := min(firstPause<<min(attempt, 10), longestPause)
	half := longest / 2
	spread := time.Duration(c.clock.rand() * float64(half))
	return max(half+spread, e.after), true
}

// learn remembers the form that the server took, and whether it read all of the prompt.
func (c *Client) learn(t *try, reply chat.Reply, r chat.Request) {
	if c.unsaid.waits() && !r.Brief {
		c.leave(c.unsaid.pass(counted(r, tokens.For(c.config.Model))))
	}
	told := c.habits.keep(t, c.clock.now())
	if t.bare {
		noted := c.habits.note(vainTools)
		told = append(told, noted...)
	}
	if dropsPrompt(reply, r) {
		noted := c.habits.note(droppedPrompt)
		told = append(told, noted...)
	}
	c.tell(told)
}

// tell tells what is newly learnt of the server.
func (c *Client) tell(learnt []string) {
	if c.config.Learned == nil {
		return
	}
	for _, what := range learnt {
		c.config.Learned(c.config.Model, what)
	}
}

// leave remembers how many tokens a prompt may have; 0: that isn't known.
func (c *Client) leave(room int) {
	if room > 0 {
		all := windowFor(room, c.config.MaxTokens)
		c.window.learn(max(all, failure.LeastWindow), c.clock.now())
	}
}

// noticeLimit remembers how many tokens the server says it takes, or learns it.
func (c *Client) noticeLimit(e *Error, r chat.Request) {
	if e.Kind != TooLong {
		return
	}
	if e.limit <= 0 {
		c.leave(c.unsaid.refuse(counted(r, tokens.For(c.config.Model))))
		return
	}
	c.window.learn(e.limit, c.clock.now())
	answer := tokens.ForAnswer(e.limit, c.config.MaxTokens)
	e.room = tokens.ForPrompt(e.limit, answer, 0, e.limit)
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
	if c.config.BaseURL != "" && c.window.mustLook(c.clock.now()) {
		c.lookAtWindow(ctx)
	}
	all = c.window.size(c.clock.now(), c.config.Window)
	if all == 0 {
		return 0, 0
	}
	answer := tokens.ForAnswer(all, c.config.MaxTokens)
	return all, tokens.ForPrompt(all, answer, 0, all)
}

// LargerWindow says how to get the model a larger window, as its server is known.
func (c *Client) LargerWindow() string {
	c.window.mu.Lock()
	defer c.window.mu.Unlock()
	return largerWindow(c.window.listed, serviceAt(c.config.BaseURL))
}

// lookAtWindow asks the server for the window, and tells if that is smaller than the configured one.
func (c *Client) lookAtWindow(ctx context.Context) {
	looking, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	found := look(looking, c.caller)
	c.window.list(found)
	if found.isLess(c.config.Window) {
		said := smallerWindow(c.config.Window, found, serviceAt(c.config.BaseURL))
		c.tell(c.habits.note(said))
	}
}
