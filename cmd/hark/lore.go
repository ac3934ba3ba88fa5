package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/memory"
)

// loreChange is what "hark lore add" and "hark lore edit" were told.
type loreChange struct {
	*flags
	guild, channel, name, text string
	aliases, without, messages []string
}

func (f *flags) loreCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lore",
		Short: "Tell a server's lore: what Hark is to remember under a name",
		Long: "Lore is something that a server told Hark to remember: a name, a text, and other names. Hark finds it when a question\n" +
			"names it (\"Project X\", \"the X project\", \"project-x\", \"PX\") or asks for what it says, and puts it into the answer. It is\n" +
			"told everywhere in its server, unless it was told in a channel or is from messages: then only where these may be read.",
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(f.loreAddCommand(), f.loreListCommand(), f.loreShowCommand(), f.loreEditCommand(), f.loreRemoveCommand())
	return c
}

// withLore gives do the memory, and the server that lore is looked for in.
func (f *flags) withLore(c *cobra.Command, guild string, do func(k *kept, in memory.GuildID) error) error {
	if f.talk != nil {
		k, err := newKept(c.Context(), f.talk.app.store, f.talk.app.config)
		if err != nil {
			return err
		}
		in := f.talk.place.guild
		if f.talk.place.everywhere {
			in = memory.Everywhere
		}
		if guild != "" {
			if in, err = k.guildCalled(guild); err != nil {
				return err
			}
		}
		return do(k, in)
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
	return do(k, in)
}

func (f *flags) loreAddCommand() *cobra.Command {
	o := loreChange{flags: f}
	c := &cobra.Command{
		Use:   "add NAME TEXT",
		Short: "Have something remembered under a name",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("write a name and a text behind %q, each in quotes", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.name, o.text = args[0], args[1]
			return f.withLore(c, o.guild, func(k *kept, in memory.GuildID) error { return o.add(c, k, in) })
		},
	}
	if f.talk == nil { // there it is told where the talk is
		c.Flags().StringVar(&o.guild, "guild", "", "in the server of this `name` or id (default: the only one)")
		c.Flags().StringVar(&o.channel, "channel", "", "to be told only where the channel of this `name` or id may be read")
		c.Flags().StringSliceVar(&o.messages, "message", nil, "from the messages with these `ids`, of the channel, with which it goes")
		c.Example = "  hark lore add \"Project X\" \"The new website. Due on Friday.\" --alias website\n" +
			"  hark lore add \"Summer fair\" \"Moved to August.\" --channel staff --message 1234567890123456789"
	}
	c.Flags().StringArrayVar(&o.aliases, "alias", nil, "another `name` that it goes by; may be repeated")
	return c
}

func (o *loreChange) add(c *cobra.Command, k *kept, in memory.GuildID) error {
	l := memory.Lore{Name: o.name, Text: o.text, Own: o.aliases, At: now()}
	l.ID = int64(memory.FirstMessageID(l.At)) | rand.Int64N(1<<22)
	var err error
	if o.talk != nil {
		err = o.talk.tells(c.Context(), &l)
	} else {
		err = o.place(c.Context(), k, in, &l)
	}
	if err != nil {
		return err
	}
	l, err = l.Checked()
	if err != nil {
		return err
	}
	if err := k.onlyOne(c.Context(), l); err != nil {
		return err
	}
	return k.tellLore(c, l, "Remembered")
}

// onlyOne refuses a name that other lore of the server has.
func (k *kept) onlyOne(ctx context.Context, l memory.Lore) error {
	all, err := k.Lore(ctx, l.Guild)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(old memory.Lore) bool { return old.ID != l.ID && strings.EqualFold(old.Name, l.Name) }) {
		return fmt.Errorf("%s has lore called %q already: change that with \"hark lore edit\"", oneLine(guildName(k.guildOf(l.Guild))), l.Name)
	}
	return nil
}

// place finds out where lore belongs.
func (o *loreChange) place(ctx context.Context, k *kept, in memory.GuildID, l *memory.Lore) error {
	if o.channel == "" {
		if len(o.messages) > 0 {
			return errors.New("--message needs --channel: in which channel are they?")
		}
		var err error
		l.Guild, err = k.oneGuild(in)
		return err
	}
	channel, err := k.channelCalled(in, o.channel)
	if err != nil {
		return err
	}
	l.Guild, l.Channel = channel.Guild, channel.ID
	ids, err := messageIDs(ctx, k, channel.ID, o.messages)
	if err != nil {
		return err
	}
	there, err := k.Messages(ctx, channel.ID, ids)
	if err != nil {
		return err
	}
	if len(there) < len(ids) {
		return fmt.Errorf("of the messages named, #%s has %d", oneLine(k.channelName(channel.Guild, channel.ID)), len(there))
	}
	for _, m := range there {
		l.Sources = append(l.Sources, memory.Spot{Channel: m.Channel, Message: m.ID})
	}
	return nil
}

// oneGuild is the server that lore is told to: in, or the only one there is, direct messages aside.
func (k *kept) oneGuild(in memory.GuildID) (memory.GuildID, error) {
	if in == memory.DirectGuild {
		return 0, errors.New("direct messages have no lore: it would be told to everybody who writes to Hark")
	}
	if in != memory.Everywhere {
		return in, nil
	}
	var ids []memory.GuildID
	var names []string
	for _, g := range k.guilds {
		if g.ID != memory.DirectGuild {
			ids, names = append(ids, g.ID), append(names, fmt.Sprintf("%q", oneLine(guildName(g))))
		}
	}
	switch len(ids) {
	case 0:
		return 0, errors.New("no server is known yet whose lore it could be")
	case 1:
		return ids[0], nil
	}
	return 0, fmt.Errorf("which server's lore is it? Say it with --guild: %s", strings.Join(names, ", "))
}

// tellLore keeps lore and says so, if it was kept.
func (k *kept) tellLore(c *cobra.Command, l memory.Lore, done string) error {
	if err := k.Apply(c.Context(), memory.LoreTold{Lore: l}); err != nil {
		return err
	}
	all, err := k.Lore(c.Context(), l.Guild)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(kept memory.Lore) bool { return kept.ID == l.ID && kept.At.Equal(l.At) }) {
		return fmt.Errorf("%q wasn't kept: whoever told it has opted out, or what it is from is forgotten", l.Name)
	}
	if err := k.EmptyLog(c.Context()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s, in %s.\n", done, oneLine(l.Name), oneLine(guildName(k.guildOf(l.Guild))))
	return err
}

func (f *flags) loreEditCommand() *cobra.Command {
	o := loreChange{flags: f}
	c := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change lore; where it may be told, and what it is from, stays",
		Example: "  hark lore edit \"Project X\" --text \"The new website. Done.\"\n" +
			"  hark lore edit PX --name \"Project Y\" --alias PY --drop-alias website",
		Args: oneLore,
		RunE: func(c *cobra.Command, args []string) error {
			if o.name == "" && o.text == "" && len(o.aliases)+len(o.without) == 0 {
				return errors.New("what is to be changed? Say it with --name, --text, --alias or --drop-alias")
			}
			return f.withLore(c, o.guild, func(k *kept, in memory.GuildID) error { return o.edit(c, k, in, args[0]) })
		},
	}
	c.Flags().StringVar(&o.guild, "guild", "", "in the server of this `name` or id")
	c.Flags().StringVar(&o.name, "name", "", "call it by this `name`")
	c.Flags().StringVar(&o.text, "text", "", "have it say this `text`")
	c.Flags().StringArrayVar(&o.aliases, "alias", nil, "another `name` that it goes by as well; may be repeated")
	c.Flags().StringArrayVar(&o.without, "drop-alias", nil, "a `name` given by hand that it goes by no longer; may be repeated")
	return c
}

func (o *loreChange) edit(c *cobra.Command, k *kept, in memory.GuildID, name string) error {
	l, err := k.loreCalled(c.Context(), in, name)
	if err != nil {
		return err
	}
	if o.name != "" {
		l.Name = o.name
	}
	if o.text != "" {
		l.Text = o.text
	}
	own := slices.Clone(l.Own)
	for _, w := range o.without {
		n := slices.IndexFunc(own, func(alias string) bool { return strings.EqualFold(alias, w) })
		if n < 0 {
			return fmt.Errorf("%q has no alias %q that was given by hand", l.Name, w)
		}
		own = slices.Delete(own, n, n+1)
	}
	l.Own = append(own, o.aliases...)
	if at := now(); at.After(l.At) {
		l.At = at
	} else {
		l.At = l.At.Add(time.Millisecond)
	}
	if l, err = l.Checked(); err != nil {
		return err
	}
	if err := k.onlyOne(c.Context(), l); err != nil {
		return err
	}
	return k.tellLore(c, l, "Changed")
}

func (f *flags) loreRemoveCommand() *cobra.Command {
	var guild string
	yes := false
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget lore for good, with Hark's answers that used it",
		Args:  oneLore,
		RunE: func(c *cobra.Command, args []string) error {
			return f.withLore(c, guild, func(k *kept, in memory.GuildID) error {
				l, err := k.loreCalled(c.Context(), in, args[0])
				if err != nil {
					return err
				}
				if !yes {
					fmt.Fprintf(c.ErrOrStderr(), "This forgets what %s remembers as %q:\n%s\n", oneLine(guildName(k.guildOf(l.Guild))), oneLine(l.Name), indented(l.Text))
				}
				if err := f.confirm(c.Context(), yes, "Forget it for good?"); err != nil {
					return err
				}
				if err := k.Apply(c.Context(), memory.LoreGone{Guild: l.Guild, ID: l.ID}); err != nil {
					return err
				}
				if err := k.EmptyLog(c.Context()); err != nil {
					return err
				}
				_, err = fmt.Fprintf(c.OutOrStdout(), "Forgotten: %s.\nOut of Hark's reach: %s.\n", oneLine(l.Name), strings.Join(outOfReach(k), "; "))
				return err
			})
		},
	}
	c.Flags().StringVar(&guild, "guild", "", "in the server of this `name` or id")
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return c
}

// now is the time, as exact as it is kept.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
