package main

import (
	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/console"
	"hark/internal/setup"
)

func (f *flags) chatCommand() *cobra.Command {
	channel := ""
	as := ""
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk with Hark in the terminal, without Discord",
		Long: "Talk with Hark in the terminal, without Discord. It remembers the lines that you write. \"Name: text\" speaks as\n" +
			"somebody. Hark answers a line with @hark in it. A line that begins with / is a command: /recall, /why, /context,\n" +
			"/lore, /memory, /as; /help shows them. If lines are piped in, only the answers are printed.",
		Args: cli.NoArguments,
		RunE: f.withApp(func(c *cobra.Command, a *setup.App, _ []string) error {
			p, err := console.PlaceCalled(c.Context(), a, channel)
			if err != nil {
				return err
			}
			talk := &console.Talk{
				App:     a,
				Place:   p,
				Speaker: as,
				Stdin:   f.env.stdin,
				Stdout:  f.env.stdout,
				Out:     c.OutOrStdout(),
				Warn:    c.ErrOrStderr(),
				Env:     f.env.lookup,
				Aside:   f.env.interrupts,
				Recall: func(t *console.Talk) *cobra.Command {
					return f.within(t).searchCommand("recall QUESTION",
						"Show what is remembered about something, and why it was found")
				},
				Context: func(t *console.Talk) *cobra.Command {
					return f.within(t).contextCommand("context QUESTION",
						"Show the exact prompt that a question would make, its mode, and the tokens of each section")
				},
				Forget: func(t *console.Talk, c *cobra.Command, k *archive.Archive, user, guild string,
					yes bool) error {
					o := forgetting{
						flags: f.within(t),
						user:  user,
						guild: guild,
						yes:   yes,
					}
					return o.run(c, k)
				},
			}
			return talk.Run(c.Context())
		}),
	}
	c.Flags().StringVar(&channel, "channel", "", "talk in the channel of this `name` or id "+
		"(default: one of the terminal's own, from which all but direct messages is found)")
	c.Flags().StringVar(&as, "as", userName(f.env.lookup), "the `name` for lines without one")
	return c
}

// within returns the flags of commands that are used in a talk.
func (f *flags) within(t *console.Talk) *flags {
	env := *f.env
	env.stdout = t.Out
	env.stderr = t.Warn
	return &flags{env: &env, talk: t}
}

// userName returns the name of whoever is at the terminal.
func userName(lookup func(string) (string, bool)) string {
	for _, key := range []string{"USER", "USERNAME", "LOGNAME"} {
		if name, ok := lookup(key); ok && name != "" {
			return name
		}
	}
	return "operator"
}
