package command

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

const (
	privacyWhat      = "Of what I remember I keep the text, who wrote it and when, the names of files (not the files), the names people go by, what I was told or learned about them, lore, and my answers with what they were made from. To find it again I keep an index of words and, for its meaning, numbers made of it."
	goesAlong        = "Lore from there, and what was made of it, goes at the same time."
	privacySummaries = "When a conversation is over I keep a summary of it, which goes with any message that it is from."
	privacyFoot      = "You can see what I keep about you with %s, get it as a file with %s, have it all forgotten with %s or a single message with “Forget this” in its menu, and have me keep nothing of yours with %s."
	privacyReach     = "What I forget is out of my own files for good, but not out of backups that whoever runs me has made, nor out of what these servers may have kept, nor out of Discord."
)

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

// retainedText says on one line how long messages are remembered in a channel, and where that was decided.
func retainedText(l locale.Locale, g *memory.Guild, id memory.ChannelID, most time.Duration) string {
	where := channelMention(l, id)
	if g.ID == memory.DirectGuild {
		where = l.Text("direct messages")
	}
	keep, at, set := g.Retention(id, most)
	switch {
	case !set && keep <= 0:
		return l.Text("What is said in %s is remembered until it is deleted.", where)
	case !set:
		return l.Text("What is said in %s is remembered %s.", where, retentionText(l, keep))
	case at == 0:
		return l.Text("What is said in %s is remembered %s, as was decided for the server.", where,
			retentionText(l, keep))
	}
	return l.Text("What is said in %s is remembered %s, as was decided for %s.", where, retentionText(l, keep),
		channelMention(l, at))
}

// policyText returns what is remembered of a guild.
func policyText(l locale.Locale, g *memory.Guild, p memory.Policy) string {
	heard := outcomeOf(l, choiceFor(g, p))
	switch {
	case asks(g, p):
		heard = l.Text("Nobody has decided yet what I may remember here, so I remember nothing.")
	case g.Choice == memory.Undecided && !p.Ask:
		heard = l.Text("By default, I remember what is said in all channels that I can read.")
	}
	chosen := decided(g, memory.Remember)
	never := decided(g, memory.Ignore)
	return markdown.Lines(heard,
		when(len(chosen) > 0, l.Text("Chosen by name: %s.", channelList(l, chosen))),
		when(len(never) > 0, l.Text("Never remembered: %s. I tell nobody what I kept from them before.",
			channelList(l, never))),
		when(!g.Learn.IsZero(), l.Text(
			"I learn about members from what they write, if they want it: `/hark learn` changes that.")),
		when(!p.AgeLimited, l.Text("-# Age-restricted channels are remembered only if they are chosen by name.")))
}

// choiceFor returns the choice for g as a whole. If that is to ignore or undecided, and channels were chosen by name,
// it is those.
func choiceFor(g *memory.Guild, p memory.Policy) memory.Choice {
	if (g.Choice == memory.Ignore || g.Choice == memory.Undecided && p.Ask) && len(decided(g, memory.Remember)) > 0 {
		return memory.RememberChosen
	}
	return g.Choice
}

// isAgeLimited reports whether a channel, or a thread's channel, is age-restricted.
func isAgeLimited(g *memory.Guild, id memory.ChannelID) bool {
	c := g.Channel(id)
	return c != nil && (c.AgeLimited || c.Kind.IsThread() && isAgeLimited(g, c.Parent))
}

// The buttons and menus by which a guild decides. Messages in Discord contain these ids, so they never change.
const (
	choosePublic   = "public"
	chooseChannels = "choose"
	chooseNothing  = "nothing"
	chosenChannels = "channels" // with the notice's channel and id, if there is one
	chosenNever    = "never"
)

const rememberPublic = "Remember all public channels"

// hosts lists hosts as code.
func hosts(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, "`"+strings.ReplaceAll(n, "`", "")+"`")
	}
	return strings.Join(all, ", ")
}

// channelMention returns a channel's mention; id 0 is the whole server.
func channelMention(l locale.Locale, id memory.ChannelID) string {
	if id == 0 {
		return l.Text("this server")
	}
	return fmt.Sprintf("<#%d>", id)
}

// asks reports whether the notice of g asks what may be remembered.
func asks(g *memory.Guild, p memory.Policy) bool {
	return p.Ask && choiceFor(g, p) == memory.Undecided
}

func channelList(l locale.Locale, ids []memory.ChannelID) string {
	var names []string
	for _, id := range ids[:min(len(ids), listedChannels)] {
		names = append(names, fmt.Sprintf("<#%d>", id))
	}
	if more := len(ids) - listedChannels; more > 0 {
		names = append(names, l.Text("and %s more", l.Number(more)))
	}
	return l.List(names)
}

// decided returns the channels with a choice of their own, by id.
func decided(g *memory.Guild, choice memory.Choice) []memory.ChannelID {
	var ids []memory.ChannelID
	for _, c := range g.Channels {
		if c.Choice == choice {
			ids = append(ids, c.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func outcomeOf(l locale.Locale, choice memory.Choice) string {
	switch choice {
	case memory.Remember:
		return l.Text("I remember what is said in all channels that I can read.")
	case memory.RememberPublic:
		return l.Text("I remember what is said in the channels that everybody here can read.")
	case memory.RememberChosen:
		return l.Text("I remember what is said in the channels that were chosen, and nothing else.")
	}
	return l.Text("I remember nothing of what is said here.")
}

// retentionText returns a time to keep something in words.
func retentionText(l locale.Locale, keep time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case keep <= 0:
		return l.Text("without a time limit")
	case keep%day == 0:
		return l.Count(int(keep/day), "for %s day", "for %s days")
	default:
		return l.Count(int((keep+time.Hour-1)/time.Hour), "for %s hour", "for %s hours")
	}
}

const listedChannels = 30
