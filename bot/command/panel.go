package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hark/bot/discord"
	"hark/bot/locale"
	"hark/bot/markdown"
	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

// The buttons, menus and forms of /hark settings. Their ids have the channel, so that they work after a restart, then
// the chosen key and its value.
const (
	panelChannel = "panel-channel"
	panelServer  = "panel-server"
	panelKey     = "panel-key"
	panelSet     = "panel-set"
	panelPersona = "panel-persona"
	panelLimits  = "panel-limits"
	panelMemory  = "panel-memory"
)

const (
	staleChoice = "That can't be chosen any more. This is what there is now."
	lostChannel = "I don't know that channel any more, so this is the whole server."
)

// panelKeys can be chosen from the menu, in this order.
var panelKeys = []memory.Setting{memory.SettingModel, memory.SettingMode, memory.SettingLanguage,
	memory.SettingTools, memory.SettingTemperature, memory.SettingMedia, memory.SettingBots,
	memory.SettingTimezone, memory.SettingPrograms}

// shownPersona is how much of a persona the panel shows, in UTF-16 units.
const shownPersona = 200

func (c *Commands) openPanel(_ context.Context, x *interaction) (response, error) {
	at, err := x.channelID()
	if err != nil {
		return response{}, err
	}
	return c.show(&panel{interaction: x, at: at}), nil
}

// panelAfter returns an action that reads the panel from the id of x, calls do unless it is nil, and shows the panel.
func (c *Commands) panelAfter(do func(context.Context, *panel) error) action {
	return func(ctx context.Context, x *interaction) (response, error) {
		p := &panel{interaction: x}
		if args := x.Args(); len(args) > 0 && p.goTo(args[0]) && len(args) > 1 &&
			slices.Contains(panelKeys, memory.Setting(args[1])) {
			p.key = memory.Setting(args[1])
		}
		if p.note == "" && do != nil {
			if err := do(ctx, p); err != nil {
				return response{}, err
			}
		}
		return c.show(p), nil
	}
}

// goTo moves the panel to a channel, or notes that it is gone.
func (p *panel) goTo(id string) bool {
	at, err := channelIn([]string{id})
	known := p.server.Channel(at)
	if err != nil || at != 0 && at != memory.ChannelID(p.Channel) && (known == nil || known.Unplaced) {
		p.at = 0
		p.note = p.Text(lostChannel)
		return false
	}
	p.at = at
	return true
}

func (c *Commands) show(p *panel) response {
	rows := []discord.Component{c.placeRow(p), c.keyRow(p)}
	if p.key != "" {
		rows = append(rows, c.valueRow(p))
	}
	return response{Content: c.panelText(p), Components: append(rows, c.buttonRows(p)...)}
}

func (c *Commands) panelText(p *panel) string {
	shown := p.heading()
	for _, key := range append(memory.AnswerSettings(), memory.SettingMedia, memory.SettingBots) {
		shown = markdown.Lines(shown, c.settingLine(p, key))
	}
	each, all := c.Replies.Limits.Of(p.server, nil)
	return markdown.Lines(shown, "- "+strings.ReplaceAll(c.channelText(p.interaction, p.at), "\n", "\n- "),
		p.Text("For the whole server:"), c.settingLine(p, memory.SettingTimezone),
		c.settingLine(p, memory.SettingPrograms),
		"- "+c.pauseLine(p.Locale, p.server),
		"- "+p.Text("**Limits**: questions a minute: each member %s, all together %s; tokens a day: each member %s, all together %s", p.most(each.Messages), p.most(all.Messages), p.most(each.Tokens), p.most(all.Tokens)))
}

func (p *panel) heading() string {
	if p.at == 0 {
		return markdown.Lines(p.note,
			p.Text("**Settings of the whole server**, for channels without their own:"))
	}
	return markdown.Lines(p.note,
		p.Text("**Settings of <#%d>**, and of its threads without their own:", p.at))
}

// settingLine shows a key's value and where it was set.
func (c *Commands) settingLine(p *panel, key memory.Setting) string {
	if key == memory.SettingTimezone {
		zone := c.zone(p.server)
		return "- " + p.Text("**Time zone**: %s, where it is %s (%s)", zone,
			c.Now().In(zone).Format("2006-01-02 15:04"), c.setFor(p, 0, key))
	}
	at := p.at
	if key.OfGuild() {
		at = 0
	}
	return fmt.Sprintf("- **%s**: %s (%s)", keyName(p.interaction.Locale, key), c.valueText(p, key), c.setFor(p, at, key))
}

// most formats a limit in a few characters.
func (p *panel) most(n int) string {
	if n == memory.Unlimited {
		return "∞"
	}
	return p.Locale.Number(n)
}

// setFor says where the value of a key at a channel was set.
func (c *Commands) setFor(p *panel, at memory.ChannelID, key memory.Setting) string {
	switch value, set := p.server.Setting(at, key); {
	case value == "", c.Replies.Choices.In(p.server, at).Value(key) != value: // not valid any more
		return p.Text("by default")
	case set == 0:
		return p.Text("for the whole server")
	case set == at:
		return p.Text("for this channel")
	default:
		return p.Text("from <#%d>", set)
	}
}

var keyNames = map[memory.Setting]locale.MessageKey{
	memory.SettingModel: locale.MessageKey("Model"), memory.SettingPersona: locale.MessageKey("Persona"),
	memory.SettingTemperature: locale.MessageKey("Temperature"),
	memory.SettingTools:       locale.MessageKey("Tools"), memory.SettingMode: locale.MessageKey("Mode"),
	memory.SettingLanguage: locale.MessageKey("Language"),
	memory.SettingMedia:    locale.MessageKey("Voice and pictures"),
	memory.SettingBots:     locale.MessageKey("Bots and webhooks"),
	memory.SettingTimezone: locale.MessageKey("Time zone"),
	memory.SettingPrograms: locale.MessageKey("Members' programs"),
}

func keyName(l locale.Locale, key memory.Setting) string { return l.Keyed(keyNames[key]) }

// valueText describes a key's value for the panel.
func (c *Commands) valueText(p *panel, key memory.Setting) string {
	value := c.Replies.Choices.In(p.server, p.at).Value(key)
	switch {
	case key == memory.SettingModel && value == "":
		return p.Text("none: I quote what was said")
	case key == memory.SettingModel && !slices.Contains(c.Replies.Choices.Models, value):
		return p.Text("%s, which I don't have any more, so %s answers", markdown.Plain(value, 60),
			cmp.Or(markdown.Plain(c.Replies.Choices.Default.Model, 60), "—"))
	case key == memory.SettingPersona && value == "":
		return p.Text("my usual one")
	case key == memory.SettingPersona:
		return "“" + markdown.Plain(value, shownPersona) + "”"
	}
	return settingLabel(p.interaction.Locale, key, value)
}

// languageNames are the languages' own names.
var languageNames = map[string]string{"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español",
	"ja": "日本語", "zh-TW": "繁體中文"}

// settingLabel describes a key's value, escaped.
func settingLabel(l locale.Locale, key memory.Setting, value string) string {
	switch {
	case value == answer.SettingDefault:
		return l.Text("The default")
	case key == memory.SettingLanguage:
		return cmp.Or(languageNames[value], value)
	case key == memory.SettingTools && value == answer.SettingOn:
		return l.Text("I may look things up by myself")
	case key == memory.SettingTools && value == answer.SettingOff:
		return l.Text("I may not look things up by myself")
	case key == memory.SettingTools:
		return l.Text("I may look things up by myself, and with the tools of %s", markdown.Plain(value, longestLabel))
	case key == memory.SettingTemperature && value == "":
		return l.Text("what the model's server uses")
	case key == memory.SettingMedia:
		return l.Keyed(cmp.Or(mediaNames[value], locale.MessageKey("I make nothing of them")))
	case key == memory.SettingBots:
		return l.Keyed(cmp.Or(botNames[value], botNames[string(memory.BotsForgotten)]))
	case key == memory.SettingPrograms && value == answer.SettingOn:
		return l.Text("members may connect their own, with `/memory connect`")
	case key == memory.SettingPrograms:
		return l.Text("members can't connect any")
	case key == memory.SettingMode:
		return l.Keyed(cmp.Or(modeNames[value], locale.MessageKey("depends on the question (%s)")), value)
	}
	return markdown.Plain(value, longestLabel)
}

var mediaNames = map[string]locale.MessageKey{
	memory.MediaVoice:    locale.MessageKey("I write down what voice messages say"),
	memory.MediaPictures: locale.MessageKey("I describe pictures"),
	memory.MediaAll:      locale.MessageKey("I write down what voice messages say, and describe pictures"),
}

var botNames = map[string]locale.MessageKey{
	string(memory.BotsForgotten):  locale.MessageKey("forgotten"),
	string(memory.BotsRemembered): locale.MessageKey("remembered"),
	string(memory.BotsHeard):      locale.MessageKey("remembered, and webhooks may ask"),
}

var modeNames = map[string]locale.MessageKey{
	string(builder.ModeGeneral):      locale.MessageKey("talk, with brief answers (%s)"),
	string(builder.ModeCreation):     locale.MessageKey("making something new (%s)"),
	string(builder.ModeSearch):       locale.MessageKey("finding what was said (%s)"),
	string(builder.ModeModification): locale.MessageKey("changing what is there (%s)"),
	string(builder.ModeAnalysis):     locale.MessageKey("explaining and comparing (%s)"),
}

// temperatures are offered in the menu; others can be typed with /hark set.
var temperatures = []string{"0", "0.2", "0.4", "0.7", "1", "1.3", "1.6", "2"}

// listed returns a key's values: all, or the usual ones.
func (c *Commands) listed(key memory.Setting) []string {
	switch key {
	case memory.SettingTemperature:
		return slices.Clone(temperatures)
	case memory.SettingTimezone:
		return slices.Clone(usualZones)
	}
	return c.Replies.Choices.Values(key)
}

// values returns what the menu offers for the panel's key: its current value, others and the default.
func (c *Commands) values(p *panel) []string {
	all := slices.DeleteFunc(c.listed(p.key), func(v string) bool { return markdown.Units(v) > longestLabel })
	current := c.current(p)
	offered := all[:min(len(all), discord.MenuLimit-2)]
	if current != "" && markdown.Units(current) <= longestLabel && !slices.Contains(offered, current) &&
		(p.key != memory.SettingModel || slices.Contains(all, current)) {
		offered = append([]string{current}, offered...)
	}
	return append(slices.Clone(offered), answer.SettingDefault)
}

// current returns the value of the panel's key.
func (c *Commands) current(p *panel) string {
	if p.key == memory.SettingTimezone {
		return c.zone(p.server).String()
	}
	return c.Replies.Choices.In(p.server, p.at).Value(p.key)
}

func (c *Commands) placeRow(p *panel) discord.Component {
	var chosen []memory.ChannelID
	if p.at != 0 {
		chosen = []memory.ChannelID{p.at}
	}
	m := discord.ChannelMenu(ID(panelChannel, p.at, p.key), p.Text("Choose a channel"), 1, chosen)
	m.Max = 1
	m.ChannelTypes = answerable
	return discord.Row(m)
}

func (c *Commands) keyRow(p *panel) discord.Component {
	var options []discord.Choice
	for _, key := range panelKeys {
		options = append(options, discord.Choice{
			Label:   keyName(p.interaction.Locale, key),
			Value:   string(key),
			Default: key == p.key,
		})
	}
	return discord.Row(single(ID(panelKey, p.at), p.Text("Choose what to change"), options))
}

func (c *Commands) valueRow(p *panel) discord.Component {
	offered := c.values(p)
	placeholder := p.Text("%s: choose", keyName(p.interaction.Locale, p.key))
	switch {
	case p.key == memory.SettingTimezone:
		placeholder = p.Text("Choose a time zone; `/hark set` knows all of them")
	case p.key == memory.SettingModel && len(offered) <= len(c.Replies.Choices.Models):
		placeholder = p.Text("Choose a model; `/model` knows all of them")
	}
	var options []discord.Choice
	for _, value := range offered {
		options = append(options, discord.Choice{
			Label:   labelOf(c.menuLabel(p.Locale, p.key, value)),
			Value:   value,
			Default: value == c.current(p),
		})
	}
	return discord.Row(single(ID(panelSet, p.at, p.key), placeholder, options))
}

// menuLabel describes a value for a menu, which shows no markup; a time zone with its time of day.
func (c *Commands) menuLabel(l locale.Locale, key memory.Setting, value string) string {
	label := settingLabel(l, key, value)
	if label == markdown.Plain(value, longestLabel) {
		label = value
	}
	if zone, err := time.LoadLocation(value); key == memory.SettingTimezone && err == nil {
		label += " · " + c.Now().In(zone).Format("15:04")
	}
	return label
}

// single returns a menu of which one option is chosen.
func single(id, placeholder string, options []discord.Choice) discord.Component {
	m := discord.Menu(id, placeholder, options)
	m.Max = 1
	return m
}

func (c *Commands) buttonRows(p *panel) []discord.Component {
	sets := func(style int, label string, key memory.Setting, value string) discord.Component {
		return discord.Button(style, label, ID(panelSet, p.at, key, value))
	}
	first := []discord.Component{discord.Button(discord.StyleGrey, p.Text("Persona…"), ID(panelPersona, p.at))}
	if value, at := p.server.Setting(p.at, memory.SettingPersona); value != "" && at == p.at {
		first = append(first, sets(discord.StyleGrey, p.Text("Take back this persona"), memory.SettingPersona,
			answer.SettingDefault))
	}
	first = append(first, discord.Button(discord.StyleGrey, p.Text("Limits…"), ID(panelLimits, p.at)),
		discord.Button(discord.StyleGrey, p.Text("What I remember…"), panelMemory))
	label := p.Text("This channel")
	at := memory.ChannelID(p.Channel)
	if p.at != 0 {
		label = p.Text("Whole server")
		at = 0
	}
	second := []discord.Component{discord.Button(discord.StyleGrey, label, ID(panelServer, at, p.key))}
	if _, paused := c.Replies.Choices.In(p.server, 0).PausedAt(c.Now()); paused {
		second = append(second, sets(discord.StyleGreen, p.Text("Go on"), memory.SettingPaused, answer.SettingDefault))
	} else {
		second = append(second, sets(discord.StyleGrey, p.Text("Pause for an hour"), memory.SettingPaused, "1h"),
			sets(discord.StyleRed, p.Text("Pause"), memory.SettingPaused, answer.SettingOn))
	}
	return []discord.Component{discord.Row(first...), discord.Row(second...)}
}

func (c *Commands) chooseChannel(_ context.Context, p *panel) error {
	p.goTo(p.Value())
	return nil
}

func (c *Commands) chooseKey(_ context.Context, p *panel) error {
	p.key = memory.Setting(p.Value())
	if !slices.Contains(panelKeys, p.key) {
		p.key = ""
		p.note = p.Text(staleChoice)
	}
	return nil
}

// panelSets sets the key in the component's id to the value that is in the id, or was chosen or written.
func (c *Commands) panelSets(ctx context.Context, p *panel) error {
	args := p.Args()
	value := p.Value()
	switch {
	case len(args) < 2:
		p.note = p.Text(staleChoice)
		return nil
	case len(args) > 2:
		value = args[2]
	case p.Type == discord.InteractionForm:
		value = p.persona()
	}
	err := c.setIn(ctx, p, memory.Setting(args[1]), value)
	if refused, is := errors.AsType[refusal](err); is {
		p.note = string(refused)
		err = nil
	}
	return err
}

func (c *Commands) askPanelPersona(_ context.Context, x *interaction) (discord.Form, error) {
	at, err := x.channelID()
	if err != nil {
		return discord.Form{}, err
	}
	return x.personaForm(ID(panelPersona, at, memory.SettingPersona), at)
}

// limitFields are the fields of the form for limits.
var limitFields = []struct {
	id    string
	label locale.MessageKey
	all   bool // for all members together
	of    func(*memory.Limit) *int
}{
	{"each-messages", locale.MessageKey("Each member: questions a minute"), false, limitedQuestions},
	{"each-tokens", locale.MessageKey("Each member: tokens a day"), false, limitedTokens},
	{"all-messages", locale.MessageKey("All together: questions a minute"), true, limitedQuestions},
	{"all-tokens", locale.MessageKey("All together: tokens a day"), true, limitedTokens},
}

// limitDigits matches digits, perhaps in groups of three.
var limitDigits = regexp.MustCompile(`^[0-9]+$|^[0-9]{1,3}([ ,.'\x{a0}\x{202f}][0-9]{3})+$`)

// persona returns the text from the persona form.
func (x *interaction) persona() string {
	text := x.Option("text")
	if strings.TrimSpace(text) == answer.SettingDefault { // else it would reset the persona
		text = answer.SettingDefault + "."
	}
	return text
}

// personaForm returns a form with the current persona of a channel.
func (x *interaction) personaForm(id string, at memory.ChannelID) (discord.Form, error) {
	persona, _ := x.server.Setting(at, memory.SettingPersona)
	return discord.Form{
		ID:    id,
		Title: x.Text("Who I am there"),
		Fields: []discord.Component{
			discord.Input(discord.InputText, "text", x.Text("Who I am, and how I speak"), persona, answer.MaxPersona, true),
		},
	}, nil
}

// pause pauses Hark in a guild, resumes it, or shows whether it is paused.
func (c *Commands) pause(ctx context.Context, x *interaction) (response, error) {
	state := x.Option("state")
	span := x.Option("for")
	if state == "" && span == "" {
		return response{Content: c.pauseLine(x.Locale, x.server)}, nil
	}
	value := cmp.Or(span, state)
	if state == answer.SettingOff {
		value = answer.SettingDefault
		if span != "" {
			return response{}, refusal(x.Text(
				"`for` says how long to pause, so it doesn't go with `off`. Please leave out `for`, or choose `on`."))
		}
	}
	if err := c.setIn(ctx, &panel{interaction: x}, memory.SettingPaused, value); err != nil {
		return response{}, err
	}
	text := c.pauseLine(x.Locale, x.server)
	if value != answer.SettingDefault {
		text += "\n" + x.Text("Those who mention me are told so now and then. I go on remembering what I may, and commands work. `/hark pause state:off` has me answer again.")
	}
	return response{Content: text}, nil
}
