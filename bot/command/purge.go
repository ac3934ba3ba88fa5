package command

import (
	"context"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

const (
	asksPurge = "purgechannel" // the button that asks for a purge, with the channel
	purges    = "purge"        // the button that purges, with member, channel and Unix time before which; 0: all
)

const purgeEnd = "I may still remember what is said from now on. This can't be undone."

// askMember asks whether to delete all that a member wrote.
func (c *Commands) askMember(ctx context.Context, x *interaction) (response, error) {
	user, given := x.OptionID("member")
	if !given {
		return response{}, refusal(x.Text(whomUnknown))
	}
	return c.confirmPurge(ctx, x, memory.Forgetting{User: memory.UserID(user)},
		x.Text("**Forget all that <@%d> wrote in this server?**", user),
		x.Text("I may still remember what they write from now on: only they can use `/memory optout`. This can't be undone."))
}

// askChannel asks whether to delete all of a channel.
func (c *Commands) askChannel(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	if at.ID == 0 {
		return response{}, errUnknownChannel
	}
	return c.confirmPurge(ctx, x, memory.Forgetting{Channel: at.ID},
		x.Text("**Forget all that was said in %s, with its threads?**", channelMention(x.Locale, at.ID)),
		markdown.Lines(x.Text("What was set for it goes too: persona, model and the like. Whether I answer there, whether I remember it and how long stay as they are."), x.Text(purgeEnd)))
}

// askBefore asks whether to delete what is older than a time, in a channel or the whole server.
func (c *Commands) askBefore(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	before, _, err := c.timeOption(x, "before")
	switch {
	case err != nil:
		return response{}, err
	case before.After(c.at(x)):
		return response{}, refusal(x.Text("That is in the future: I can't forget what hasn't been said yet."))
	}
	before = before.Truncate(time.Second)
	return c.confirmPurge(ctx, x, memory.Forgetting{Channel: at.ID, Before: before},
		x.Text("**Forget all that was said in %s before <t:%d:f>?**", channelMention(x.Locale, at.ID),
			before.Unix()), x.Text(purgeEnd))
}

// confirmPurge asks, with a button whose id says what is purged.
func (c *Commands) confirmPurge(ctx context.Context, x *interaction, f memory.Forgetting,
	question, end string) (response, error) {
	f.Why = memory.WhyPurge
	asked, err := c.confirm(ctx, x, f, question, end)
	before := int64(0)
	if !f.Before.IsZero() {
		before = f.Before.Unix()
	}
	return asked.asking(discord.StyleRed, x.Text("Forget it for good"), purges, f.User, f.Channel, before), err
}

// purge deletes what the button's id says.
func (c *Commands) purge(ctx context.Context, x *interaction) (response, error) {
	f, ok := c.purged(x)
	if !ok {
		return response{}, refusal(x.Text(unknownCommandText))
	}
	e, err := c.extent(ctx, x, f)
	if err != nil {
		return response{}, err
	}
	return c.forgetting(ctx, x, f, func(l locale.Locale, r memory.DeletionReport) string {
		if !x.seesAll() {
			r.Messages = e.Messages
			r.Facts = e.Facts
			r.Lore = e.Lore
			r.Summaries = e.Summaries
			r.Answers = e.Answers
			r.Records = 0
		}
		return markdown.Lines(receiptText(l, r), x.visibleNote())
	})
}

// purged returns what the button's id says. It never selects a whole server.
func (c *Commands) purged(x *interaction) (f memory.Forgetting, ok bool) {
	n, ok := reply.Integers(x.Args(), 10)
	if !ok || len(n) != 3 || slices.Min(n) < 0 || slices.Max(n) == 0 {
		return f, false
	}
	f = memory.Forgetting{
		Guild:   x.guild(),
		User:    memory.UserID(n[0]),
		Channel: memory.ChannelID(n[1]),
		Why:     memory.WhyPurge,
		At:      c.at(x),
	}
	if n[2] > 0 {
		f.Before = time.Unix(n[2], 0)
	}
	return f, true
}
