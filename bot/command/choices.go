package command

import (
	"context"
	"slices"
	"strings"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/internal/answer"
	"hark/memory"
)

// formPersona is the form for a persona, with its channel.
const formPersona = "persona"

const errWholeServer locale.MessageKey = "The time zone is for the whole server. Please leave the channel out."

// wanted returns the setting that a command or the persona form names, its value (empty: none given) and its channel
// (0: the whole server).
func (x *interaction) wanted() (key memory.Setting, value string, at memory.ChannelID, err error) {
	key = memory.Setting(x.Option("setting"))
	value = x.Option("value")
	switch {
	case x.Type == discord.InteractionForm:
		key = memory.SettingPersona
		value = x.persona()
	case x.Data.Name == "model":
		key = memory.SettingModel
		value = x.Option("model")
	}
	if key.OfGuild() {
		if x.Option("channel") != "" {
			err = errWholeServer
		}
		return key, value, 0, err
	}
	at, err = x.channelID()
	return key, value, at, err
}

// set changes the wanted setting if a value is given, and shows it.
func (c *Commands) set(ctx context.Context, x *interaction) (response, error) {
	key, value, at, err := x.wanted()
	if err != nil {
		return response{}, err
	}
	p := &panel{interaction: x, at: at}
	if value != "" {
		if err := c.setIn(ctx, p, key, value); err != nil {
			return response{}, err
		}
	}
	others := slices.DeleteFunc(x.settingIn(key), func(id memory.ChannelID) bool { return id == at })
	return paragraphs(p.heading(), c.settingLine(p, key),
		when(key == memory.SettingTimezone,
			x.Text("It applies to the times in my answers, and to days such as “yesterday” in questions. Discord shows its own times in each reader's time zone.")),
		when(len(others) > 0, x.Text("-# Set for itself: %s", channelList(x.Locale, others)))), nil
}

// settingValues returns choices for the setting that a command names: first the default, since Discord shows the
// first of many. Values too long for Discord to offer can be typed.
func (c *Commands) settingValues(_ context.Context, x *interaction) ([]optionChoice, error) {
	key, _, _, _ := x.wanted() // the place doesn't matter
	values := c.listed(key)
	if key == memory.SettingTimezone && x.Typed() != "" {
		values = matching(answer.Zones(), func(zone string) string { return zone }, x.Typed())
	}
	choices := []optionChoice{{Name: answer.SettingDefault, Value: answer.SettingDefault}}
	for _, value := range values {
		label := c.menuLabel(x.Locale, key, value)
		if !strings.Contains(label, value) {
			label = value + " · " + label
		}
		if markdown.Units(value) <= longestLabel {
			choices = append(choices, optionChoice{Name: labelOf(label), Value: value})
		}
	}
	return choices, nil
}

// askPersona returns the form for a persona, if the command has no value for it.
func (c *Commands) askPersona(_ context.Context, x *interaction) (discord.Form, error) {
	key, value, at, err := x.wanted()
	switch {
	case err != nil:
		return discord.Form{}, err
	case key != memory.SettingPersona || value != "":
		return discord.Form{}, nil
	}
	return x.personaForm(ID(formPersona, at), at)
}
