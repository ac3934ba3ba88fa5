package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

// formPersona is the form in which a persona is written, with the channel that it is for.
const formPersona = "persona"

// modeMeans is what it means that a mode holds.
func modeMeans(l locale, mode string) string {
	switch mode {
	case answer.ModeInferred:
		return l.text("auto: I tell by each question what kind of work it asks for")
	case string(builder.ModeGeneral):
		return l.text("general: I take every question for talk, and answer briefly")
	case string(builder.ModeCreation):
		return l.text("creation: I take every question as a wish for something new, such as a text, a plan or code")
	case string(builder.ModeSearch):
		return l.text("search: I take every question as one about what was said before, and say first what, who and when")
	case string(builder.ModeModification):
		return l.text("modification: I take every question as a wish to change something that is there, and give back all of it")
	case string(builder.ModeAnalysis):
		return l.text("analysis: I take every question as one to explain, compare, judge or sum up")
	}
	return plain(mode, 100)
}

// addChoices adds the commands by which those who manage a server set how questions are answered.
func (c *commands) addChoices() {
	for path, key := range map[string]memory.Setting{
		"model": memory.SettingModel, "hark temperature": memory.SettingTemperature, "hark tools": memory.SettingTools,
		"hark language": memory.SettingLanguage, "hark mode": memory.SettingMode,
	} {
		c.tools[path] = tool{refuse: managesNot, do: c.setting(key)}
	}
	model := c.tools["model"]
	model.completes = c.modelNames
	c.tools["model"] = model
	c.tools["hark persona show"] = tool{refuse: managesNot, do: c.setting(memory.SettingPersona)}
	c.tools["hark persona set"] = tool{refuse: managesNot, opens: c.askPersona}
	c.tools["hark persona reset"] = tool{refuse: managesNot, do: c.resetPersona}
	c.tools["form "+formPersona] = tool{refuse: managesNot, do: c.setPersona}
}

// settable are the options of a command that sets a key.
func settable(key memory.Setting, means string) []option {
	value := option{Type: optionText, Name: string(key), Description: means + " (left out: shows what holds)"}
	for _, v := range (answer.Choices{}).Values(key) {
		value.Choices = append(value.Choices, optionChoice{v, v})
	}
	switch {
	case len(value.Choices) > 0:
		value.Choices = append(value.Choices, optionChoice{answer.SettingDefault, answer.SettingDefault})
	case key == memory.SettingModel:
		value.Autocomplete = true
	}
	return append([]option{value}, whereOptions()...)
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

// setting sets a key, or shows it where no value is given.
func (c *commands) setting(key memory.Setting) func(context.Context, *exchange) (sheet, error) {
	return func(ctx context.Context, x *exchange) (sheet, error) {
		at, err := x.place()
		if err != nil {
			return sheet{}, err
		}
		if value := x.option(string(key)); value != "" {
			return c.set(ctx, x, at, key, value)
		}
		g, err := c.bot.admit.guild(ctx, x.guild())
		return paged(c.holding(x, g, at, key)), err
	}
}

// set sets a key and shows what holds then.
func (c *commands) set(ctx context.Context, x *exchange, at memory.ChannelID, key memory.Setting, value string) (sheet, error) {
	value, err := c.bot.cfg.Choices.Check(key, value)
	if err != nil {
		return sheet{Content: x.text("I can't do that: %s.", x.complaint(err))}, nil
	}
	e := memory.SettingChosen{Guild: x.guild(), Channel: at, Key: key, Value: value, At: c.bot.now()}
	if err := c.bot.memory.Apply(ctx, e); err != nil {
		return sheet{}, fmt.Errorf("keep the %s of channel %d: %w", key, at, err)
	}
	g, err := c.bot.admit.guild(ctx, x.guild())
	if err != nil {
		return sheet{}, err
	}
	lines := c.holding(x, g, at, key)
	lines[0] = x.text("Done. %s", lines[0])
	return paged(lines), nil
}

// holding says what holds at a place, and why.
func (c *commands) holding(x *exchange, g *memory.Guild, at memory.ChannelID, keys ...memory.Setting) []string {
	l, holds := x.locale, c.bot.cfg.Choices.In(g, at)
	lines := []string{l.text("In <#%d>, and in its threads where nothing else is set:", at)}
	if at == 0 {
		lines[0] = l.text("In this server, where a channel has nothing of its own:")
	}
	for _, key := range keys {
		value, from := g.Setting(at, key)
		why := l.text("as I was set up")
		switch {
		case value == "" || holds.Value(key) != value: // or only a newer Hark knows it
		case from == 0:
			why = l.text("set for the server")
		case from == at:
			why = l.text("set for this channel")
		default:
			why = l.text("set for <#%d>", from)
		}
		if missing := value != "" && key == memory.SettingModel && !slices.Contains(c.bot.cfg.Choices.Models, value); missing {
			if own := plain(c.bot.cfg.Choices.Default.Model, 100); own != "" {
				why = l.text("%s, but I don't have it any more, so %s answers", why, own)
			} else {
				why = l.text("%s, but I don't have it any more, so none answers", why)
			}
		}
		lines = append(lines, fmt.Sprintf("**%s**: %s (%s)", key, means(l, key, holds.Value(key)), why))
		if key == memory.SettingPersona && holds.Persona != "" {
			lines = append(lines, "> "+strings.ReplaceAll(holds.Persona, "\n", "\n> "))
		}
	}
	if others := elsewhere(l, x.seen(g, c.bot.cfg.Policy), at, keys); others != "" {
		lines = append(lines, others)
	}
	return lines
}

// means says what a value means.
func means(l locale, key memory.Setting, value string) string {
	switch {
	case key == memory.SettingMode:
		return modeMeans(l, value)
	case key == memory.SettingPersona && value == "":
		return l.text("my own")
	case key == memory.SettingPersona:
		return l.text("what stands below")
	case key == memory.SettingTemperature && value == "":
		return l.text("as the model's server likes")
	case key == memory.SettingModel && value == "":
		return l.text("none, so I quote what was said")
	}
	return plain(value, 100)
}

// elsewhere lists the other channels in which keys are set; "" if there are none.
func elsewhere(l locale, g *memory.Guild, at memory.ChannelID, keys []memory.Setting) string {
	var others []memory.ChannelID
	for _, other := range g.Channels {
		if other.ID != at && slices.ContainsFunc(keys, func(key memory.Setting) bool { return other.Settings[key] != "" }) {
			others = append(others, other.ID)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return l.text("-# Set for itself: %s", channelList(l, others))
}

// modelNames are the models to choose from, behind the way back: Discord shows the first of many. A name that is too long for Discord to
// offer can be typed.
func (c *commands) modelNames(context.Context, *exchange) ([]optionChoice, error) {
	var names []optionChoice
	for _, name := range append([]string{answer.SettingDefault}, c.bot.cfg.Choices.Models...) {
		if units(name) <= longestLabel {
			names = append(names, optionChoice{name, name})
		}
	}
	return names, nil
}

// askPersona is the form for a persona, with that of the place.
func (c *commands) askPersona(ctx context.Context, x *exchange) (form, error) {
	at, err := x.place()
	if err != nil {
		return form{}, err
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
	return c.set(ctx, x, at, memory.SettingPersona, x.persona())
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

// resetPersona takes back the persona of a place.
func (c *commands) resetPersona(ctx context.Context, x *exchange) (sheet, error) {
	at, err := x.place()
	if err != nil {
		return sheet{}, err
	}
	return c.set(ctx, x, at, memory.SettingPersona, answer.SettingDefault)
}
