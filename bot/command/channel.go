package command

import (
	"context"
	"fmt"
	"strings"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

// The values of memory.SettingAnswers, and the one that resets it.
const (
	answersOn      = "on"
	answersOff     = "off"
	answersDefault = "default"
)

const silentHere = "I don't answer questions in this channel: those who manage this server decided so. Commands work."

// logChannel remembers a channel or category.
func (c *Commands) logChannel(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	remembered := x.remembers(at.ID)
	chose := memory.Chose{
		Guild:   x.guild(),
		Channel: at.ID,
		Choice:  memory.Remember,
		By:      x.who(),
		At:      c.Now(),
	}
	events := append(memory.NewPast(x.policy, x.server, chose, chose.At), chose)
	if err := c.apply(ctx, x, fmt.Sprintf("keep that channel %d is remembered", at.ID), events...); err != nil {
		return response{}, err
	}
	c.Filler.Nudge()
	past, err := c.pastText(ctx, x, at, remembered)
	if err != nil {
		return response{}, err
	}
	state, err := c.channelState(ctx, x, at)
	return paragraphs(state, past), err
}

// pastText says what Hark knows of a channel's past. remembered says whether it remembered the channel already.
func (c *Commands) pastText(ctx context.Context, x *interaction, at memory.Channel, remembered bool) (string, error) {
	if at.Kind == memory.CategoryChannel {
		return "", nil
	}
	kept, err := c.Memory.Log(ctx, at.ID, 0, memory.FirstMessageID(c.Now()), 1)
	switch {
	case err != nil:
		return "", fmt.Errorf("look up what is kept of channel %d: %w", at.ID, err)
	case len(kept) == 0:
		return x.Text("-# I don't know what was said there before: `/hark backfill` fetches it."), nil
	case remembered:
		return "", nil
	}
	return x.Text("-# What I kept from there earlier counts again. I don't know what was said in between: `/hark backfill` fetches it."), nil
}

// ignoreChannel stops remembering a channel or category.
func (c *Commands) ignoreChannel(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	if err := c.choose(ctx, x, memory.Chose{Channel: at.ID, Choice: memory.Ignore}); err != nil {
		return response{}, err
	}
	state, err := c.channelState(ctx, x, at)
	if at.Kind == memory.CategoryChannel {
		return paragraphs(state, x.Text(
			"I tell nobody what I kept from it before. `/hark purge channel` makes me forget it for good, channel by channel.")), err
	}
	return paragraphs(state, x.Text(
		"I tell nobody what I kept from it before. `/hark purge channel`, or the button below, makes me forget it for good.")).
		asking(discord.StyleGrey, x.Text("Forget what I kept of it"), asksPurge, at.ID), err
}

// answerChannel sets whether Hark answers in a channel, or shows it.
func (c *Commands) answerChannel(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	if value := x.Option("answer"); value != "" {
		if value == answersDefault {
			value = ""
		}
		if err := c.setAt(ctx, x, at.ID, memory.SettingAnswers, value); err != nil {
			return response{}, err
		}
	}
	if at.ID == 0 {
		return paragraphs(answersText(x.Locale, x.server, 0), x.decidedAlone(memory.SettingAnswers)), nil
	}
	state, err := c.channelState(ctx, x, at)
	return paragraphs(state), err
}

// channelState says what Hark does in a channel, and which permissions it lacks.
func (c *Commands) channelState(ctx context.Context, x *interaction, at memory.Channel) (string, error) {
	text := c.channelText(x, at.ID)
	if at.Kind == memory.CategoryChannel {
		heard, _, _ := strings.Cut(text, "\n")
		return markdown.Lines(heard,
			x.Text("-# This applies to its channels without a choice of their own.")), nil
	}
	needs := discord.ToRead
	if !reply.SilentIn(x.server, at.ID) {
		needs = discord.ToAnswer
	}
	missing, err := c.missingFor(ctx, x, at, needs)
	return markdown.Lines(text, c.Grants.Lacking(x.Locale, x.guild(), at.ID, missing)), err
}

// channelText says whether and how long a channel (id 0: the server) is remembered, and whether Hark answers there.
func (c *Commands) channelText(x *interaction, id memory.ChannelID) string {
	heard := x.Text("I remember nothing of what is said in %s.", channelMention(x.Locale, id))
	keep := ""
	if id == 0 {
		heard, _, _ = strings.Cut(policyText(x.Locale, x.server, x.policy), "\n")
	} else if x.remembers(id) {
		heard = x.Text("I remember what is said in %s.", channelMention(x.Locale, id))
	}
	if id == 0 || x.remembers(id) {
		keep = retainedText(x.Locale, x.server, id, c.Retention)
	}
	return markdown.Lines(heard, keep, answersText(x.Locale, x.server, id))
}

// answersText says whether Hark answers in a channel; id 0: in channels without a setting of their own.
func answersText(l locale.Locale, g *memory.Guild, id memory.ChannelID) string {
	switch silent := reply.SilentIn(g, id); {
	case silent && id == 0:
		return l.Text("In this server I ignore mentions, except in channels that are set otherwise. Commands work.")
	case silent:
		return l.Text("In %s I ignore mentions. Commands work.", channelMention(l, id))
	case id == 0:
		return l.Text("In this server I answer mentions, except in channels that are set otherwise.")
	}
	return l.Text("In %s I answer mentions.", channelMention(l, id))
}
