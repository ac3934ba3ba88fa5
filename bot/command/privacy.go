package command

import (
	"context"
	"slices"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/memory"
)

// privacy says what is kept here, as configured and decided now.
func (c *Commands) privacy(ctx context.Context, x *interaction, m member) (response, error) {
	p := c.Privacy
	learning := !x.server.Learn.IsZero()
	kept := c.retainedHere(x)
	who := x.Text("Who runs me: they haven't said. The server's admins may know.")
	if p.Operator != "" {
		who = x.Text("Who runs me: %s", p.Operator)
	}
	return paragraphs(
		x.Text("**What I keep here**"), c.keptHere(ctx, x), x.Text(privacyWhat), when(p.Summaries,
			x.Text(privacySummaries)),
		when(x.Guild != 0 && !learning,
			x.Text("I learn nothing about people by myself here: it isn't switched on.")),
		when(m.out, x.Text(youAreOut)),
		x.Text("**For how long**"), kept, when(kept != "", x.Text(goesAlong)), tracesText(x.Locale, p),
		x.Text("I keep for two days how many tokens each person's questions used."),
		x.Text("**Where it goes**"), sentText(x.Locale, p, learning),
		x.Text("**Who, and what you can do**"), who,
		x.Text(privacyFoot, c.Mention("memory show"), c.Mention("memory export"), c.Mention("memory forget"),
			c.Mention("memory optout")),
		"-# "+x.Text(privacyReach)), nil
}

// keptHere says whether the channel is remembered, what was decided for the server, and how many of the channels that
// the user can read are remembered.
func (c *Commands) keptHere(ctx context.Context, x *interaction) string {
	id := memory.ChannelID(x.Channel)
	heard := x.Text("I don't remember what is said in %s, except the current conversation.",
		channelMention(x.Locale, id))
	switch {
	case x.Guild == 0 && x.remembers(id):
		return x.Text("I remember what we write in direct messages, and use it only here.")
	case x.Guild == 0:
		return x.Text("I keep nothing from direct messages, except the current conversation: whoever runs me decided so.")
	case x.remembers(id):
		heard = x.Text("I remember what is said in %s.", channelMention(x.Locale, id))
	}
	all := c.readable(ctx, x)
	kept := slices.DeleteFunc(slices.Clone(all), func(id memory.ChannelID) bool { return !x.remembers(id) })
	return markdown.Lines(heard, policyText(x.Locale, x.visibleGuild(), x.policy),
		x.Text("Of the channels and threads that I may tell you about here (%s), I remember %s. I tell nobody what they couldn't read themselves.", x.Locale.Number(len(all)), x.Locale.Number(len(kept))),
		c.rolesHere(x))
}

// tracesText says how long traces, prompts and records of calls are kept.
func tracesText(l locale.Locale, p Privacy) string {
	long := func(d time.Duration) string {
		if d > 0 {
			return retentionText(l, d)
		}
		return l.Text("not at all")
	}
	return l.Text("I keep which messages an answer was made from as long as the answer. What the model was sent for it: %s. Which calls were made for it, as ids and numbers: %s.",
		long(p.Prompts), long(p.Records))
}
