package answer

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/digest"
	"hark/internal/text"
	"hark/memory"
)

// Bounds of settings.
const (
	MaxPersona     = 4000 // characters
	MaxTemperature = 2.0
)

// Words that stand for values.
const (
	SettingOn  = "on"
	SettingOff = "off"
	// ModeInferred has a channel's mode inferred from each question although its guild has one.
	ModeInferred = "auto"
	// SettingDefault takes back what was set.
	SettingDefault = "default"
)

// Settings are how questions in a channel are answered.
type Settings struct {
	Model       string       // the name of one of Options.Models; empty: the engine's own
	Persona     string       // who answers; empty: the builder's
	Temperature *float64     // 0 to 2; nil: the model's own
	Tools       bool         // whether the model may call tools
	Servers     []string     // whose tools it may call besides Hark's own
	Mode        builder.Mode // empty: inferred
	// of labels and Hark's own sentences, one of builder.Languages; empty: the engine's own
	Language string
	// spoken is the language of Hark's own sentences in an answer, if it isn't Language: the question's.
	spoken   string
	Zone     *time.Location // in which times are told; nil: UTC
	Programs bool           // whether members may connect programs of their own
	Media    string         // which files models tell of, as memory.SettingMedia has it; empty: none
	Bots     memory.Bots    // what becomes of messages of bots and webhooks; empty: they are forgotten
	// Paused, if not empty, says that mentions aren't answered: SettingOn, or until a time as in RFC 3339.
	Paused string
}

// PausedAt reports whether mentions aren't answered at a time, and until when; zero: unknown.
func (s Settings) PausedAt(now time.Time) (until time.Time, paused bool) {
	if s.Paused == "" || s.Paused == SettingOn {
		return time.Time{}, s.Paused != ""
	}
	until, err := time.Parse(time.RFC3339, s.Paused)
	return until, err == nil && now.Before(until)
}

// Set returns s with what was set for a channel of g, its parent or the guild. It ignores unusable values, such as
// a newer Hark's.
func (s Settings) Set(g *memory.Guild, channel memory.ChannelID) Settings {
	for _, key := range memory.Settings() {
		value, _ := g.Setting(channel, key)
		value, err := checkSetting(key, value)
		if err != nil || value == "" {
			continue
		}
		switch key {
		case memory.SettingModel:
			s.Model = value
		case memory.SettingPersona:
			s.Persona = value
		case memory.SettingTemperature:
			t, _ := strconv.ParseFloat(value, 64) // it was checked
			s.Temperature = &t
		case memory.SettingTools:
			s.Tools = value != SettingOff
			s.Servers = serversIn(value)
		case memory.SettingMode:
			s.Mode = builder.Mode(value)
			if value == ModeInferred {
				s.Mode = ""
			}
		case memory.SettingLanguage:
			s.Language = value
		case memory.SettingTimezone:
			s.Zone = zoneCalled(value)
		case memory.SettingPrograms:
			s.Programs = value == SettingOn
		case memory.SettingMedia:
			s.Media = value
		case memory.SettingBots:
			s.Bots = memory.Bots(value)
		case memory.SettingPaused:
			s.Paused = value
		}
	}
	return s
}

// Value returns a key's value as it would be set; empty if s has none of its own.
func (s Settings) Value(key memory.Setting) string {
	switch key {
	case memory.SettingModel:
		return s.Model
	case memory.SettingPersona:
		return s.Persona
	case memory.SettingTemperature:
		if s.Temperature == nil {
			return ""
		}
		return strconv.FormatFloat(*s.Temperature, 'f', -1, 64)
	case memory.SettingTools:
		switch {
		case !s.Tools:
			return SettingOff
		case len(s.Servers) > 0:
			return strings.Join(s.Servers, serverSeparator)
		}
		return SettingOn
	case memory.SettingMode:
		return cmp.Or(string(s.Mode), ModeInferred)
	case memory.SettingLanguage:
		return s.Language
	case memory.SettingTimezone:
		if s.Zone != nil {
			return s.Zone.String()
		}
	case memory.SettingPrograms:
		if !s.Programs {
			return SettingOff
		}
		return SettingOn
	case memory.SettingMedia:
		return cmp.Or(s.Media, memory.MediaOff)
	case memory.SettingBots:
		return string(cmp.Or(s.Bots, memory.BotsForgotten))
	case memory.SettingPaused:
		return s.Paused
	}
	return ""
}

// Choices are what admins may choose from, and the defaults.
type Choices struct {
	Models  []string // by name, the default first; empty: there is no model
	Default Settings
	Servers []string // whose tools the model may be offered, by name
	// Temperatures are the configured ones, by model, that differ from the default's.
	Temperatures map[string]*float64
}

// In returns the settings of a channel of g; with the channel 0, of g.
func (c Choices) In(g *memory.Guild, channel memory.ChannelID) Settings {
	s := c.Default.Set(g, channel)
	own, differs := c.Temperatures[s.Model]
	if set, _ := g.Setting(channel, memory.SettingTemperature); differs && set == "" {
		s.Temperature = own
	}
	return s
}

// maxLike models are named beside one that doesn't exist.
const maxLike = 5

// like names models that contain text, or else any.
func (c Choices) like(text string) string {
	text = strings.ToLower(text)
	names := slices.DeleteFunc(slices.Clone(c.Models), func(name string) bool {
		return !strings.Contains(strings.ToLower(name), text)
	})
	if len(names) == 0 {
		names = slices.Clone(c.Models)
	}
	if len(names) > maxLike {
		names = append(names[:maxLike], "…")
	}
	return strings.Join(names, ", ")
}

// Check returns a value as it is kept, "" for SettingDefault. The error says what can be chosen.
func (c Choices) Check(key memory.Setting, value string) (string, error) {
	value = strings.TrimSpace(memory.Clean(value))
	switch {
	case value == SettingDefault:
		return "", nil
	case value == "":
		return "", memory.Complain("there is nothing in it")
	case key == memory.SettingModel && len(c.Models) == 0:
		return "", memory.Complain("no model is configured to choose from")
	case key == memory.SettingModel:
		i := slices.IndexFunc(c.Models, func(name string) bool { return strings.EqualFold(name, value) })
		if i < 0 {
			return "", memory.Complain("there is no model %.100q: choose from %s", value, c.like(value))
		}
		return c.Models[i], nil
	case key == memory.SettingTools:
		for _, name := range serversIn(strings.ToLower(value)) {
			if !slices.Contains(c.Servers, name) && !isSwitch(name) {
				return "", memory.Complain("%.100q is no value of %s: choose from %s", name, string(key),
					strings.Join(append([]string{SettingOn, SettingOff}, c.Servers...), ", "))
			}
		}
	}
	return checkSetting(key, value)
}

// serverSeparator stands between servers in the value of memory.SettingTools.
const serverSeparator = ", "

// isSwitch reports whether a value switches tools on or off. It stands alone.
func isSwitch(value string) bool { return value == SettingOn || value == SettingOff }

// isNoServer reports whether no server can have a name, as the configuration checks them.
func isNoServer(name string) bool {
	return isSwitch(name) || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != ""
}

// serversIn returns the servers that a value of memory.SettingTools names, in order, each once.
func serversIn(value string) (names []string) {
	if isSwitch(value) {
		return nil
	}
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Values returns what a key can be set to, except SettingDefault; nil: that can't be listed.
func (c Choices) Values(key memory.Setting) []string {
	switch key {
	case memory.SettingModel:
		return slices.Clone(c.Models)
	case memory.SettingTools:
		all := append([]string{SettingOn, SettingOff}, c.Servers...)
		if len(c.Servers) > 1 {
			all = append(all, strings.Join(serversIn(strings.Join(c.Servers, ",")), serverSeparator))
		}
		return all
	case memory.SettingPrograms:
		return []string{SettingOn, SettingOff}
	case memory.SettingMedia:
		return []string{memory.MediaOff, memory.MediaVoice, memory.MediaPictures, memory.MediaAll}
	case memory.SettingBots:
		return digest.Each(memory.AllBots(), func(b memory.Bots) string { return string(b) })
	case memory.SettingMode:
		modes := []string{ModeInferred}
		for _, m := range builder.Modes() {
			modes = append(modes, string(m))
		}
		return modes
	case memory.SettingLanguage:
		return builder.Languages()
	}
	return nil
}

// checkSetting is Choices.Check without the list of models, which may change before a value is used. An empty value
// is SettingDefault.
func checkSetting(key memory.Setting, value string) (string, error) {
	if key == memory.SettingMode && strings.EqualFold(value, "automatic") {
		value = ModeInferred
	}
	all := Choices{}.Values(key)
	switch key {
	case memory.SettingModel:
		return value, nil
	case memory.SettingPersona:
		if n := utf8.RuneCountInString(value); n > MaxPersona {
			return "", memory.Complain("a persona has at most %d characters, and this one has %d", MaxPersona, n)
		}
		return value, nil
	case memory.SettingTemperature:
		if value == "" {
			return "", nil
		}
		t, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", "."), 64)
		if err != nil || math.IsNaN(t) || t < 0 || t > MaxTemperature {
			return "", memory.Complain("a temperature is a number from 0 to %g", MaxTemperature)
		}
		return strconv.FormatFloat(t, 'f', -1, 64), nil
	case memory.SettingTimezone:
		return checkZone(value)
	case memory.SettingPaused:
		return checkPause(value)
	case memory.SettingTools:
		value = strings.ToLower(value)
		switch names := serversIn(value); {
		case len(names) > 0 && !slices.ContainsFunc(names, isNoServer):
			return strings.Join(names, serverSeparator), nil
		case isSwitch(value):
			return value, nil
		}
		return "", memory.Complain("%.100q is no value of %s: choose from %s", value, string(key),
			strings.Join(all, ", "))
	case memory.SettingMode, memory.SettingLanguage, memory.SettingMedia, memory.SettingBots, memory.SettingPrograms:
		i := slices.IndexFunc(all, func(v string) bool { return strings.EqualFold(v, value) })
		if value == "" || i < 0 {
			return "", memory.Complain("%.100q is no value of %s: choose from %s", value, string(key),
				strings.Join(all, ", "))
		}
		return all[i], nil
	}
	return "", memory.Complain("there is no setting %.100q", string(key))
}

// LanguageFor returns the language of Hark's own sentences about a question in a channel of g: the one set there, the
// question's if that is clear, or the configured one.
func (c Choices) LanguageFor(g *memory.Guild, channel memory.ChannelID, question string) string {
	s := c.In(g, channel)
	return cmp.Or(spokenLanguage(g, channel, question), s.Language)
}

// spokenLanguage returns a question's language if it is clear and none is set in a channel of g; else "".
func spokenLanguage(g *memory.Guild, channel memory.ChannelID, question string) string {
	set, _ := g.Setting(channel, memory.SettingLanguage)
	if set != "" {
		return ""
	}
	return text.Language(question)
}

// settings are the defaults.
func (e *Engine) settings() Settings {
	return Settings{
		Persona:  e.options.Persona,
		Tools:    true,
		Language: e.options.Language,
		Zone:     e.options.Zone,
	}
}

type resolvedSettings struct {
	Settings
	model   Model // nil: answers are extractive
	builder *builder.Builder
}

// resolve returns the model and builder of s, which lays out as asked. A missing model is reported once, and replaced
// by the engine's own.
func (e *Engine) resolve(ctx context.Context, s Settings, layout builder.Layout) resolvedSettings {
	v := resolvedSettings{
		Settings: s,
		model:    e.model,
		builder:  e.builder,
	}
	if s.Model != "" {
		if m, there := e.options.Models[s.Model]; there {
			v.model = m
		} else {
			v.Model = ""
			if _, told := e.missing.LoadOrStore(s.Model, true); !told && e.options.Missing != nil {
				e.options.Missing(s.Model)
			}
		}
	}
	if e.options.Builder != nil {
		if b := e.options.Builder(ctx, v.Model, s.Language, layout); b != nil {
			v.builder = b
		}
	}
	return v
}

// zoneList has the IANA names of time zones, one a line, in order, without old aliases.
//
//go:embed zones.txt
var zoneList string

var zoneNames = strings.Fields(zoneList)

// Zones are the IANA names of time zones, in order.
func Zones() []string { return slices.Clone(zoneNames) }

// zones caches zones by name: reading one is slow.
var zones sync.Map

// zoneCalled returns the zone of an IANA name; nil if there is none.
func zoneCalled(name string) *time.Location {
	if z, known := zones.Load(name); known {
		return z.(*time.Location)
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "" || z == time.Local {
		return nil
	}
	kept, _ := zones.LoadOrStore(z.String(), z)
	return kept.(*time.Location)
}

// checkZone returns a time zone's name as it is kept, whatever its case and spaces.
func checkZone(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	name := strings.ReplaceAll(value, " ", "_")
	if i := slices.IndexFunc(zoneNames, func(z string) bool { return strings.EqualFold(z, name) }); i >= 0 {
		return zoneNames[i], nil
	}
	z := zoneCalled(name)
	if z == nil {
		return "", memory.Complain("there is no time zone %.100q: choose the IANA name of one, such as UTC or "+
			"Europe/Berlin", value)
	}
	return z.String(), nil
}

// checkPause returns a pause as it is kept; "" for none.
func checkPause(value string) (string, error) {
	switch {
	case value == "", strings.EqualFold(value, SettingOff):
		return "", nil
	case strings.EqualFold(value, SettingOn):
		return SettingOn, nil
	}
	until, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return "", errors.New("a pause is on, off, or the time until which it lasts, such as 2027-01-31T18:00:00Z")
	}
	return until.UTC().Format(time.RFC3339), nil
}
