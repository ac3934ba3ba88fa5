package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/bot/markdown"
	"hark/internal/text"
	"hark/memory"
)

// aboutCommand is in the menu of a person.
const aboutCommand = "What do you know about me?"

const (
	// shownChannels and shownLore are how many channels and pieces of lore are shown.
	shownChannels, shownLore = 20, 25

	aboutOthers = "This works only for yourself: I show what I keep about somebody only to them. <@%d> can see it with `/memory show`.\n" +
		"To ask what was said where everybody here can read it, mention me with your question."
	aboutHark = "That's me. I'm a bot that remembers what is said where I may. `/help` shows what I can do, and `/privacy` what I keep."
	showFoot  = "-# `/memory add`, `/memory edit` and `/memory remove` change what I was told, `/memory export` gives you all of it as a file, `/memory forget` has me forget it all, and `/memory optout` has me keep nothing of yours any more. `/privacy` says how I keep it."
)

// about shows users who chose themselves all that is kept about them.
func (c *Commands) about(ctx context.Context, x *interaction) (response, error) {
	switch target := memory.UserID(x.Data.Target); target {
	case x.who():
		return c.asMember(c.showMember)(ctx, x)
	case c.Self:
		return response{Content: x.Text(aboutHark)}, nil
	default:
		return response{Content: x.Text(aboutOthers, target)}, nil
	}
}

// showMember shows all that is kept about the user.
func (c *Commands) showMember(ctx context.Context, x *interaction, m member) (response, error) {
	if err := c.Settled(ctx, x.guild()); err != nil {
		return response{}, err
	}
	shown := []string{x.Text(youAreOut)}
	foot := ""
	if !m.out {
		names := namesOf(m.person)
		shown = []string{x.Text("**What I keep about you here**"),
			when(names != "", x.Text("Names: %s", names))}
		foot = x.Text(showFoot)
		for _, part := range []func(context.Context, *interaction, member) (string, error){
			c.showWritten, c.showFacts, c.showOwnLore, c.showUses, c.showConnection,
			c.showState} {
			text, err := part(ctx, x, m)
			if err != nil {
				return response{}, err
			}
			shown = append(shown, text)
		}
	}
	receipts, err := c.Memory.Forgettings(ctx, x.guild(), x.who())
	if err != nil {
		return response{}, err
	}
	for _, r := range receipts {
		shown = append(shown, forgottenText(x.Locale, r))
	}
	return paragraphs(append(shown, foot)...), nil
}

// namesOf lists a person's names from Discord, each once.
func namesOf(p memory.Person) string {
	var names []string
	for _, n := range []string{p.Nick, p.Name, p.Username} {
		n = markdown.Plain(n, 100)
		if n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// showWritten says how much the user wrote, where and when. Of channels that they can't read it only counts.
func (c *Commands) showWritten(ctx context.Context, x *interaction, _ member) (string, error) {
	type wrote struct {
		channel           memory.ChannelID
		messages, starred int
		first, last       memory.MessageID
	}
	readable := c.readable(ctx, x)
	var seen []wrote
	messages := 0
	hidden := 0
	err := c.Memory.MessagesBy(ctx, x.guild(), x.who(), func(m memory.Message) error {
		if !slices.Contains(readable, m.Channel) {
			hidden++
			return ctx.Err()
		}
		if len(seen) == 0 || seen[len(seen)-1].channel != m.Channel {
			seen = append(seen, wrote{channel: m.Channel, first: m.ID})
		}
		w := &seen[len(seen)-1]
		messages++
		w.messages++
		w.last = m.ID
		if m.Starred {
			w.starred++
		}
		return ctx.Err()
	})
	if err != nil {
		return "", err
	}
	sum := x.Text("Messages, in channels that you can read: none")
	if len(seen) > 0 {
		sum = x.Text("Messages, in channels that you can read: %s", x.Locale.Number(messages))
	}
	var shown []string
	for _, w := range seen[:min(len(seen), shownChannels)] {
		line := x.Text("- <#%d>: %s, from <t:%d:f> to <t:%d:f>", w.channel, x.Locale.Number(w.messages),
			w.first.Time().Unix(), w.last.Time().Unix())
		shown = append(shown, line+when(w.starred > 0, x.Text(", %s marked with ⭐", x.Locale.Number(w.starred))))
	}
	more := max(0, len(seen)-shownChannels)
	return markdown.Lines(sum, markdown.Lines(shown...),
		when(more > 0, x.Count(more, "- and %s channel more", "- and %s channels more")),
		when(hidden > 0, x.Count(hidden,
			"And %s message in channels that you can't read, or not from here. `/memory export` has it.",
			"And %s messages in channels that you can't read, or not from here. `/memory export` has them."))), nil
}

// showFacts shows the facts about the user, and from whom or what. It names no channel that they can't read.
func (c *Commands) showFacts(ctx context.Context, x *interaction, m member) (string, error) {
	if len(m.person.Facts) == 0 {
		return x.Text("I was told nothing about you."), nil
	}
	shown := []string{x.Text("**What I was told about you**")}
	readable := c.readable(ctx, x)
	for _, f := range m.person.Facts {
		said := markdown.AsSaid(f.Text, longestFact)
		if f.Alias {
			said = x.Text("also called %s", said)
		}
		from := x.toldBy(f.By)
		if url := markdown.JumpURL(x.guild(), f.Channel, f.Message); f.Message != 0 && url != "" &&
			(f.Channel == memory.ChannelID(x.Channel) || slices.Contains(readable, f.Channel)) {
			from = x.Text("([learned from this](<%s>))", url)
		}
		shown = append(shown, "- "+said+" "+from+"\n  -# "+x.whoIsTold(f, readable))
	}
	return markdown.Lines(shown...), nil
}

func (x *interaction) toldBy(by memory.UserID) string {
	if by == x.who() {
		return x.Text("(told by you)")
	}
	return x.Text("(told by <@%d>)", by)
}

// showOwnLore shows the lore that the user told or that names them, as far as they may read it.
func (c *Commands) showOwnLore(ctx context.Context, x *interaction, m member) (string, error) {
	if x.Guild == 0 {
		return "", nil
	}
	all, err := c.lore(ctx, x)
	all = slices.DeleteFunc(slices.Clone(all), func(l memory.Lore) bool {
		return l.By != x.who() && !isAbout(l, m.person)
	})
	if err != nil || len(all) == 0 {
		return "", err
	}
	shown := []string{x.Text("**Lore that you told, or that names you**")}
	for _, l := range all[:min(len(all), shownLore)] {
		shown = append(shown, strings.TrimSpace(fmt.Sprintf("- **%s**: %s %s",
			markdown.Plain(l.Name, memory.MaxLoreName), markdown.AsSaid(l.Text, loreGist), when(l.By != 0,
				x.toldBy(l.By)))))
	}
	more := max(0, len(all)-shownLore)
	return markdown.Lines(markdown.Lines(shown...), when(more > 0, x.Count(more, "- and %s more; `/lore list` has it",
		"- and %s more; `/lore list` has them"))), nil
}

// isAbout reports whether lore mentions a person, or contains one of their names as words.
func isAbout(l memory.Lore, p memory.Person) bool {
	said := strings.Join(append([]string{l.Name, l.Text}, l.Own...), "\n")
	if p.ID != 0 && (strings.Contains(said, fmt.Sprintf("<@%d>", p.ID)) ||
		strings.Contains(said, fmt.Sprintf("<@!%d>", p.ID))) {
		return true
	}
	words := " " + strings.Join(text.Words(said), " ") + " "
	return slices.ContainsFunc(append([]string{p.Nick, p.Name, p.Username}, p.Aliases()...), func(name string) bool {
		named := strings.Join(text.Words(name), " ")
		return named != "" && strings.Contains(words, " "+named+" ")
	})
}

// showUses counts what was made from the user's messages and questions.
func (c *Commands) showUses(ctx context.Context, x *interaction, _ member) (string, error) {
	e, err := c.Memory.DryRun(ctx,
		memory.DryRunQuery{Forgetting: memory.Forgetting{
			Guild: x.guild(),
			User:  x.who(),
			At:    c.at(x),
		}})
	if err != nil {
		return "", err
	}
	asked, err := c.Memory.Traces(ctx, memory.TraceQuery{Guilds: []memory.GuildID{x.guild()}, Asker: x.who()})
	if err != nil {
		return "", err
	}
	calls, err := c.Memory.Records(ctx, memory.RecordQuery{Channels: channelIDs(x.server), Asker: x.who()})
	if err != nil {
		return "", err
	}
	spent, err := c.Memory.Spending(ctx, x.guild(), c.Now())
	tokens := spent[x.who()]
	chose := len(x.server.ChosenBy(x.who()))
	return markdown.Lines(x.Text("**In numbers**"),
		"- "+x.Count(e.Answers, "%s answer of mine is to you, or used what you wrote or what I was told about you",
			"%s answers of mine are to you, or used what you wrote or what I was told about you"),
		"- "+x.Count(len(asked), "for %s answer to you, I keep how it came about",
			"for %s answers to you, I keep how they came about"),
		"- "+x.Count(e.Summaries, "%s summary is from what you wrote", "%s summaries are from what you wrote"),
		"- "+x.Count(len(calls), "%s record of a call for you", "%s records of calls for you"),
		when(tokens > 0, "- "+x.Text("Tokens that your questions used today: %s, kept until the day after tomorrow; `/limits` shows what is left", x.Locale.Number(tokens))),
		when(chose > 0, "- "+x.Count(chose, "%s setting of this server that you chose", "%s settings of this server that you chose"))), err
}

// showState says what the user has decided about themselves, and how long it all is kept.
func (c *Commands) showState(_ context.Context, x *interaction, m member) (string, error) {
	learns := ""
	kept := c.retainedHere(x)
	switch {
	case x.Guild == 0: // where nothing is learned
	case m.person.Learn.IsZero():
		learns = x.Text("I don't learn about you from what you write: it isn't switched on. `/memory learn` changes that.")
	case x.server.Learn.IsZero():
		learns = x.Text(learnNotYet)
	default:
		learns = x.Text("I learn about you from what you write here, since <t:%d:f>. `/memory learn` changes that.", later(x.server.Learn, m.person.Learn).Unix())
	}
	return markdown.Lines(x.Text("**What holds for you**"), "- "+x.Text("You haven't opted out."),
		when(learns != "", "- "+learns),
		when(kept != "", "- "+kept)), nil
}
