package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

// Privacy is what /privacy says about how Hark is run, besides what the log knows.
type Privacy struct {
	Operator string // who runs it and their contact; empty: unknown
	// Prompts and Records are how long prompts and records of calls are kept; 0: not at all.
	Prompts, Records time.Duration
	Summaries        bool // whether sessions are summarised
	// Models, Embedder and Reranker are hosts; empty: there is none, or it is built in.
	Models             []string
	Embedder, Reranker string
	Vision             bool // whether a model is shown images
	// Voice and Pictures are the hosts where voice messages are written down and pictures described; empty: none are.
	Voice, Pictures string
	// Programs is the address at which members' programs read; empty: none can.
	Programs string
	Tools    []string // servers of tools, with their hosts
}

const (
	privacyWhat      = "Of what I remember I keep the text, who wrote it and when, the names of files (not the files), the names people go by, what I was told or learned about them, lore, and my answers with what they were made from. To find it again I keep an index of words and, for its meaning, numbers made of it."
	goesAlong        = "Lore from there, and what was made of it, goes at the same time."
	privacySummaries = "When a conversation is over I keep a summary of it, which goes with any message that it is from."
	privacyFoot      = "You can see what I keep about you with %s, get it as a file with %s, have it all forgotten with %s or a single message with “Forget this” in its menu, and have me keep nothing of yours with %s."
	privacyReach     = "What I forget is out of my own files for good, but not out of backups that whoever runs me has made, nor out of what these servers may have kept, nor out of Discord."
)

// privacy says what is kept here, as configured and decided now.
func (c *Commands) privacy(ctx context.Context, x *interaction, m member) (response, error) {
	p, learning, kept := c.Privacy, !x.server.Learn.IsZero(), c.retainedHere(x)
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

// isAgeLimited reports whether a channel, or a thread's channel, is age-restricted.
func isAgeLimited(g *memory.Guild, id memory.ChannelID) bool {
	c := g.Channel(id)
	return c != nil && (c.AgeLimited || c.Kind.IsThread() && isAgeLimited(g, c.Parent))
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

// sentText says what is sent to which servers.
func sentText(l locale.Locale, p Privacy, learning bool) string {
	model := l.Text("- Language model: none. I answer by quoting what I remember.")
	if len(p.Models) > 0 {
		model = strings.ReplaceAll(markdown.Lines(
			l.Text("- Language model: your question and what I recall for it go to %s.", hosts(p.Models)),
			when(p.Vision, l.Text("Images that you show me go there as well.")),
			when(p.Summaries, l.Text("So do conversations in which I was asked something, when I sum them up.")),
			when(learning, l.Text("So do messages of members who have switched on `/memory learn`.")),
			l.Text("Whoever uses `/catchup` has the channel's latest messages sent there as well, %s at most.", l.Number(answer.CatchUpMax))), "\n", " ")
	}
	embedder := l.Text("- Finding by meaning: built in. Nothing goes anywhere for it.")
	if p.Embedder != "" {
		embedder = l.Text("- Finding by meaning: the text of what I remember, and of questions, goes to %s.",
			hosts([]string{p.Embedder}))
	}
	return markdown.Lines(model, embedder,
		when(p.Reranker != "", l.Text(
			"- Sorting what was found: your question and the best excerpts go to %s.", hosts([]string{p.Reranker}))),
		when(p.Voice != "", l.Text("- Voice messages, where admins agreed: they go to %s, and I keep what is said in them.", hosts([]string{p.Voice}))),
		when(p.Pictures != "", l.Text("- Pictures, where admins agreed: they go to %s, and I keep a sentence about each. I don't keep the pictures.", hosts([]string{p.Pictures}))),
		when(p.Programs != "", l.Text("- Members' own programs, which they connect with `/memory connect`: each reads what its member may read, and may send it on.")),
		when(len(p.Tools) > 0, l.Text("- Tools from outside, where admins switched them on: what the model writes to them, which may repeat what was said here, goes to %s.", hosts(p.Tools))),
		l.Text("- To others, nothing."))
}

// hosts lists hosts as code.
func hosts(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, "`"+strings.ReplaceAll(n, "`", "")+"`")
	}
	return strings.Join(all, ", ")
}
