package command

import (
	"context"
	"encoding/json"
	"errors"

	"hark/bot/discord"
	"hark/bot/locale"
)

// unknownCommand counts all commands that Hark doesn't know, so that nobody can invent label values.
const unknownCommand = "unknown"

const allTaken = "I'm getting too many requests at the moment. Please try again in a minute."

// read decodes an interaction; nil if Hark doesn't respond to its kind.
func (c *Commands) read(data json.RawMessage, logged <-chan struct{}) *interaction {
	x := &interaction{
		rest:   c.Client,
		logged: logged,
		came:   c.Now(),
	}
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
	own := c.running
	answer := c.answer
	if x.Type == discord.InteractionTyping {
		own = c.completing
		answer = c.complete
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
	command := x.Path()
	outcome := x.outcome
	if _, known := c.handlers[command]; !known {
		command = unknownCommand
		outcome = CommandRefused
	}
	switch {
	case err != nil:
		outcome = CommandFailed
	case outcome == "":
		outcome = CommandAnswered
	}
	c.Metrics.Commands.WithLabelValues(command, outcome).Inc()
}

// Put takes an INTERACTION_CREATE event. It doesn't wait. logged is closed once all earlier events are in the log.
func (c *Commands) Put(data json.RawMessage, logged <-chan struct{}) {
	if x := c.read(data, logged); x != nil {
		c.pending.Add(1)
		c.dispatch(x)
	}
}

func (c *Commands) answer(ctx context.Context, x *interaction) error {
	h, known := c.handlers[x.Path()]
	if !known {
		return x.say(ctx, x.Text(unknownCommandText))
	}
	if why := c.refuses(ctx, h, x); why != "" {
		x.outcome = CommandRefused
		return x.say(ctx, why)
	}
	c.grantCache.grant(x)
	if h.opens != nil && x.Type != discord.InteractionForm {
		if opened, err := c.open(ctx, h, x); opened || err != nil {
			return err
		}
	}
	deferred := discord.Response{Type: discord.RespondDeferred,
		Data: discord.Outgoing{Flags: discord.FlagEphemeral, AllowedMentions: discord.NoMentions}}
	if h.updates {
		deferred = discord.Response{Type: discord.RespondUpdating}
	}
	if err := x.respond(ctx, deferred); err != nil {
		return err
	}
	shown, err := c.handle(ctx, h, x)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errShown):
		return nil
	case err == nil:
		return x.pages(ctx, shown)
	}
	why := c.errorText(x, err)
	if h.updates {
		return x.add(ctx, why)
	}
	return x.show(ctx, response{Content: why})
}

// complete responds to autocomplete. If anything fails, it responds in time with no choices.
func (c *Commands) complete(ctx context.Context, x *interaction) error {
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	offered := completions{Choices: []optionChoice{}}
	if h := c.handlers[x.Path()]; h.completes != nil && c.refuses(limit, h, x) == "" {
		choices, err := safely(limit, c, x, "completion", h.completes)
		if ctx.Err() == nil {
			c.warn(x, err, "couldn't complete what somebody typed")
		}
		offered.Choices = append(offered.Choices, matching(choices, func(o optionChoice) string {
			return o.Name
		}, x.Typed())...)
	}
	return x.respond(ctx, discord.Response{Type: discord.RespondChoices, Data: offered})
}

// open shows the modal of a handler and reports whether there is one. Discord wants it within 3 seconds.
func (c *Commands) open(ctx context.Context, h handler, x *interaction) (opened bool, err error) {
	limit, cancel := context.WithTimeout(ctx, c.Timing.AtOnce)
	defer cancel()
	f, err := safely(limit, c, x, "form", h.opens)
	switch {
	case err == nil && f.ID == "":
		return false, nil
	case err == nil:
		return true, x.respond(ctx, discord.Response{Type: discord.RespondForm, Data: f})
	case ctx.Err() != nil:
		return true, ctx.Err()
	}
	return true, x.say(ctx, c.errorText(x, err))
}
