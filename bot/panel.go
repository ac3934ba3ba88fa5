package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

// The names of the buttons and menus of /hark settings. Each has the place in its id, so that it works after a restart.
const (
	panelChannel = "panel-channel" // with the key that is chosen, if any
	panelServer  = "panel-server"  // with the key
	panelKey     = "panel-key"     // with the place
	panelSet     = "panel-set"     // with the place and the key
	panelPersona = "panel-persona" // with the place
	panelOwn     = "panel-own"     // with the place
	panelLimits  = "panel-limits"  // with the place
	panelMemory  = "panel-memory"
	panelPause   = "panel-pause" // with the place, and for how long
	panelGoOn    = "panel-go-on" // with the place
)

const (
	staleChoice = "That can't be chosen any more. This is what there is now."
	lostChannel = "I don't know that channel any more, so this is the whole server."
)

// panelKeys are what can be chosen from menus, in their order.
var panelKeys = []memory.Setting{memory.SettingModel, memory.SettingMode, memory.SettingLanguage, memory.SettingTools, memory.SettingTemperature, memory.SettingTimezone}

// shownPersona is how much of a persona is shown among other settings, in UTF-16 units.
const shownPersona = 200

// panel is what /hark settings shows: all that holds at a place, and what to change it by.
type panel struct {
	locale
	guild *memory.Guild
	here  memory.ChannelID // where it is shown
	at    memory.ChannelID // 0: the whole server
	key   memory.Setting   // that is being chosen; empty: none
	note  string           // what came of the last change
}

func (c *commands) openPanel(_ context.Context, x *exchange) (sheet, error) {
	at, err := x.place()
	if err != nil {
		return sheet{}, err
	}
	return c.show(&panel{locale: x.locale, guild: x.server, here: memory.ChannelID(x.Channel), at: at}), nil
}

// panelAfter is the panel after something was done with it.
func (c *commands) panelAfter(do func(context.Context, *exchange, *panel) error) action {
	return func(ctx context.Context, x *exchange) (sheet, error) {
		p := &panel{locale: x.locale, guild: x.server, here: memory.ChannelID(x.Channel)}
		if args := x.args(); len(args) > 0 && p.goTo(args[0]) && len(args) > 1 && slices.Contains(panelKeys, memory.Setting(args[1])) {
			p.key = memory.Setting(args[1])
		}
		if p.note == "" {
			if err := do(ctx, x, p); err != nil {
				return sheet{}, err
			}
		}
		return c.show(p), nil
	}
}

// goTo makes a channel the panel's place, or notes that it is gone.
func (p *panel) goTo(id string) bool {
	at, err := channelIn([]string{id})
	known := at == 0 || at == p.here || slices.ContainsFunc(p.guild.Channels, func(c memory.Channel) bool { return c.ID == at && !c.Unplaced })
	if err != nil || !known {
		p.at, p.note = 0, p.text(lostChannel)
		return false
	}
	p.at = at
	return true
}

// show is the panel as it is now.
func (c *commands) show(p *panel) sheet {
	rows := []component{c.placeRow(p), c.keyRow(p)}
	if values := c.valueRow(p); values != nil {
		rows = append(rows, *values)
	}
	return sheet{Content: c.panelText(p), Components: append(rows, c.buttonRows(p)...)}
}

func (c *commands) panelText(p *panel) string {
	lines := p.heading()
	for _, key := range memory.AnswerSettings() {
		lines = append(lines, c.settingLine(p, key))
	}
	for _, line := range c.kept(p) {
		lines = append(lines, "- "+line)
	}
	each, all := c.bot.cfg.Limits.of(p.guild, nil)
	lines = append(lines, p.text("For the whole server:"), c.settingLine(p, memory.SettingTimezone), "- "+c.pauseLine(p.locale, p.guild),
		"- "+p.text("**Limits**: questions a minute: each member %s, all together %s; tokens a day: each member %s, all together %s", p.most(each.Messages), p.most(all.Messages), p.most(each.Tokens), p.most(all.Tokens)))
	return strings.Join(lines, "\n")
}

// heading is what came of the last change, and whose settings these are.
func (p *panel) heading() []string {
	title := p.text("**What is set for the whole server**, where a channel has nothing of its own:")
	if p.at != 0 {
		title = p.text("**What is set for <#%d>**, and for its threads that have nothing of their own:", p.at)
	}
	if p.note != "" {
		return []string{p.note, title}
	}
	return []string{title}
}

// settingLine says what holds of a key, and where that was set.
func (c *commands) settingLine(p *panel, key memory.Setting) string {
	if key == memory.SettingTimezone {
		return "- " + c.zoneLine(p.locale, p.guild)
	}
	return fmt.Sprintf("- **%s**: %s (%s)", p.keyName(key), c.worth(p, key), c.setFor(p.locale, p.guild, p.at, key))
}

// kept says whether what is said at the panel's place is remembered, how long, and whether anybody is answered there.
func (c *commands) kept(p *panel) []string {
	keep, policy := p.retained(p.guild, p.at, c.bot.cfg.Retention), c.bot.cfg.Policy
	switch {
	case p.at == 0:
		heard, _, _ := strings.Cut(told(p.locale, p.guild, policy), "\n")
		return []string{heard, keep, p.answers(p.guild, 0)}
	case policy.Remembers(p.guild, p.at):
		return []string{p.text("I remember what is said in %s.", p.mention(p.at)), keep, p.answers(p.guild, p.at)}
	}
	return []string{p.text("I remember nothing of what is said in %s.", p.mention(p.at)), p.answers(p.guild, p.at)}
}

// most is a limit in a few characters.
func (p *panel) most(n int) string {
	if n == memory.Unlimited {
		return "∞"
	}
	return p.number(n)
}

// setFor says for where a key was set that holds at a place.
func (c *commands) setFor(l locale, g *memory.Guild, at memory.ChannelID, key memory.Setting) string {
	switch value, set := g.Setting(at, key); {
	case value == "", c.bot.cfg.Choices.In(g, at).Value(key) != value: // or only a newer Hark knows it
		return l.text("by default")
	case set == 0:
		return l.text("for the whole server")
	case set == at:
		return l.text("for this channel")
	default:
		return l.text("from <#%d>", set)
	}
}

// keyName is what a key is called.
func (l locale) keyName(key memory.Setting) string {
	switch key {
	case memory.SettingModel:
		return l.text("Model")
	case memory.SettingPersona:
		return l.text("Persona")
	case memory.SettingTemperature:
		return l.text("Temperature")
	case memory.SettingTools:
		return l.text("Tools")
	case memory.SettingMode:
		return l.text("Mode")
	case memory.SettingLanguage:
		return l.text("Language")
	}
	return l.text("Time zone")
}

// worth says what holds of a key.
func (c *commands) worth(p *panel, key memory.Setting) string {
	value := c.bot.cfg.Choices.In(p.guild, p.at).Value(key)
	missing := key == memory.SettingModel && value != "" && !slices.Contains(c.bot.cfg.Choices.Models, value)
	switch {
	case missing:
		return p.text("%s, which I don't have any more, so %s answers", plain(value, 60), cmp.Or(plain(c.bot.cfg.Choices.Default.Model, 60), "—"))
	case key == memory.SettingModel && value == "":
		return p.text("none: I quote what was said")
	case key == memory.SettingPersona && value == "":
		return p.text("my usual one")
	case key == memory.SettingPersona:
		return "“" + plain(value, shownPersona) + "”"
	}
	return p.label(key, value)
}

// languageNames are what languages are called by those who speak them.
var languageNames = map[string]string{"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "ja": "日本語", "zh-TW": "繁體中文"}

// label is a value as a menu shows it.
func (l locale) label(key memory.Setting, value string) string {
	switch {
	case value == answer.SettingDefault:
		return l.text("What holds unless anything is set")
	case key == memory.SettingLanguage:
		return cmp.Or(languageNames[value], value)
	case key == memory.SettingTools && value == answer.SettingOn:
		return l.text("I may look things up by myself")
	case key == memory.SettingTools:
		return l.text("I may not look things up by myself")
	case key == memory.SettingTemperature && value == "":
		return l.text("what the model's server uses")
	case key == memory.SettingMode:
		return l.mode(value)
	}
	return plain(value, longestLabel)
}

// mode says what it means that a mode holds.
func (l locale) mode(value string) string {
	switch value {
	case string(builder.ModeGeneral):
		return l.text("talk, with brief answers (%s)", value)
	case string(builder.ModeCreation):
		return l.text("making something new (%s)", value)
	case string(builder.ModeSearch):
		return l.text("finding what was said (%s)", value)
	case string(builder.ModeModification):
		return l.text("changing what is there (%s)", value)
	case string(builder.ModeAnalysis):
		return l.text("explaining and comparing (%s)", value)
	}
	return l.text("told by each question (%s)", value)
}

// temperatures are offered in a menu; any other can be written with /hark set.
var temperatures = []string{"0", "0.2", "0.4", "0.7", "1", "1.3", "1.6", "2"}

// listed are values to choose from for a key: all, or those that are usual.
func (c *commands) listed(key memory.Setting) []string {
	switch key {
	case memory.SettingTemperature:
		return slices.Clone(temperatures)
	case memory.SettingTimezone:
		return slices.Clone(usualZones)
	}
	return c.bot.cfg.Choices.Values(key)
}

// values are what a menu offers for a key, with what holds among them.
func (c *commands) values(p *panel) []string {
	all := slices.DeleteFunc(c.listed(p.key), func(v string) bool { return units(v) > longestLabel })
	holds := c.current(p)
	offered := all[:min(len(all), menuLimit-2)]
	if holds != "" && !slices.Contains(offered, holds) && (p.key != memory.SettingModel || slices.Contains(all, holds)) {
		offered = append([]string{holds}, offered...)
	}
	return append(slices.Clone(offered), answer.SettingDefault)
}

// current is what holds of the panel's key.
func (c *commands) current(p *panel) string {
	if p.key == memory.SettingTimezone {
		return c.zone(p.guild).String()
	}
	return c.bot.cfg.Choices.In(p.guild, p.at).Value(p.key)
}

func (c *commands) placeRow(p *panel) component {
	var chosen []memory.ChannelID
	if p.at != 0 {
		chosen = []memory.ChannelID{p.at}
	}
	m := channelMenu(id(panelChannel, p.at, p.key), p.text("Choose a channel"), 1, chosen)
	m.Max, m.ChannelTypes = 1, answerable
	return row(m)
}

func (c *commands) keyRow(p *panel) component {
	var options []choice
	for _, key := range panelKeys {
		options = append(options, choice{Label: p.keyName(key), Value: string(key), Default: key == p.key})
	}
	return row(single(id(panelKey, p.at), p.text("Choose what to change"), options))
}

// valueRow is the menu of what a key can be set to; nil while none is chosen.
func (c *commands) valueRow(p *panel) *component {
	if p.key == "" {
		return nil
	}
	placeholder := p.text("%s: choose", p.keyName(p.key))
	if p.key == memory.SettingTimezone {
		placeholder = p.text("Choose a time zone; `/hark set` knows all of them")
	}
	holds, offered := c.current(p), c.values(p)
	if all := c.bot.cfg.Choices.Models; p.key == memory.SettingModel && len(offered) <= len(all) {
		placeholder = p.text("Choose a model; `/model` knows all of them")
	}
	var options []choice
	for _, value := range offered {
		options = append(options, choice{Label: labelOf(c.menuLabel(p.locale, p.key, value)), Value: value, Default: value == holds})
	}
	return new(row(single(id(panelSet, p.at, p.key), placeholder, options)))
}

// menuLabel is a value as a menu shows it, which shows no markup; a time zone with the time that it has.
func (c *commands) menuLabel(l locale, key memory.Setting, value string) string {
	label := l.label(key, value)
	if label == plain(value, longestLabel) {
		label = value
	}
	if zone, err := time.LoadLocation(value); key == memory.SettingTimezone && err == nil {
		label += " · " + c.bot.now().In(zone).Format("15:04")
	}
	return label
}

// single is a menu of which one is chosen.
func single(id, placeholder string, options []choice) component {
	m := menu(id, placeholder, options)
	m.Max = 1
	return m
}

func (c *commands) buttonRows(p *panel) []component {
	first := []component{button(styleGrey, p.text("Persona…"), id(panelPersona, p.at))}
	if value, at := p.guild.Setting(p.at, memory.SettingPersona); value != "" && at == p.at {
		first = append(first, button(styleGrey, p.text("Take back this persona"), id(panelOwn, p.at)))
	}
	first = append(first, button(styleGrey, p.text("Limits…"), id(panelLimits, p.at)), button(styleGrey, p.text("What I remember…"), panelMemory))
	second := []component{button(styleGrey, p.text("This channel"), id(panelServer, p.here, p.key))}
	if p.at != 0 {
		second[0] = button(styleGrey, p.text("Whole server"), id(panelServer, 0, p.key))
	}
	if _, paused := c.bot.cfg.Choices.In(p.guild, 0).PausedAt(c.bot.now()); paused {
		second = append(second, button(styleGreen, p.text("Go on"), id(panelGoOn, p.at)))
	} else {
		second = append(second, button(styleGrey, p.text("Pause for an hour"), id(panelPause, p.at, "1h")), button(styleRed, p.text("Pause"), id(panelPause, p.at, "on")))
	}
	return []component{row(first...), row(second...)}
}
