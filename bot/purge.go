package bot

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

// The buttons that ask for a channel to be purged, and that purge, with whose messages, in which channel and
// before which second since 1970; 0 for all.
const (
	asksPurge = "purgechannel"
	purges    = "purge"
)

// purgeEnd says what a purge doesn't do.
const purgeEnd = "What is said from now on I may remember again. It can't be undone."

// askMember asks whether all that somebody wrote is to be forgotten.
func (c *commands) askMember(ctx context.Context, x *exchange) (sheet, error) {
	user, given := x.OptionID("member")
	if !given {
		return sheet{}, refusal(x.Text(whomUnknown))
	}
	return c.confirmPurge(ctx, x, memory.Forgetting{User: memory.UserID(user)},
		x.Text("**Forget all that <@%d> wrote in this server?**", user),
		x.Text("`/memory optout` is theirs alone: I may remember again what they write from now on. It can't be undone."))
}

// askChannel asks it of a channel.
func (c *commands) askChannel(ctx context.Context, x *exchange, at memory.Channel) (sheet, error) {
	if at.ID == 0 {
		return sheet{}, errUnknownChannel
	}
	return c.confirmPurge(ctx, x, memory.Forgetting{Channel: at.ID},
		x.Text("**Forget all that was said in %s, with its threads?**", channelMention(x.Locale, at.ID)),
		markdown.Lines(x.Text("What was set for it goes too: persona, model and the like. Whether I answer there, whether I remember it and how long stay as they are."), x.Text(purgeEnd)))
}

// askBefore asks it of what is older than a time, in a channel or the whole server.
func (c *commands) askBefore(ctx context.Context, x *exchange, at memory.Channel) (sheet, error) {
	before, _, err := c.span(x, "before")
	switch {
	case err != nil:
		return sheet{}, err
	case before.After(c.at(x)):
		return sheet{}, refusal(x.Text("That is in the future: what isn't said yet I can't forget."))
	}
	before = before.Truncate(time.Second)
	return c.confirmPurge(ctx, x, memory.Forgetting{Channel: at.ID, Before: before},
		x.Text("**Forget all that was said in %s before <t:%d:f>?**", channelMention(x.Locale, at.ID),
			before.Unix()), x.Text(purgeEnd))
}

// confirmPurge asks with a button that says what is purged.
func (c *commands) confirmPurge(ctx context.Context, x *exchange, f memory.Forgetting,
	question, end string) (sheet, error) {
	f.Why = memory.WhyPurge
	asked, err := c.confirm(ctx, x, f, question, end)
	before := int64(0)
	if !f.Before.IsZero() {
		before = f.Before.Unix()
	}
	return asked.asking(discord.StyleRed, x.Text("Forget it for good"), purges, f.User, f.Channel, before), err
}

// purge forgets what a button says.
func (c *commands) purge(ctx context.Context, x *exchange) (sheet, error) {
	f, ok := c.purged(x)
	if !ok {
		return sheet{}, refusal(x.Text(unknownTool))
	}
	e, err := c.extent(ctx, x, f)
	if err != nil {
		return sheet{}, err
	}
	return c.forgetting(ctx, x, f, func(l locale.Locale, r memory.Receipt) string {
		if !x.seesAll() {
			r.Messages, r.Facts, r.Lore, r.Summaries, r.Answers, r.Records = e.Messages, e.Facts, e.Lore,
				e.Summaries, e.Answers, 0
		}
		return markdown.Lines(receiptText(l, r), x.countsSeen())
	})
}

// purged is what a button says is to be forgotten, which is never all of a server.
func (c *commands) purged(x *exchange) (f memory.Forgetting, ok bool) {
	n, ok := reply.Integers(x.Args(), 10)
	if !ok || len(n) != 3 || slices.Min(n) < 0 || slices.Max(n) == 0 {
		return f, false
	}
	f = memory.Forgetting{Guild: x.guild(), User: memory.UserID(n[0]), Channel: memory.ChannelID(n[1]),
		Why: memory.WhyPurge, At: c.at(x)}
	if n[2] > 0 {
		f.Before = time.Unix(n[2], 0)
	}
	return f, true
}
