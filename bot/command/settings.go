package command

import (
	"context"
	"slices"

	"hark/bot/discord"
	"hark/bot/reply"
	"hark/memory"
)

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
		chose.Guild = x.guild()
		chose.By = x.who()
		chose.At = c.Now()
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

// panel is what /hark settings shows: the settings of a channel, with components that change them.
type panel struct {
	*interaction
	at   memory.ChannelID // 0: the whole server
	key  memory.Setting   // chosen to be changed; empty: none
	note string           // the result of the last change
}

// setIn sets a key for the panel's channel to a value as the user gave it.
func (c *Commands) setIn(ctx context.Context, p *panel, key memory.Setting, value string) error {
	value, err := c.check(p.interaction, key, value)
	if err == nil {
		err = c.setAt(ctx, p.interaction, p.at, key, value)
	}
	err = p.after(err)
	if key == memory.SettingMedia {
		p.note = "✓ " + p.Text("Done. It applies to what is posted from now on.")
	}
	return err
}

// decidedAlone names the channels with a setting of their own; "" if there are none.
func (x *interaction) decidedAlone(key memory.Setting) string {
	if own := x.settingIn(key); len(own) > 0 {
		return x.Text("-# With a setting of their own: %s", channelList(x.Locale, own))
	}
	return ""
}

// after notes on the panel that a change was made, and returns err.
func (p *panel) after(err error) error {
	p.note = "✓ " + p.Text("Done. It applies from the next question on.")
	return err
}

// settingIn returns the channels with a setting of their own that the user of x may read.
func (x *interaction) settingIn(key memory.Setting) (own []memory.ChannelID) {
	for _, c := range x.visibleGuild().Channels {
		if c.Settings[key] != "" {
			own = append(own, c.ID)
		}
	}
	return own
}
