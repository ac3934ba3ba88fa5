package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/internal/answer"
	"hark/memory"
)

// parallelCommands is how many uses of commands are worked on at the same time; more are turned away.
const parallelCommands = 64

// commands registers commands and works on their uses. A use is acknowledged at once, whatever the log
// does: Discord gives it three seconds.
type commands struct {
	bot   *Bot
	tools map[string]tool
	mu    sync.Mutex
	uses  []use
	app   snowflake // set by READY; 0 while there is nothing to register
	wake  chan struct{}
	seats chan struct{}
}

// use is one use of a command, a button or a menu.
type use struct {
	data   json.RawMessage
	logged <-chan struct{} // closed once the log has all that came before
}

// tool is what a command, a button or a menu does.
type tool struct {
	// refuse is why it can't be done, by what the use itself tells; "" if it can. May be nil.
	refuse func(x *exchange) string
	// updates says that the message clicked on is changed, rather than a new one shown.
	updates bool
	// early says that it doesn't wait for what was said before to be logged.
	early bool
	// endless says that it may go on when Discord waits no longer.
	endless bool
	// do is what is shown then.
	do func(ctx context.Context, x *exchange) (sheet, error)
}

func newCommands(b *Bot) *commands {
	c := &commands{bot: b, wake: make(chan struct{}, 1), seats: make(chan struct{}, parallelCommands)}
	c.tools = map[string]tool{"context": {refuse: asksNothing, do: c.recall}}
	c.addSettings()
	c.addMembers()
	c.addForgetting()
	c.addStar()
	c.addLearning()
	c.addModes()
	return c
}

// put takes a use. It doesn't wait.
func (c *commands) put(data json.RawMessage, logged <-chan struct{}) {
	c.change(func() { c.uses = append(c.uses, use{data, logged}) })
}

// ready tells that a session has begun, with READY's data. It doesn't wait.
func (c *commands) ready(data json.RawMessage) {
	var r struct {
		Application struct {
			ID snowflake `json:"id"`
		} `json:"application"`
	}
	if err := json.Unmarshal(data, &r); err == nil {
		c.change(func() { c.app = r.Application.ID })
	}
}

func (c *commands) change(f func()) {
	c.mu.Lock()
	f()
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends and all that was begun is done.
func (c *commands) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	for {
		c.mu.Lock()
		uses, app := c.uses, c.app
		c.uses, c.app = nil, 0
		c.mu.Unlock()
		if app != 0 {
			work.Go(func() { c.register(ctx, app) })
		}
		for _, u := range uses {
			select {
			case c.seats <- struct{}{}:
				work.Go(func() {
					c.serve(ctx, u)
					<-c.seats
				})
			default:
				c.bot.log.Warn().Msg("turned away a command: too many at once")
			}
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
	}
}

// register brings Discord's list of our commands up to date. It writes nothing if it is.
func (c *commands) register(ctx context.Context, app snowflake) {
	address := discordgo.EndpointApplicationGlobalCommands(fmt.Sprint(int64(app)))
	ours := registered()
	var there []command
	err := c.bot.rest.call(ctx, "GET", address, address, nil, &there)
	if err == nil && sameCommands(there, ours, func(a, b command) bool { return reflect.DeepEqual(a, b) }) {
		return
	}
	if err == nil {
		err = c.bot.rest.call(ctx, "PUT", address, address, ours, nil)
	}
	if err != nil && ctx.Err() == nil {
		c.bot.log.Error().Err(err).Msg("couldn't register the commands; trying again at the next connection")
	}
}

// serve answers one use.
func (c *commands) serve(ctx context.Context, u use) {
	x := &exchange{rest: c.bot.rest, logged: u.logged}
	if err := json.Unmarshal(u.data, &x.wireInteraction); err != nil {
		c.bot.log.Error().Err(plainJSONError(err)).Int64("interaction", eventID(u.data)).Msg("passed over a command")
		return
	}
	if x.Type != interactionCommand && x.Type != interactionComponent {
		return
	}
	if err := c.answer(ctx, x); err != nil && ctx.Err() == nil {
		c.bot.log.Warn().Err(err).Int64("interaction", int64(x.ID)).Msg("couldn't answer a command")
	}
}

const (
	unknownTool = "I don't know this command any more. Reload Discord to see those I know."
	tooLong     = "That takes longer than Discord lets me wait. Please try again later."
)

func (c *commands) answer(ctx context.Context, x *exchange) error {
	t, known := c.tools[x.path()]
	if !known {
		return x.say(ctx, unknownTool)
	}
	if t.refuse != nil {
		if why := t.refuse(x); why != "" {
			return x.say(ctx, why)
		}
	}
	promise := x.think
	if t.updates {
		promise = x.take
	}
	if err := promise(ctx); err != nil {
		return err
	}
	shown, err := c.use(ctx, t, x)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errShown):
		return nil
	case err == nil:
		return x.pages(ctx, shown)
	}
	why := tooLong
	if !errors.Is(err, context.DeadlineExceeded) {
		why = c.bot.sentence(&ask{id: memory.MessageID(x.ID)}, err)
	}
	if t.updates {
		return x.add(ctx, why)
	}
	return x.show(ctx, sheet{Content: why})
}

// use is what a tool shows, at the latest when Discord waits no longer.
func (c *commands) use(ctx context.Context, t tool, x *exchange) (shown sheet, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(panicked("command", p))
		}
	}()
	limit, cancel := context.WithTimeout(ctx, c.bot.timing.command)
	defer cancel()
	if !t.early {
		if err := x.heard(limit); err != nil {
			return sheet{}, err
		}
	}
	if t.endless {
		return t.do(ctx, x)
	}
	return t.do(limit, x)
}

func asksNothing(x *exchange) string {
	if x.option("question") == "" {
		return unknownTool
	}
	return ""
}

// recall is what /context shows.
func (c *commands) recall(ctx context.Context, x *exchange) (sheet, error) {
	q := answer.Question{
		Guild: x.guild(), Channel: memory.ChannelID(x.Channel), Asker: x.who(),
		Text: x.option("question"), Now: c.bot.now(), OnlyAsker: true, Roles: x.roles(),
		Settled: func(ctx context.Context) error { return c.bot.settled(ctx, x.guild()) },
	}
	if u := x.user(); u != nil {
		q.Name = displayName(u, x.Member)
	}
	type result struct {
		recalled answer.Recalled
		err      error
	}
	came := make(chan result, 1)
	go func() {
		r, err := c.ask(ctx, q)
		came <- result{r, err}
	}()
	select {
	case r := <-came:
		return sheet{Content: showRecalled(q, r.recalled)}, r.err
	case <-ctx.Done():
	}
	select {
	case <-came:
	case <-time.After(c.bot.timing.unwind):
	}
	return sheet{}, ctx.Err()
}

func (c *commands) ask(ctx context.Context, q answer.Question) (r answer.Recalled, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(panicked("recall", p))
		}
	}()
	r, err = c.bot.answers.Recall(ctx, q)
	if failed := r.Result.RerankFailed; failed != nil {
		c.bot.log.Warn().Err(failed).Msg("recalled without the reranker")
	}
	return r, err
}
