package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"hark/internal/answer"
	"hark/memory"
)

// Privacy is what /privacy tells of how Hark is run, besides what the log knows.
type Privacy struct {
	Operator string // who runs it and how they can be reached; empty: they haven't said
	// Retention is how long messages and lore are remembered; 0: without end.
	Retention time.Duration
	// Prompts is how long it is kept what the model was sent, and Records which calls were made; 0: it isn't.
	Prompts, Records time.Duration
	Summaries        bool // whether sessions are summed up
	// Models are the hosts of the language models, Embedder and Reranker those of theirs; empty: there is none, or it is
	// built in.
	Models             []string
	Embedder, Reranker string
	Vision             bool // whether a model is shown images
}

const (
	privacyWhat = "Of what I remember I keep the text, who wrote it and when, the names of files (not the files), the names people go by, what I was told or " +
		"learned about them, lore, and my answers with what they were made from. To find it again I keep an index of words and, for its meaning, numbers made of it."
	privacySummaries = "When a conversation is over I keep a summary of it, which goes with any message that it is from."
	privacyFoot      = "You can see what I keep about you with %s, get it as a file with %s, have it all forgotten with %s or a single message with “Forget this” in its menu, " +
		"and have me keep nothing of yours with %s."
	privacyReach = "What I forget is out of my own files for good, but not out of backups that whoever runs me has made, nor out of what these servers may have kept, nor out of Discord."
)

// privacy tells what is kept where whoever asks is, as it is configured and decided now.
func (c *commands) privacy(_ context.Context, x *exchange, m member) (sheet, error) {
	p := c.bot.cfg.Privacy
	lines := []string{x.text("**What I keep here**"), c.keptHere(x, m)}
	if x.Guild != 0 {
		lines = append(lines, c.keptElsewhere(x, m))
	}
	lines = append(lines, x.text(privacyWhat))
	if p.Summaries {
		lines = append(lines, x.text(privacySummaries))
	}
	switch {
	case x.Guild == 0:
	case m.guild.Learn.IsZero():
		lines = append(lines, x.text("I learn nothing about people by myself here: it isn't switched on."))
	default:
		lines = append(lines, x.text("I learn about members who switched that on for themselves with `/memory learn`."))
	}
	if m.out {
		lines = append(lines, x.text(youAreOut))
	}
	lines = append(lines, x.text("**For how long**"))
	lines = append(lines, x.kept(p, m.guild, memory.ChannelID(x.Channel))...)
	lines = append(lines, x.traces(p), x.text("How many tokens somebody's questions took I keep for two days."))
	lines = append(lines, x.text("**Where it goes**"))
	lines = append(lines, x.sent(p, !m.guild.Learn.IsZero())...)
	who := x.text("Who runs me: whoever runs this bot hasn't said. The server's admins may know.")
	if p.Operator != "" {
		who = x.text("Who runs me: %s", p.Operator)
	}
	lines = append(lines, x.text("**Who, and what you can do**"), who,
		x.text(privacyFoot, c.mention("memory show"), c.mention("memory export"), c.mention("memory forget"), c.mention("memory optout")),
		"-# "+x.text(privacyReach))
	return paged(lines), nil
}

// keptHere says whether a channel is remembered, and who decided that.
func (c *commands) keptHere(x *exchange, m member) string {
	g, id := m.guild, memory.ChannelID(x.Channel)
	kept := c.bot.cfg.Policy.Remembers(g, id)
	switch {
	case g.ID == memory.DirectGuild && kept:
		return x.text("I remember what we write in direct messages: that is how I was set up. I recall it here only.")
	case g.ID == memory.DirectGuild:
		return x.text("I keep nothing of direct messages, but for the conversation going on: that is how I was set up.")
	case kept:
		return x.text("I remember what is said in <#%d>: %s", id, c.whyKept(x, g, id))
	}
	return x.text("I don't remember what is said in <#%d>, but for the conversation going on: %s", id, c.whyNot(x, g, id))
}

func (c *commands) whyKept(x *exchange, g *memory.Guild, id memory.ChannelID) string {
	switch {
	case nearestChoice(g, id) == memory.Remember:
		return x.text("those who manage this server have chosen it.")
	case g.Choice == memory.Remember:
		return x.text("those who manage this server have chosen all channels that I can read.")
	case g.Choice == memory.RememberPublic:
		return x.text("those who manage this server have chosen all channels that everybody here can read.")
	}
	return x.text("that is how I was set up, and nobody here has decided otherwise.")
}

func (c *commands) whyNot(x *exchange, g *memory.Guild, id memory.ChannelID) string {
	choice := nearestChoice(g, id)
	switch {
	case choice == memory.Ignore:
		return x.text("those who manage this server have chosen that I never do.")
	case isAgeLimited(g, id) && !c.bot.cfg.Policy.AgeLimited:
		return x.text("it is age-restricted, and nobody has chosen it by name.")
	case g.Choice == memory.Undecided && c.bot.cfg.Policy.Ask:
		return x.text("nobody here has decided yet.")
	case g.Choice == memory.RememberPublic:
		return x.text("only channels that everybody here can read are remembered.")
	case g.Choice == memory.RememberChosen:
		return x.text("those who manage this server have chosen other channels.")
	case g.Choice == memory.Ignore:
		return x.text("those who manage this server have chosen that I remember nothing.")
	}
	return x.text("I don't know this channel well enough to tell whether I may.")
}

// nearestChoice is what was chosen for a thread, its channel or the category, the nearest first.
func nearestChoice(g *memory.Guild, id memory.ChannelID) memory.Choice {
	for range 3 {
		at := slices.IndexFunc(g.Channels, func(c memory.Channel) bool { return c.ID == id })
		switch {
		case at < 0:
			return memory.Undecided
		case g.Channels[at].Choice != memory.Undecided:
			return g.Channels[at].Choice
		}
		id = g.Channels[at].Parent
	}
	return memory.Undecided
}

// isAgeLimited reports whether a channel is age-restricted, or the one that a thread belongs to.
func isAgeLimited(g *memory.Guild, id memory.ChannelID) bool {
	return slices.ContainsFunc(g.Channels, func(c memory.Channel) bool {
		return c.ID == id && (c.AgeLimited || c.Kind.IsThread() && isAgeLimited(g, c.Parent))
	})
}

// keptElsewhere tells how many of the channels that somebody can read are remembered.
func (c *commands) keptElsewhere(x *exchange, m member) string {
	all := c.readable(x, m)
	kept := 0
	for _, id := range all {
		if c.bot.cfg.Policy.Remembers(m.guild, id) {
			kept++
		}
	}
	return x.text("Of the channels and threads that I may tell you of here (%s) I remember %s. Nobody is told what they couldn't read themselves.", x.locale.number(len(all)), x.locale.number(kept))
}

// kept says how long messages are remembered.
func (l locale) kept(p Privacy, g *memory.Guild, channel memory.ChannelID) []string {
	lines := []string{l.text("I keep messages, lore and what was made of them until they are forgotten: no end is set.")}
	if p.Retention > 0 {
		lines[0] = l.text("I forget messages, lore and what was made of them after %s.", l.span(p.Retention))
	}
	keep, at, set := g.Retention(channel, p.Retention)
	long := l.text("without end")
	if keep > 0 {
		long = l.span(keep)
	}
	switch {
	case !set:
	case at == 0:
		lines = append(lines, l.text("Those who manage this server have set for all of it: %s.", long))
	default:
		lines = append(lines, l.text("Those who manage this server have set for <#%d>: %s.", at, long))
	}
	return lines
}

// span is a time in days or hours.
func (l locale) span(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day {
		return l.count(int(d/day), "%s day", "%s days")
	}
	return l.count(max(int(d/time.Hour), 1), "%s hour", "%s hours")
}

// traces says how long it is kept how answers came about.
func (l locale) traces(p Privacy) string {
	prompts, records := l.text("not at all"), l.text("not at all")
	if p.Prompts > 0 {
		prompts = l.span(p.Prompts)
	}
	if p.Records > 0 {
		records = l.span(p.Records)
	}
	return l.text("Which messages an answer was made from I keep as long as the answer. What the model was sent for it: %s. Which calls were made for it, in ids and numbers: %s.",
		prompts, records)
}

// sent says what goes to which servers, where facts are learned or not.
func (l locale) sent(p Privacy, learning bool) []string {
	lines := []string{l.text("- Language model: none. I answer by quoting what I remember.")}
	if len(p.Models) > 0 {
		lines[0] = l.text("- Language model: your question and what I recall for it go to %s.", hosts(p.Models))
		if p.Vision {
			lines[0] += " " + l.text("Images that you show me go there as well.")
		}
		if p.Summaries {
			lines[0] += " " + l.text("So do conversations in which I was asked something, when I sum them up.")
		}
		if learning {
			lines[0] += " " + l.text("So does what members write who have switched on `/memory learn`.")
		}
		lines[0] += " " + l.text("Whoever uses `/catchup` has the channel's latest messages sent there as well, %s at most.", l.number(answer.CatchUpMost))
	}
	embedder := l.text("- Finding by meaning: built in. Nothing goes anywhere for it.")
	if p.Embedder != "" {
		embedder = l.text("- Finding by meaning: the text of what I remember, and of questions, goes to %s.", hosts([]string{p.Embedder}))
	}
	lines = append(lines, embedder)
	if p.Reranker != "" {
		lines = append(lines, l.text("- Sorting what was found: your question and the best excerpts go to %s.", hosts([]string{p.Reranker})))
	}
	return append(lines, l.text("- To others, nothing."))
}

// hosts are names of servers as they are shown.
func hosts(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, "`"+strings.ReplaceAll(n, "`", "")+"`")
	}
	return strings.Join(all, ", ")
}
