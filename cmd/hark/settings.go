package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/memory"
)

// settingFlags are where a setting holds.
type settingFlags struct {
	guild, channel string
	yes            bool
}

func (f *flags) settingsCommand() *cobra.Command {
	var at settingFlags
	c := &cobra.Command{
		Use:   "settings [KEY [VALUE]]",
		Short: "Show how questions are answered in a server or a channel, or set it",
		Long: "What is set for a channel holds there and in its threads that have nothing of their own; what is set for a server holds in\n" +
			"all its channels that haven't; where nothing is set the configuration holds. \"" + answer.SettingDefault + "\" takes back what was set.\n\n" +
			"  model        the model that answers, of those that are configured\n" +
			"  persona      who Hark is and how it speaks there\n" +
			"  temperature  how freely the model writes, from 0 to 2\n" +
			"  tools        on or off: whether the model may call tools\n" +
			"  mode         what questions are taken for: " + modeNames(answer.ModeInferred) + "\n" +
			"  language     of the labels in prompts and of Hark's own sentences in answers\n" +
			"  timezone     of a server: the zone of the times that Hark speaks of, such as Europe/Berlin\n" +
			"  paused       of a server: on, off, or the time until which Hark answers nobody there, such as 2027-01-31T18:00:00Z\n" +
			"  answers      on or off: whether Hark answers who mentions it\n" +
			"  retention    how long messages are remembered, such as 90d or " + memory.RetentionForever + ", but no longer than memory.retention\n\n" +
			"Without --channel and --guild all that is set is shown.",
		Example: "  hark settings --channel archive\n  hark settings --channel archive persona \"You are the archivist. You answer in verse.\"\n" +
			"  hark settings --guild Garden language de\n  hark settings --channel archive persona " + answer.SettingDefault,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return fmt.Errorf("%q takes one key and one value, so what is %q? A value of several words stands in quotes", c.CommandPath(), args[2])
			}
			if len(args) > 0 && !slices.Contains(memory.Settings(), memory.Setting(args[0])) {
				return fmt.Errorf("there is no setting %q: choose from %s", args[0], settingKeys())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			args = append(args, "", "")[:max(2, len(args))]
			return f.settings(c, at, memory.Setting(args[0]), args[1])
		},
	}
	at.add(c)
	c.Flags().BoolVar(&at.yes, "yes", false, "don't ask")
	return c
}

func (at *settingFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&at.guild, "guild", "", "of the server of this `name` or id, or in it")
	c.Flags().StringVar(&at.channel, "channel", "", "of the channel of this `name` or id")
}

func settingKeys() string {
	var keys []string
	for _, key := range memory.Settings() {
		keys = append(keys, string(key))
	}
	return strings.Join(keys, ", ")
}

// settings sets a key, unless the value is empty, and shows it, or all keys if the key is empty.
func (f *flags) settings(c *cobra.Command, at settingFlags, key memory.Setting, value string) error {
	if value != "" && at.channel == "" && at.guild == "" {
		return errors.New("where does it hold? Name the channel with --channel, or the server with --guild")
	}
	k, err := f.openKept(c.Context())
	if err != nil {
		return err
	}
	defer k.Close()
	in, err := k.guildCalled(at.guild)
	if err != nil {
		return err
	}
	if at.channel == "" && in == memory.Everywhere {
		return k.printAllSettings(c, in, key)
	}
	place := memory.Channel{Guild: in}
	if at.channel != "" {
		if place, err = k.channelCalled(in, at.channel); err != nil {
			return err
		}
	}
	if value != "" {
		if key == memory.SettingRetention {
			if err := f.confirmRetention(c, k, at, place, value); err != nil {
				return err
			}
		}
		if err := k.choose(c, place, key, value); err != nil {
			return err
		}
	} else if at.channel == "" && key != "" {
		return k.printAllSettings(c, in, key)
	}
	return k.printSettings(c.OutOrStdout(), place, key)
}

// choose sets a key of a channel, or of a server if the channel has no id.
func (k *kept) choose(c *cobra.Command, at memory.Channel, key memory.Setting, value string) error {
	value, err := k.checked(at, key, value)
	if err != nil {
		return err
	}
	switch {
	case at.Guild == memory.DirectGuild:
		return errors.New("direct messages are answered as configured")
	case at.ID != 0 && key.OfGuild():
		return fmt.Errorf("the setting %s is of a whole server: name that with --guild, and no channel", key)
	case at.Kind == memory.CategoryChannel:
		return errors.New("in a category nothing is asked: set it for its channels, or for the server")
	}
	if err := k.Apply(c.Context(), memory.SettingChosen{Guild: at.Guild, Channel: at.ID, Key: key, Value: value, At: now()}); err != nil {
		return err
	}
	g, err := k.Guild(c.Context(), at.Guild)
	if err != nil {
		return err
	}
	k.guilds = []*memory.Guild{g} // nothing is said of others
	if ownSettings(g, at.ID)[key] != value {
		return fmt.Errorf("the %s of %s wasn't changed: it was set at a later time than it is by this machine's clock, or is forgotten", key, k.place(at))
	}
	return k.EmptyLog(c.Context())
}

// ownSettings are those of a channel itself, or of the server if the id is 0.
func ownSettings(g *memory.Guild, id memory.ChannelID) map[memory.Setting]string {
	if id == 0 {
		return g.Settings
	}
	for _, c := range g.Channels {
		if c.ID == id {
			return c.Settings
		}
	}
	return nil
}

// place is what a channel is called, or its server if it has no id.
func (k *kept) place(at memory.Channel) string {
	if at.ID == 0 {
		return oneLine(guildName(k.guildOf(at.Guild)))
	}
	return k.called(at)
}

// printSettings says what holds at a place, of all keys or of one, and why.
func (k *kept) printSettings(w io.Writer, at memory.Channel, only memory.Setting) error {
	for _, key := range memory.Settings() {
		if only == "" || key == only {
			if err := k.printSetting(w, at, key, only != ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// printSetting says what holds at a place of one key, and why; a persona in full if no other key is asked for.
func (k *kept) printSetting(w io.Writer, at memory.Channel, key memory.Setting, alone bool) error {
	g, c := k.guildOf(at.Guild), choices(k.config)
	if key == memory.SettingAnswers || key == memory.SettingRetention {
		_, err := fmt.Fprintf(w, "%s: %s %s\n", k.place(at), key, k.keeping(g, at, key))
		return err
	}
	holds := c.In(g, at.ID)
	value, from := g.Setting(at.ID, key)
	why := "set for the server"
	switch {
	case value == "":
		why = "as configured"
	case from != 0 && from == at.ID:
		why = "set for the channel"
	case from != 0:
		why = "set for its channel"
	}
	switch {
	case value == "":
	case holds.Value(key) != value:
		why += " to " + shortly(value) + ", which this Hark doesn't know"
	case key == memory.SettingModel && !slices.Contains(c.Models, value):
		why += ", but not configured: " + cmp.Or(c.Default.Model, "none") + " answers"
	}
	_, err := fmt.Fprintf(w, "%s: %s %s (%s)\n", k.place(at), key, shownSetting(key, holds.Value(key), alone), why)
	return err
}

// shownSetting is a value as it is shown, in full if it stands alone.
func shownSetting(key memory.Setting, value string, alone bool) string {
	switch {
	case value == "" && key == memory.SettingPersona:
		return "Hark's own"
	case value == "" && key == memory.SettingTemperature:
		return "as the model's server likes"
	case value == "" && key == memory.SettingPaused:
		return answer.SettingOff
	case value == "":
		return "none"
	case alone && key == memory.SettingPersona:
		return printable(value)
	}
	return shortly(value)
}

// shownValue is how many characters of a value are shown in a line of several.
const shownValue = 200

// shortly is a value on one line.
func shortly(value string) string {
	value = oneLine(value)
	if utf8.RuneCountInString(value) > shownValue {
		value = string([]rune(value)[:shownValue]) + "…"
	}
	return value
}

// printAllSettings shows what is set anywhere in a server, or in all, of all keys or of one.
func (k *kept) printAllSettings(c *cobra.Command, in memory.GuildID, only memory.Setting) error {
	none := true
	for _, g := range k.guilds {
		if in != memory.Everywhere && in != g.ID {
			continue
		}
		places := append([]memory.Channel{{Guild: g.ID, Settings: g.Settings}}, g.Channels...)
		for _, at := range places {
			at.Guild = g.ID
			for _, key := range memory.Settings() {
				if at.Settings[key] == "" || only != "" && key != only {
					continue
				}
				none = false
				if err := k.printSetting(c.OutOrStdout(), at, key, only != ""); err != nil {
					return err
				}
			}
		}
	}
	if none {
		fmt.Fprintln(c.ErrOrStderr(), "Nothing is set: the configuration holds everywhere.")
	}
	return nil
}
