package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/internal/answer"
	"hark/memory"
)

// formPersona is the form in which a persona is written, with the channel that it is for.
const formPersona = "persona"

// addChoices adds the commands by which those who manage a server set how questions are answered.
func (c *commands) addChoices() {
	c.tools["hark set"] = tool{refuse: managesNot, opens: c.askPersona, do: c.set, completes: c.settingValues}
	c.tools["model"] = tool{refuse: managesNot, do: c.set, completes: c.settingValues}
	c.tools["form "+formPersona] = tool{refuse: managesNot, do: c.setPersona}
}

// setOptions are those of /hark set.
func setOptions() []option {
	setting := option{Type: optionText, Name: "setting", Description: "What to set", Required: true}
	for _, key := range append(slices.Clone(panelKeys), memory.SettingPersona) {
		setting.Choices = append(setting.Choices, optionChoice{locale{}.keyName(key), string(key)})
	}
	return append([]option{setting, {
		Type: optionText, Name: "value", Description: "The value, or default (left out: shows what holds, or asks for a persona in a form)",
		MaxLength: answer.MaxPersona, Autocomplete: true,
	}}, whereOptions()...)
}

// modelOptions are those of /model.
func modelOptions() []option {
	return append([]option{{Type: optionText, Name: "model", Description: "The model (left out: shows what holds)", Autocomplete: true}}, whereOptions()...)
}

// whereOptions say for what a setting is.
func whereOptions() []option {
	return []option{
		{Type: optionChannel, Name: "channel", Description: "For which channel (left out: this one)", ChannelTypes: answerable},
		{Type: optionSwitch, Name: "server", Description: "For the whole server, where a channel has nothing of its own"},
	}
}

// answerable are the types of channel that Hark answers in, or in whose posts, of those that options know.
var answerable = []int{0, 2, 5, 10, 11, 12, 13, 15}

// place is the channel that a setting is for; 0 for the whole server.
func (x *exchange) place() (memory.ChannelID, error) {
	given := x.option("channel")
	if whole, _ := x.given("server").(bool); whole {
		if given != "" {
			return 0, errBothPlaces
		}
		return 0, nil
	}
	if given == "" {
		return memory.ChannelID(x.Channel), nil
	}
	id, err := strconv.ParseInt(given, 10, 64)
	if err != nil {
		return 0, errUnknownChannel
	}
	return memory.ChannelID(id), nil
}

const errBothPlaces phrase = "A setting is for one channel or for the whole server, not for both. Please leave one of them out."

const errWholeServer phrase = "The time zone is for the whole server. Please leave the channel out."

// wanted is the setting that a command names, the value for it (empty: none is given), and for what place.
func (x *exchange) wanted() (key memory.Setting, value string, at memory.ChannelID, err error) {
	key, value = memory.Setting(x.option("setting")), x.option("value")
	if x.Data.Name == "model" {
		key, value = memory.SettingModel, x.option("model")
	}
	if key.OfGuild() {
		if x.option("channel") != "" {
			err = errWholeServer
		}
		return key, value, 0, err
	}
	at, err = x.place()
	return key, value, at, err
}

// set sets what a command names, or shows it where no value is given.
func (c *commands) set(ctx context.Context, x *exchange) (sheet, error) {
	key, value, at, err := x.wanted()
	if err != nil {
		return sheet{}, err
	}
	return c.setOrShow(ctx, x, at, key, value)
}

// setOrShow sets a key unless the value is empty, and shows what holds then.
func (c *commands) setOrShow(ctx context.Context, x *exchange, at memory.ChannelID, key memory.Setting, value string) (sheet, error) {
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil {
		return sheet{}, err
	}
	p := &panel{locale: x.locale, guild: g, at: at}
	if value != "" {
		value, err := c.bot.cfg.Choices.Check(key, value)
		if err != nil {
			return sheet{}, refusal(x.text("I can't do that: %s.", x.complaint(err)))
		}
		if err := c.setIn(ctx, x, p, key, value); err != nil {
			return sheet{}, err
		}
	}
	shown := append(p.heading(), c.settingLine(p, key))
	if key == memory.SettingTimezone {
		shown = append(shown, x.text("That is the zone of the times in my answers, and of days such as “yesterday” in questions. Times that Discord shows are in everybody's own."))
	}
	if others := elsewhere(x.locale, x.seen(p.guild, c.bot.cfg.Policy), at, key); others != "" {
		shown = append(shown, others)
	}
	return sheet{Content: strings.Join(shown, "\n")}, nil
}

// elsewhere lists the other channels in which a key is set; "" if there are none.
func elsewhere(l locale, g *memory.Guild, at memory.ChannelID, key memory.Setting) string {
	var others []memory.ChannelID
	for _, other := range g.Channels {
		if other.ID != at && other.Settings[key] != "" {
			others = append(others, other.ID)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return l.text("-# Set for itself: %s", channelList(l, others))
}

// settingValues are the values to choose from for the setting that a command names, behind the way back: Discord shows the first of
// many. A value that is too long for Discord to offer can be typed.
func (c *commands) settingValues(_ context.Context, x *exchange) ([]optionChoice, error) {
	key, _, _, _ := x.wanted() // the place doesn't matter
	values := c.listed(key)
	if key == memory.SettingTimezone && x.typed() != "" {
		values = matching(answer.Zones(), func(zone string) string { return zone }, x.typed())
	}
	choices := []optionChoice{{answer.SettingDefault, answer.SettingDefault}}
	for _, value := range values {
		label := c.menuLabel(x.locale, key, value)
		if !strings.Contains(label, value) {
			label = value + " · " + label
		}
		if units(value) <= longestLabel {
			choices = append(choices, optionChoice{labelOf(label), value})
		}
	}
	return choices, nil
}

// askPersona is the form for a persona, with that of the place, where none is given.
func (c *commands) askPersona(ctx context.Context, x *exchange) (form, error) {
	key, value, at, err := x.wanted()
	switch {
	case err != nil:
		return form{}, err
	case key != memory.SettingPersona || value != "":
		return form{}, errNoForm
	}
	return c.personaForm(ctx, x, formPersona, at)
}

// personaForm is the form of that name for a persona, with that of a place.
func (c *commands) personaForm(ctx context.Context, x *exchange, name string, at memory.ChannelID) (form, error) {
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil {
		return form{}, err
	}
	persona, _ := g.Setting(at, memory.SettingPersona)
	return form{ID: fmt.Sprintf("%s:%d", name, at), Title: x.text("Who I am there"), Fields: []field{
		{ID: "text", Label: x.text("Who I am, and how I speak"), Value: persona, Long: true, Needed: true, Most: answer.MaxPersona},
	}}, nil
}

// setPersona sets what was written in the form.
func (c *commands) setPersona(ctx context.Context, x *exchange) (sheet, error) {
	at, err := x.formPlace()
	if err != nil {
		return sheet{}, err
	}
	return c.setOrShow(ctx, x, at, memory.SettingPersona, x.persona())
}

// persona is what was written in the form for it.
func (x *exchange) persona() string {
	text := x.field("text")
	if strings.TrimSpace(text) == answer.SettingDefault { // which would take it back
		text = answer.SettingDefault + "."
	}
	return text
}

// formPlace is the channel in a form's id.
func (x *exchange) formPlace() (memory.ChannelID, error) {
	args := x.args()
	if len(args) != 1 {
		return 0, errors.New("a form came back without its place")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return 0, errUnknownChannel
	}
	return memory.ChannelID(id), nil
}
