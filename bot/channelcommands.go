package bot

import (
	"context"
	"fmt"

	"hark/memory"
)

// What SettingAnswers can be, and what takes it back.
const (
	answersOn      = "on"
	answersOff     = "off"
	answersDefault = "default"
)

// silentHere is what is told to whoever presses a button for an answer where there are none.
const silentHere = "I don't answer questions in this channel: those who manage this server decided so. Commands work."

// silentIn reports whether those who manage a guild have decided that nobody is answered in a channel.
func silentIn(g *memory.Guild, channel memory.ChannelID) bool {
	value, _ := g.Setting(channel, memory.SettingAnswers)
	return value == answersOff
}

// logChannel has a channel or a category remembered.
func (c *commands) logChannel(ctx context.Context, x *exchange) (sheet, error) {
	g, at, err := c.place(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	chose := memory.Chose{Guild: x.guild(), Channel: at.ID, Choice: memory.Remember, At: c.bot.now()}
	if err := c.bot.memory.Apply(ctx, append(memory.NewPast(c.bot.cfg.Policy, g, chose, chose.At), chose)...); err != nil {
		return sheet{}, fmt.Errorf("keep that channel %d is remembered: %w", at.ID, err)
	}
	if g, err = c.bot.admit.guild(ctx, x.guild()); err != nil {
		return sheet{}, err
	}
	c.bot.filler.nudge()
	state, err := c.channelState(ctx, x, g, at)
	past := x.text("-# What was said there before I don't know: `/hark backfill` fetches it.")
	if at.Kind == memory.CategoryChannel {
		past = ""
	}
	return paragraphs(state, past), err
}

// ignoreChannel keeps a channel or a category from being remembered.
func (c *commands) ignoreChannel(ctx context.Context, x *exchange) (sheet, error) {
	_, at, err := c.place(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	g, err := c.choose(ctx, x, memory.Chose{Channel: at.ID, Choice: memory.Ignore})
	if err != nil {
		return sheet{}, err
	}
	state, err := c.channelState(ctx, x, g, at)
	if at.Kind == memory.CategoryChannel {
		return paragraphs(state, x.text("What I kept of it before is told to nobody. `/hark purge channel` has me forget it for good, channel by channel.")), err
	}
	shown := paragraphs(state, x.text("What I kept of it before is told to nobody. `/hark purge channel`, or the button below, has me forget it for good."))
	shown.Components = []component{row(button(styleGrey, x.text("Forget what I kept of it"), fmt.Sprintf("%s:%d", asksPurge, at.ID)))}
	return shown, err
}

// answerChannel decides whether anybody is answered in a channel, or shows it.
func (c *commands) answerChannel(ctx context.Context, x *exchange) (sheet, error) {
	g, at, err := c.place(ctx, x)
	if err != nil {
		return sheet{}, err
	}
	if value := x.option("answer"); value != "" {
		if value == answersDefault {
			value = ""
		}
		e := memory.SettingChosen{Guild: x.guild(), Channel: at.ID, Key: memory.SettingAnswers, Value: value, At: c.bot.now()}
		if err := c.bot.memory.Apply(ctx, e); err != nil {
			return sheet{}, fmt.Errorf("keep whether channel %d is answered in: %w", at.ID, err)
		}
		if g, err = c.bot.admit.guild(ctx, x.guild()); err != nil {
			return sheet{}, err
		}
	}
	if at.ID == 0 {
		return paragraphs(x.answers(g, 0), x.ownAnswers(x.seen(g, c.bot.cfg.Policy))), nil
	}
	state, err := c.channelState(ctx, x, g, at)
	return paragraphs(state), err
}

// channelState says what Hark does in a channel, and what it lacks there.
func (c *commands) channelState(ctx context.Context, x *exchange, g *memory.Guild, at memory.Channel) (string, error) {
	remembers := c.bot.cfg.Policy.Remembers(g, at.ID)
	heard := x.text("I remember nothing of what is said in %s.", x.mention(at.ID))
	if remembers {
		heard = x.text("I remember what is said in %s.", x.mention(at.ID))
	}
	if at.Kind == memory.CategoryChannel {
		return lines(heard, x.text("-# That goes for the channels in it that nothing else was chosen for.")), nil
	}
	keep, needs := "", toRead
	if remembers {
		keep = x.retained(g, at.ID, c.bot.cfg.Retention)
	}
	if !silentIn(g, at.ID) {
		needs = toAnswer
	}
	missing, err := c.missingFor(ctx, x, at, needs)
	return lines(heard, keep, x.answers(g, at.ID), c.bot.lacking(x.locale, x.guild(), at.ID, missing)), err
}

// answers says whether anybody is answered in a channel, or, with the id 0, in channels for which nothing else was decided.
func (l locale) answers(g *memory.Guild, id memory.ChannelID) string {
	switch silent := silentIn(g, id); {
	case silent && id == 0:
		return l.text("In this server I answer nobody who mentions me, where nothing else is decided for a channel. Commands work.")
	case silent:
		return l.text("In %s I answer nobody who mentions me: I say nothing at all. Commands work.", l.mention(id))
	case id == 0:
		return l.text("In this server I answer who mentions me, where nothing else is decided for a channel.")
	}
	return l.text("In %s I answer who mentions me.", l.mention(id))
}

// ownAnswers names the channels for which it is decided by themselves.
func (l locale) ownAnswers(g *memory.Guild) string {
	return l.decidedAlone(g, memory.SettingAnswers)
}

// decidedAlone names the channels that have a setting of their own; "" if there are none.
func (l locale) decidedAlone(g *memory.Guild, key memory.Setting) string {
	var own []memory.ChannelID
	for _, c := range g.Channels {
		if c.Settings[key] != "" {
			own = append(own, c.ID)
		}
	}
	if len(own) == 0 {
		return ""
	}
	return l.text("-# Decided for itself: %s", channelList(l, own))
}
