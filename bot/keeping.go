package bot

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hark/memory"
)

// addKeeping adds the commands by which those who manage a server decide what is kept of it, and take it out.
func (c *commands) addKeeping() {
	for path, do := range map[string]func(context.Context, *exchange) (sheet, error){
		"hark channel log": c.logChannel, "hark channel ignore": c.ignoreChannel, "hark channel answer": c.answerChannel,
		"hark retention": c.retention, "hark purge member": c.askMember, "hark purge channel": c.askChannel, "hark purge before": c.askBefore,
		"hark export": c.exportServer,
	} {
		c.tools[path] = tool{refuse: managesNot, do: do}
	}
	c.tools["hark backfill"] = tool{refuse: managesNot, do: c.backfill, endless: true}
	c.tools["component "+stopsBackfill] = tool{refuse: managesNot, updates: true, do: c.stopBackfill}
	c.tools["component "+keepsFor] = tool{refuse: managesNot, updates: true, do: c.keep}
	c.tools["component "+expires] = tool{refuse: managesNot, updates: true, do: c.agreeToExpiring}
	c.tools["component "+asksPurge] = tool{refuse: managesNot, do: c.askPurge}
	c.tools["component "+purges] = tool{refuse: managesNot, updates: true, endless: true, do: c.purge}
}

// keepingOptions are the subcommands of /hark for it.
func keepingOptions() []option {
	here := option{Type: optionChannel, Name: "channel", Description: "Which channel (left out: this one)", ChannelTypes: answerable}
	whole := option{Type: optionSwitch, Name: "server", Description: "For the whole server, where a channel has nothing of its own"}
	placed := here
	placed.ChannelTypes = append([]int{4}, answerable...)
	when := func(name, description string) option {
		return option{Type: optionText, Name: name, Description: description, MaxLength: longestMoment}
	}
	only := here
	only.Description = "Only this channel, with its threads"
	return []option{
		{Type: optionGroup, Name: "channel", Description: "What I do in a channel", Options: []option{
			sub("log", "Has me remember what is said in a channel or a category", placed),
			sub("ignore", "Keeps me from remembering what is said in a channel or a category", placed),
			sub("answer", "Decides whether I answer in a channel when I'm mentioned (with nothing given: shows it)",
				option{Type: optionText, Name: "answer", Description: "Whether I answer", Choices: []optionChoice{{answersOn, answersOn}, {answersOff, answersOff}, {answersDefault, answersDefault}}},
				here, whole),
		}},
		sub("retention", "Shows or decides how long I remember what is said",
			option{Type: optionText, Name: "keep", Description: "Days such as 90d, forever, or default", MaxLength: longestMoment}, here, whole),
		sub("backfill", "Fetches what was said in a channel before I listened there, or shows how far that is", here,
			when("since", "Only from this day on, such as 2024-05-31, or not longer ago than this, such as 90d")),
		{Type: optionGroup, Name: "purge", Description: "Has me forget for good", Options: []option{
			sub("member", "Has me forget all that somebody wrote in this server, and what I know of them",
				option{Type: optionUser, Name: "member", Description: "Who wrote it", Required: true}),
			sub("channel", "Has me forget all that was said in a channel", here),
			sub("before", "Has me forget all that was said before a day", textOption("before", "A day, such as 2024-05-31, or how long ago, such as 90d", longestMoment), only),
		}},
		sub("export", "Gives you what I remember of this server, where you can read it, as a file", only,
			when("since", "Only from this day on, such as 2024-05-31, or not longer ago than this, such as 90d"),
			when("before", "Only from before this day, or from longer ago than this")),
	}
}

// longestMoment is how long a time may be, as it is written.
const longestMoment = 20

// place is the channel that a command is for: the one given, or the one that it is used in; zero if that is the whole server.
func (c *commands) place(ctx context.Context, x *exchange) (*memory.Guild, memory.Channel, error) {
	id, err := x.place()
	if err != nil {
		return nil, memory.Channel{}, err
	}
	return c.placed(ctx, x, id)
}

// placed is a channel of the guild of an exchange by its id, as it is known; none if the id is 0.
func (c *commands) placed(ctx context.Context, x *exchange, id memory.ChannelID) (*memory.Guild, memory.Channel, error) {
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil || id == 0 {
		return g, memory.Channel{}, err
	}
	for _, at := range g.Channels {
		if at.ID == id {
			return g, at, nil
		}
	}
	return nil, memory.Channel{}, errUnknownChannel
}

// channelIn is a channel's id in a button's id; 0 for the whole server.
func channelIn(arg string) (memory.ChannelID, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 0 {
		return 0, errUnknownChannel
	}
	return memory.ChannelID(id), nil
}

// mention is how a channel is named; with the id 0 it is the whole server.
func (l locale) mention(id memory.ChannelID) string {
	if id == 0 {
		return l.text("this server")
	}
	return fmt.Sprintf("<#%d>", id)
}

// paragraphs are lines of which those are left out that say nothing.
func paragraphs(texts ...string) sheet { return paged(strings.Split(lines(texts...), "\n")) }
