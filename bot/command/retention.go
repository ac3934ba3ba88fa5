package command

import (
	"cmp"
	"context"
	"strings"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
)

// keepsFor is the button that confirms a retention, with the channel and the value.
const keepsFor = "keep"

// expires is the button that deletes expired messages without waiting longer.
const expires = "expire"

// retentionDefault resets a retention.
const retentionDefault = "default"

// retention decides how long messages are remembered, or shows it. It asks first if that deletes something.
func (c *Commands) retention(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	keeper := keeperOf(x.server, at)
	value := strings.ToLower(x.Option("keep"))
	if value == "" {
		return paragraphs(c.retentionText(x, keeper)), nil
	}
	value, err := retentionValue(x.Locale, value)
	if err != nil {
		return response{}, err
	}
	less, err := x.server.Shortens(ctx, c.Memory, x.visibleChannels(), keeper, value, c.Retention, c.Now())
	if err != nil {
		return response{}, err
	}
	if less == nil {
		return c.setRetention(ctx, x, keeper, value)
	}
	return paragraphs(
		x.Text("**Remember what is said in %s only %s?**", channelMention(x.Locale, keeper),
			retentionText(x.Locale, less.Keep)),
		x.Text("Within a minute I forget for good what was said before <t:%d:f>, and from then on whatever gets too old.", less.Since.Unix()),
		amounts(x.Locale, less.Goes, 0), x.Text(
			"- everything made from it: index entries, and my answers that used it"), x.visibleNote(),
		x.Text("It can't be undone: a longer time set later brings nothing back.")).
		asking(discord.StyleRed, x.Text("Remember it no longer than that"), keepsFor, keeper,
			cmp.Or(value, retentionDefault)), nil
}

// keep sets a retention that was confirmed.
func (c *Commands) keep(ctx context.Context, x *interaction, at memory.Channel) (response, error) {
	args := x.Args()
	if len(args) != 2 {
		return response{}, refusal(x.Text(unknownCommandText))
	}
	value, err := retentionValue(x.Locale, args[1])
	if err != nil {
		return response{}, err
	}
	return c.setRetention(ctx, x, at.ID, value, memory.AgreeToExpiring(x.guild(), c.Now()))
}

// setRetention sets a retention together with more events.
func (c *Commands) setRetention(ctx context.Context, x *interaction, keeper memory.ChannelID, value string,
	more ...memory.Event) (response, error) {
	if err := c.setAt(ctx, x, keeper, memory.SettingRetention, value, more...); err != nil {
		return response{}, err
	}
	return paragraphs(x.Text("Decided."), c.retentionText(x, keeper)), nil
}

// expiringLine says which expired messages wait to be deleted, with a button that deletes them; "" if none do.
func (x *interaction) expiringLine() (string, []discord.Component) {
	e, waits := x.server.Expiring()
	if !waits {
		return "", nil
	}
	until := e.Since.Add(memory.ExpiringFor).Unix()
	line := x.Text("%s of %s messages are older than I may remember. In case that is a mistake, I wait, and forget them <t:%d:R>. Whoever runs me can set a longer time.",
		x.Locale.Number(e.Goes), x.Locale.Number(e.Kept), until)
	if !x.seesAll() {
		line = x.Text("Messages are older than I may remember. In case that is a mistake, I wait, and forget them <t:%d:R>. Whoever runs me can set a longer time.", until)
	}
	return "⏳ " + line, []discord.Component{discord.Row(discord.Button(discord.StyleRed,
		x.Text("Forget them now"), expires))}
}

// agreeToExpiring deletes expired messages that wait.
func (c *Commands) agreeToExpiring(ctx context.Context, x *interaction) (response, error) {
	return paragraphs(x.Text("They are forgotten within a minute.")),
		c.apply(ctx, x, "agree to what expires", memory.AgreeToExpiring(x.guild(), c.Now()))
}

// keeperOf returns the channel whose retention applies to at, as memory.Guild.Retention does.
func keeperOf(g *memory.Guild, at memory.Channel) memory.ChannelID {
	if at.Kind.IsThread() && g.Channel(at.Parent) != nil {
		return at.Parent
	}
	return at.ID
}

// retentionValue parses a retention and returns it as it is stored; "" is the default.
func retentionValue(l locale.Locale, text string) (string, error) {
	if text == retentionDefault {
		return "", nil
	}
	keep, err := memory.ParseRetention(text)
	if err != nil {
		return "", refusal(l.Text("I don't understand how long “%s” is. Please write days such as 90d, or `forever`, or `default`, which takes back what was decided.", markdown.Plain(text, 50)))
	}
	return memory.FormatRetention(keep), nil
}

// retentionText says how long messages are remembered in a channel; id 0: in the whole server.
func (c *Commands) retentionText(x *interaction, id memory.ChannelID) string {
	own := ""
	limit := ""
	most := c.Retention
	if most > 0 {
		limit = x.Text("-# The longest time that whoever runs me allows: %s.", retentionText(x.Locale, most))
	}
	if id == 0 {
		own = x.decidedAlone(memory.SettingRetention)
	}
	return markdown.Lines(retainedText(x.Locale, x.server, id, most), own, limit,
		x.Text("-# Threads are remembered as long as their channel. What gets too old is forgotten within an hour, or within a day if it is remembered for long."))
}

// retainedHere is retainedText for the channel of x or, if it isn't remembered, for the server; "" if nothing is
// remembered.
func (c *Commands) retainedHere(x *interaction) string {
	switch id := memory.ChannelID(x.Channel); {
	case x.remembers(id):
		return retainedText(x.Locale, x.server, id, c.Retention)
	case x.keepsNothing() != "":
		return ""
	}
	return retainedText(x.Locale, x.server, 0, c.Retention)
}
