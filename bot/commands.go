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

// https://discord.com/developers/docs/interactions/receiving-and-responding
const (
	interactionCommand = 2

	respondMessage  = 4
	respondDeferred = 5

	flagEphemeral = 1 << 6
)

// command is a slash command as it is registered, in the form in which Discord gives it back.
type command struct {
	Type         int      `json:"type"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Options      []option `json:"options"`
	Contexts     []int    `json:"contexts"`          // 0: guilds, 1: direct messages with the bot
	Integrations []int    `json:"integration_types"` // 0: installed in a guild
}

type option struct {
	Type        int    `json:"type"` // 3: text
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	MaxLength   int    `json:"max_length"`
}

var contextCommand = command{
	Type:        1,
	Name:        "context",
	Description: "Shows what I'd remember for a question. Only you see it.",
	Options: []option{{
		Type: 3, Name: "question", Description: "What you'd ask me", Required: true, MaxLength: 1000,
	}},
	Contexts:     []int{0, 1},
	Integrations: []int{0},
}

// commands registers slash commands and works on their uses. A use is acknowledged at once, whatever the log
// does: Discord gives it three seconds.
type commands struct {
	bot   *Bot
	mu    sync.Mutex
	uses  []use
	app   snowflake // set by READY; 0 while there is nothing to register
	wake  chan struct{}
	seats chan struct{}
}

// use is one use of a command.
type use struct {
	data   json.RawMessage
	logged <-chan struct{} // closed once the log knows the roles of whoever uses it
}

func newCommands(b *Bot) *commands {
	return &commands{bot: b, wake: make(chan struct{}, 1), seats: make(chan struct{}, parallelCommands)}
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
	var there []command
	err := c.bot.rest.call(ctx, "GET", address, address, nil, &there)
	for _, known := range there {
		if reflect.DeepEqual(known, contextCommand) {
			return
		}
	}
	if err == nil {
		err = c.bot.rest.call(ctx, "POST", address, address, contextCommand, nil)
	}
	if err != nil && ctx.Err() == nil {
		c.bot.log.Error().Err(err).Msg("couldn't register /context; trying again at the next connection")
	}
}

type response struct {
	Type int           `json:"type"`
	Data *responseData `json:"data"`
}

type responseData struct {
	Content         string          `json:"content,omitempty"`
	Flags           int             `json:"flags,omitempty"`
	AllowedMentions allowedMentions `json:"allowed_mentions"`
}

// serve answers one use.
func (c *commands) serve(ctx context.Context, u use) {
	var i wireInteraction
	if err := json.Unmarshal(u.data, &i); err != nil {
		c.bot.log.Error().Err(plainJSONError(err)).Int64("interaction", eventID(u.data)).Msg("passed over a command")
		return
	}
	if i.Type != interactionCommand {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.bot.timing.command)
	defer cancel()
	if err := c.serveCommand(ctx, &i, u.logged); err != nil && ctx.Err() == nil {
		c.bot.log.Warn().Err(err).Int64("interaction", int64(i.ID)).Msg("couldn't answer a command")
	}
}

func (c *commands) serveCommand(ctx context.Context, i *wireInteraction, logged <-chan struct{}) error {
	text := i.option("question")
	if i.Data.Name != contextCommand.Name || text == "" {
		return c.respond(ctx, i, response{respondMessage, &responseData{
			Content: "I don't know this command any more. Reload Discord to see those I know.",
			Flags:   flagEphemeral, AllowedMentions: nobody,
		}})
	}
	if err := c.respond(ctx, i, response{respondDeferred, &responseData{
		Flags: flagEphemeral, AllowedMentions: nobody,
	}}); err != nil {
		return err
	}
	content, err := c.recall(ctx, i, text, logged)
	if err != nil {
		return err
	}
	address := discordgo.EndpointInteractionResponseActions(fmt.Sprint(int64(i.Application)), i.Token)
	return c.bot.rest.call(ctx, "PATCH", address, i.bucket("original"), messageEdit{content, nobody}, nil)
}

func (c *commands) respond(ctx context.Context, i *wireInteraction, r response) error {
	address := discordgo.EndpointInteractionResponse(fmt.Sprint(int64(i.ID)), i.Token)
	return c.bot.rest.call(ctx, "POST", address, i.bucket("callback"), r, nil)
}

// recall is what the asker is shown.
func (c *commands) recall(ctx context.Context, i *wireInteraction, text string, logged <-chan struct{}) (string, error) {
	select {
	case <-logged:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	q := answer.Question{
		Guild: memory.GuildID(i.Guild), Channel: memory.ChannelID(i.Channel),
		Text: memory.Clean(text), Now: c.bot.now(), OnlyAsker: true,
	}
	if u := i.user(); u != nil {
		q.Asker, q.Name = memory.UserID(u.ID), displayName(u, i.Member)
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
		if r.err != nil {
			return c.bot.sentence(&ask{id: memory.MessageID(i.ID)}, r.err), nil
		}
		return showRecalled(q, r.recalled), nil
	case <-ctx.Done():
	}
	select {
	case <-came:
	case <-time.After(c.bot.timing.unwind):
	}
	return "", ctx.Err()
}

func (c *commands) ask(ctx context.Context, q answer.Question) (r answer.Recalled, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(panicked("recall", p))
		}
	}()
	return c.bot.answers.Recall(ctx, q)
}

func (i *wireInteraction) option(name string) string {
	for _, o := range i.Data.Options {
		if text, ok := o.Value.(string); ok && o.Name == name {
			return text
		}
	}
	return ""
}

// user is who used the command: of a guild, or in a direct message.
func (i *wireInteraction) user() *wireUser {
	if i.Member != nil {
		return i.Member.User
	}
	return i.User
}

// bucket is one of a few, since Discord doesn't limit interactions by route, and each bucket lets one request
// at a time.
func (i *wireInteraction) bucket(kind string) string {
	return fmt.Sprintf("interaction %s %d", kind, (int64(i.ID)>>22^int64(i.ID))%parallelCommands)
}
