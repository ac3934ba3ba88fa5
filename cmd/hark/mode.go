package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/builder"
	"hark/internal/answer"
	"hark/memory"
)

// modeInferred is what the command line calls it that a mode is inferred from each question.
const modeInferred = "auto"

// modeNames are what a mode may be called on the command line, as a list to choose from.
func modeNames(more ...string) string {
	names := more
	for _, m := range builder.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

func (f *flags) modeCommand() *cobra.Command {
	var guild, channel string
	c := &cobra.Command{
		Use:   "mode [MODE]",
		Short: "Choose what questions in a channel are taken for, or show it",
		Long: "Hark tells by each question what kind of work it asks for, and gives the model the instructions for that: talk (general),\n" +
			"something new (creation), what was said before (search), a change of what is there (modification), or something\n" +
			"explained, compared or judged (analysis). A mode that is chosen for a channel holds for all questions there, and in its\n" +
			"threads that have none of their own; \"auto\" takes it back. Without MODE it is shown, without --channel those of all.",
		Example: "  hark mode search --channel archive\n  hark mode auto --channel archive",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%q takes one mode, so what is %q?", c.CommandPath(), args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && channel == "" {
				return errors.New("which channel's mode is it? Name the channel with --channel")
			}
			if len(args) == 1 && args[0] != modeInferred && !builder.Mode(args[0]).Known() {
				return fmt.Errorf("there is no mode %q: choose from %s", args[0], modeNames(modeInferred))
			}
			k, err := f.openKept(c.Context())
			if err != nil {
				return err
			}
			defer k.Close()
			in, err := k.guildCalled(guild)
			if err != nil {
				return err
			}
			if channel == "" {
				return k.printModes(c, in)
			}
			at, err := k.channelCalled(in, channel)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := k.chooseMode(c, at, args[0]); err != nil {
					return err
				}
			}
			return k.printMode(c.OutOrStdout(), at.Guild, at.ID)
		},
	}
	c.Flags().StringVar(&guild, "guild", "", "in the server of this `name` or id")
	c.Flags().StringVar(&channel, "channel", "", "of the channel of this `name` or id")
	return c
}

// chooseMode chooses a channel's mode, by its name here.
func (k *kept) chooseMode(c *cobra.Command, at memory.Channel, name string) error {
	if name == modeInferred {
		name = ""
	}
	if err := k.Apply(c.Context(), memory.ModeChosen{Guild: at.Guild, Channel: at.ID, Mode: name, At: now()}); err != nil {
		return err
	}
	g, err := k.Guild(c.Context(), at.Guild)
	if err != nil {
		return err
	}
	k.guilds = []*memory.Guild{g} // nothing is said of others
	if i := slices.IndexFunc(g.Channels, func(c memory.Channel) bool { return c.ID == at.ID }); i < 0 || g.Channels[i].Mode != name {
		return fmt.Errorf("the mode of %s wasn't changed: it was chosen at a later time than it is by this machine's clock", k.called(at))
	}
	return nil
}

// printMode says in which mode questions are answered in a channel.
func (k *kept) printMode(w io.Writer, guild memory.GuildID, id memory.ChannelID) error {
	g := k.guildOf(guild)
	i := slices.IndexFunc(g.Channels, func(c memory.Channel) bool { return c.ID == id })
	at := g.Channels[i]
	at.Guild = guild
	mode := g.ModeIn(id)
	switch {
	case mode == "":
		mode = "inferred from each question"
	case at.Mode == "":
		mode += ", as in its channel"
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", k.called(at), oneLine(mode))
	return err
}

// printModes says where a mode was chosen.
func (k *kept) printModes(c *cobra.Command, in memory.GuildID) error {
	none := true
	for _, g := range k.guilds {
		for _, at := range g.Channels {
			if at.Mode == "" || in != memory.Everywhere && in != g.ID {
				continue
			}
			none = false
			if err := k.printMode(c.OutOrStdout(), g.ID, at.ID); err != nil {
				return err
			}
		}
	}
	if none {
		fmt.Fprintln(c.ErrOrStderr(), "No channel has a mode of its own: it is inferred from each question.")
	}
	return nil
}

// modeReason says why a question is answered in a mode.
func modeReason(m answer.Mode) string {
	switch {
	case m.By == answer.ModeAsked:
		return "as asked"
	case m.By == answer.ModeChannel:
		return "chosen for the channel"
	case m.Why == "":
		return "nothing in the question speaks for another"
	case m.By == answer.ModeEarlier:
		return "of the question before it: " + oneLine(m.Why)
	}
	return oneLine(m.Why)
}
