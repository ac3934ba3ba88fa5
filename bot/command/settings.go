package command

import (
	"context"
	"fmt"
	"slices"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/bot/reply"
	"hark/memory"
)

// The buttons and menus by which a guild decides. Messages in Discord contain these ids, so they never change.
const (
	choosePublic   = "public"
	chooseChannels = "choose"
	chooseNothing  = "nothing"
	chosenChannels = "channels" // with the notice's channel and id, if there is one
	chosenNever    = "never"
)

const rememberPublic = "Remember all public channels"

// showSettings shows what is remembered, with components that change it.
func (c *Commands) showSettings(_ context.Context, x *interaction) (response, error) {
	g := x.visibleGuild()
	return response{
		Content: policyText(x.Locale, g, x.policy),
		Components: []discord.Component{
			discord.Row(discord.Button(discord.StyleGreen, x.Text(rememberPublic), choosePublic),
				discord.Button(discord.StyleGrey, x.Text("Remember nothing"), chooseNothing)),
			discord.Row(discord.ChannelMenu(chosenChannels, x.Text("Remember only these channels and categories"), 1,
				decided(g, memory.Remember))),
			discord.Row(discord.ChannelMenu(chosenNever, x.Text("Never remember these"), 0, decided(g, memory.Ignore))),
		},
	}, nil
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
	chosen, never := decided(g, memory.Remember), decided(g, memory.Ignore)
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

const listedChannels = 30

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

// decide returns an action that chooses for a whole guild.
func (c *Commands) decide(choice memory.Choice) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		choices := []memory.Chose{{Choice: choice}}
		if choice == memory.Ignore { // also channels chosen by name
			for _, id := range decided(x.server, memory.Remember) {
				choices = append(choices, memory.Chose{Channel: id})
			}
		}
		if x.Message == nil || !x.IsPublic() {
			if err := c.choose(ctx, x, choices...); err != nil {
				return response{}, err
			}
			return c.showSettings(ctx, x)
		}
		return c.chooseByNotice(ctx, x, noticeLocation{channel: memory.ChannelID(x.Channel),
			message: memory.MessageID(x.Message.ID)}, choices)
	}
}

// choose commits choices and reloads the guild of x.
func (c *Commands) choose(ctx context.Context, x *interaction, choices ...memory.Chose) error {
	events := make([]memory.Event, len(choices))
	for i, chose := range choices {
		chose.Guild, chose.By, chose.At = x.guild(), x.who(), c.Now()
		events[i] = chose
	}
	defer c.Filler.Nudge()
	return c.apply(ctx, x, "keep what is remembered", events...)
}

// chooseByNotice commits choices and returns the notice's new text.
func (c *Commands) chooseByNotice(ctx context.Context, x *interaction, at noticeLocation,
	choices []memory.Chose) (response, error) {
	return c.notices.decide(ctx, at, x.who(), func() (*memory.Guild, error) {
		err := c.choose(ctx, x, choices...)
		return x.server, err
	})
}

// askChannels asks which channels to remember.
func (c *Commands) askChannels(_ context.Context, x *interaction) (response, error) {
	name := chosenChannels
	if x.Message != nil {
		name = ID(name, x.Channel, x.Message.ID)
	}
	return response{
		Content: x.Text("Which channels may I remember? A category stands for all channels in it, a channel for its threads as well."),
		Components: []discord.Component{
			discord.Row(discord.ChannelMenu(name, x.Text("Remember these channels and categories"), 1,
				decided(x.visibleGuild(), memory.Remember))),
		},
	}, nil
}

// chooseChannels remembers the chosen channels and no others, and updates the notice that asked.
func (c *Commands) chooseChannels(ctx context.Context, x *interaction) (response, error) {
	choices, err := x.choices(memory.Remember)
	if err != nil {
		return response{}, err
	}
	choices = append(choices, memory.Chose{Choice: memory.RememberChosen})
	if at, is := noticeIn(x.Args()); is {
		shown, err := c.chooseByNotice(ctx, x, at, choices)
		if err != nil {
			return response{}, err
		}
		t := discord.Sender{Client: c.Client, Channel: at.channel}
		if err := c.notices.edit(ctx, &t, at.message, shown); err != nil {
			c.Log.Warn().Err(err).Int64("guild", int64(x.Guild)).Msg("couldn't say in the notice what was decided")
		}
	} else if err := c.choose(ctx, x, choices...); err != nil {
		return response{}, err
	}
	return c.showSettings(ctx, x)
}

// noticeIn returns the notice that a menu's id names, if it names one.
func noticeIn(args []string) (at noticeLocation, is bool) {
	n, ok := reply.Integers(args, 10)
	if !ok || len(n) != 2 {
		return at, false
	}
	return noticeLocation{channel: memory.ChannelID(n[0]), message: memory.MessageID(n[1])}, true
}

// never ignores the chosen channels, and no longer those that were ignored before.
func (c *Commands) never(ctx context.Context, x *interaction) (response, error) {
	choices, err := x.choices(memory.Ignore)
	if err != nil {
		return response{}, err
	}
	if err := c.choose(ctx, x, choices...); err != nil {
		return response{}, err
	}
	return c.showSettings(ctx, x)
}

// choices returns what gives exactly the channels chosen in a menu a choice.
func (x *interaction) choices(choice memory.Choice) (choices []memory.Chose, err error) {
	var ids []memory.ChannelID
	for _, v := range x.Data.Values {
		id, err := channelIn([]string{v})
		if err != nil || x.server.Channel(id) == nil {
			return nil, errUnknownChannel
		}
		ids = append(ids, id)
		choices = append(choices, memory.Chose{Channel: id, Choice: choice})
	}
	before := decided(x.visibleGuild(), choice)
	for _, id := range before[:min(len(before), discord.MenuLimit)] { // what the menu showed
		if !slices.Contains(ids, id) {
			choices = append(choices, memory.Chose{Channel: id})
		}
	}
	return choices, nil
}
