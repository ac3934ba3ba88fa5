package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/answer"
	"hark/memory"
)

// The values of memory.SettingAnswers.
const (
	answersOn  = "on"
	answersOff = "off"
)

// checked is a value as it is kept, "" for the default; the error says what there can be.
func (k *kept) checked(at memory.Channel, key memory.Setting, value string) (string, error) {
	switch {
	case key != memory.SettingAnswers && key != memory.SettingRetention:
		return choices(k.config).Check(key, value)
	case value == answer.SettingDefault:
		return "", nil
	case key == memory.SettingAnswers:
		if value != answersOn && value != answersOff {
			return "", fmt.Errorf("%s are %s, %s or %s, not %q", key, answersOn, answersOff, answer.SettingDefault, value)
		}
		return value, nil
	case at.Kind.IsThread():
		return "", errors.New("a thread is remembered as long as its channel: set it for that")
	}
	keep, err := memory.ParseRetention(value)
	return memory.FormatRetention(keep), err
}

// confirmRetention asks whether what is older than a retention is to go, where that is shorter than what holds.
func (f *flags) confirmRetention(c *cobra.Command, k *kept, flags settingFlags, at memory.Channel, value string) error {
	value, err := k.checked(at, memory.SettingRetention, value)
	if err != nil {
		return err
	}
	less, err := k.guildOf(at.Guild).Shortens(c.Context(), k, at.ID, value, k.config.Memory.Retention.Duration, time.Now())
	if err != nil || less == nil {
		return err
	}
	if !flags.yes {
		fmt.Fprintf(c.ErrOrStderr(), "This forgets what was said before %s, and from then on whatever gets too old: now %s in %s.\n",
			less.Since.In(k.config.Answer.Location()).Format("2006-01-02 15:04 MST"), plural(less.Goes.Messages, "message"), plural(less.Goes.Channels, "channel"))
	}
	if err := f.confirm(c.Context(), flags.yes, "Remember it no longer than that?"); err != nil {
		return err
	}
	return k.Apply(c.Context(), memory.AgreeToExpiring(at.Guild, time.Now()))
}

// keeping says what holds at a place of a setting that isn't about how answers are made, and why.
func (k *kept) keeping(g *memory.Guild, at memory.Channel, key memory.Setting) string {
	if key == memory.SettingAnswers {
		switch value, from := g.Setting(at.ID, key); {
		case value == "":
			return answersOn + " (as configured)"
		default:
			return shortly(value) + " (" + setFor(at, from) + ")"
		}
	}
	keep, from, set := g.Retention(at.ID, k.config.Memory.Retention.Duration)
	why := "as configured"
	if set {
		why = setFor(at, from)
	}
	return memory.FormatRetention(keep) + " (" + why + ")"
}

// setFor says where something was set that holds at a place.
func setFor(at memory.Channel, from memory.ChannelID) string {
	switch {
	case from == 0:
		return "set for the server"
	case from == at.ID:
		return "set for the channel"
	}
	return "set for its channel"
}
