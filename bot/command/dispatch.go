package command

import (
	"context"
	"encoding/json"

	"hark/bot/discord"
	"hark/bot/locale"
)

const allTaken = "Too much is asked of me at the moment. Please try again in a minute."

// semaphore bounds how many of something run at once.
type semaphore chan struct{}

// tryRun begins f, unless the semaphore is full.
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

// read decodes an interaction; nil if Hark responds to none of its kind.
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

// dispatch begins answering x, or tells its user at once that too much is asked.
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

// Idle reports whether no interaction is pending.
func (c *Commands) Idle() bool { return c.pending.Load() == 0 }

// finish ends an interaction.
func (c *Commands) finish() {
	c.pending.Add(-1)
	c.Progress()
}

// serve answers x and counts the outcome.
func (c *Commands) serve(ctx context.Context, x *interaction, answer func(context.Context, *interaction) error) {
	defer c.finish()
	c.grantCache.visit(x)
	err := answer(ctx, x)
	c.tally(x, err)
	if ctx.Err() == nil {
		c.warn(x, err, "couldn't answer a command")
	}
}

// turnAway tells the user of x that too much is asked.
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
