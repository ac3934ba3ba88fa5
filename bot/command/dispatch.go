package command

import (
	"context"
	"encoding/json"

	"hark/bot/discord"
	"hark/bot/locale"
)

// The outcomes that the metric of commands counts.
const (
	CommandAnswered = "answered"
	CommandRefused  = "refused" // not for this member or place, or not now
	CommandFailed   = "failed"
)

// unknownCommand counts all commands that Hark doesn't know, so that nobody can invent label values.
const unknownCommand = "unknown"

const allTaken = "I'm getting too many requests at the moment. Please try again in a minute."

// semaphore bounds how many of something run at once.
type semaphore chan struct{}

// tryRun starts f unless the semaphore is full, and reports whether it did.
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

// read decodes an interaction; nil if Hark doesn't respond to its kind.
func (c *Commands) read(data json.RawMessage, logged <-chan struct{}) *interaction {
	x := &interaction{rest: c.Client, logged: logged, came: c.Now()}
	if err := discord.Unmarshal(data, &x.Interaction); err != nil {
		c.Log.Error().Err(err).Int64("interaction", discord.EventID(data)).Msg("ignored a command")
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

// dispatch starts answering x, or refuses it at once if too many are in progress.
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

func (c *Commands) serve(ctx context.Context, x *interaction, answer func(context.Context, *interaction) error) {
	defer c.finish()
	c.grantCache.note(x)
	err := answer(ctx, x)
	c.tally(x, err)
	if ctx.Err() == nil {
		c.warn(x, err, "couldn't answer a command")
	}
}

// turnAway refuses x because too many are in progress.
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

// tally counts x in the metrics. err is why it couldn't be answered.
func (c *Commands) tally(x *interaction, err error) {
	if x.Type == discord.InteractionTyping {
		return
	}
	command, outcome := x.Path(), x.outcome
	if _, known := c.handlers[command]; !known {
		command, outcome = unknownCommand, CommandRefused
	}
	switch {
	case err != nil:
		outcome = CommandFailed
	case outcome == "":
		outcome = CommandAnswered
	}
	c.Metrics.Commands.WithLabelValues(command, outcome).Inc()
}
