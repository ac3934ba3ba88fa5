package command

import (
	"context"
	"encoding/json"

	"hark/bot/discord"
	"hark/bot/locale"
)

const allTaken = "Too much is asked of me at the moment. Please try again in a minute."

// seats are how many of something may be done at the same time.
type semaphore chan struct{}

// take has f begun, unless all seats are taken.
func (s semaphore) tryRun(begin func(func(context.Context)), f func(context.Context)) bool {
	select {
	case s <- struct{}{}:
		begin(func(ctx context.Context) {
			defer func() { <-s }()
			f(ctx)
		})
		return true
	default:
		return false
	}
}

// read is one use; nil if it is none that is answered.
func (c *Commands) read(data json.RawMessage, logged <-chan struct{}) *interaction {
	x := &interaction{rest: c.Client, logged: logged, came: c.Now()}
	if err := discord.Unmarshal(data, &x.Interaction); err != nil {
		c.Log.Error().Err(err).Int64("interaction", discord.EventID(data)).Msg("passed over a command")
		return nil
	}
	switch x.Type {
	case discord.InteractionCommand, discord.InteractionComponent, discord.InteractionForm, discord.InteractionTyping:
	default:
		return nil
	}
	x.Locale = locale.Of(x.Interaction.Locale)
	return x
}

// seat has one use answered where there is a seat for it. One that finds none is told so at once.
func (c *Commands) dispatch(x *interaction) {
	own, answer := c.running, c.answer
	if x.Type == discord.InteractionTyping {
		own, answer = c.completing, c.complete
	}
	if own.tryRun(c.Begin, func(ctx context.Context) { c.serve(ctx, x, answer) }) {
		return
	}
	c.Log.Warn().Msg("turned away a command: too many at once")
	if !c.rejecting.tryRun(c.Begin, func(ctx context.Context) { c.serve(ctx, x, c.turnAway) }) {
		c.Log.Warn().Int64("interaction", int64(x.ID)).Msg("left a command without an answer: too many at once")
		c.finish()
	}
}

// Idle reports whether no use is worked on.
func (c *Commands) Idle() bool { return c.pending.Load() == 0 }

// over says that a use is done with.
func (c *Commands) finish() {
	c.pending.Add(-1)
	c.Progress()
}

// serve answers one use.
func (c *Commands) serve(ctx context.Context, x *interaction, answer func(context.Context, *interaction) error) {
	defer c.finish()
	c.grantCache.visit(x)
	err := answer(ctx, x)
	c.tally(x, err)
	if ctx.Err() == nil {
		c.warn(x, err, "couldn't answer a command")
	}
}

// turnAway tells of one use that there is no seat for it.
func (c *Commands) turnAway(ctx context.Context, x *interaction) error {
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	x.outcome = CommandRefused
	if x.Type == discord.InteractionTyping {
		return x.respond(limit, discord.Response{Type: discord.RespondChoices,
			Data: completions{Choices: []optionChoice{}}})
	}
	return x.say(limit, x.Text(allTaken))
}
