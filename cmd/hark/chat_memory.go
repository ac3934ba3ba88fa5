package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/terminal"
	"hark/memory"
)

// longestFact bounds a fact, in characters: as in Discord.
const longestFact = 500

var errElsewhere = errors.New("this is a Discord channel, and nothing can be added to it from here: say it in Discord")

func (t *conversation) memoryCommand(f *flags) *cobra.Command {
	yes, showMe := false, t.with(t.showMe)
	removing := &cobra.Command{
		Use: "remove NUMBER", Short: "Remove a fact about you, by its number in /memory show", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return t.removeFact(c, f, strings.Join(args, " "), yes) },
	}
	forgetting := &cobra.Command{
		Use: "forget", Short: "Have me forget all that you wrote here, and what I was told about you",
		Args: noArguments,
		RunE: t.with(func(c *cobra.Command, k *archive, _ []string) error { return t.forgetMe(c, k, f, yes) }),
	}
	for _, c := range []*cobra.Command{removing, forgetting} {
		c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	}
	c := parentCommand("memory", "What I know about you: show it, add to it, take it back", "",
		&cobra.Command{Use: "show", Short: "Show all that I know about you here", Args: noArguments, RunE: showMe},
		&cobra.Command{Use: "add TEXT", Short: "Tell me something about yourself", Args: cobra.ArbitraryArgs,
			RunE: func(c *cobra.Command, args []string) error { return t.addFact(c, strings.Join(args, " ")) }},
		removing, forgetting)
	c.RunE = showMe
	return c
}

// me returns the speaker. Somebody unknown has only an id and a name.
func (t *conversation) me(ctx context.Context) (memory.Person, error) {
	p, _, err := t.app.personCalled(ctx, t.place.guild, t.speaker)
	return p, err
}

func (t *conversation) showMe(c *cobra.Command, k *archive, _ []string) error {
	ctx, w := c.Context(), c.OutOrStdout()
	p, err := t.me(ctx)
	if err != nil {
		return err
	}
	if out, err := k.OptedOut(ctx, p.Guild, p.ID); err != nil {
		return err
	} else if out {
		fmt.Fprintf(w, "%s has opted out: I keep nothing of theirs.\n", terminal.OneLine(t.speaker))
		return nil
	}
	var scope memory.Scope
	for _, c := range k.guild(p.Guild).Channels {
		scope.Channels = append(scope.Channels, c.ID)
	}
	wrote, err := k.Presence(ctx, scope, []memory.UserID{p.ID})
	if err != nil {
		return err
	}
	var names []string
	for _, n := range []string{p.Nick, p.Name, p.Username} {
		if n != "" && !slices.Contains(names, terminal.OneLine(n)) {
			names = append(names, terminal.OneLine(n))
		}
	}
	messages := "none"
	if at := wrote[p.ID]; at.Messages > 0 {
		messages = fmt.Sprintf("%d, the last on %s", at.Messages,
			at.Last.In(t.app.config.Answer.Location()).Format(minuteLayout))
	}
	fmt.Fprintf(w, "What I know about %s here\n  names: %s\n  messages: %s\n", terminal.OneLine(t.speaker),
		strings.Join(names, ", "), messages)
	for i, f := range p.Facts {
		text := terminal.OneLine(f.Text)
		if f.Alias {
			text = "also called " + text
		}
		if f.Message != 0 {
			text += " (learned from what was said)"
		}
		fmt.Fprintf(w, "  %d. %s\n", i+1, text)
	}
	return nil
}

func (t *conversation) addFact(c *cobra.Command, text string) error {
	text = strings.Join(strings.Fields(memory.Clean(text)), " ")
	p, err := t.me(c.Context())
	switch {
	case err != nil:
		return err
	case !t.logs():
		return errElsewhere
	case text == "":
		return errors.New("what shall I know about you? Write it after /memory add")
	case len([]rune(text)) > longestFact:
		return fmt.Errorf("that is longer than %d characters: tell me less at once", longestFact)
	case slices.ContainsFunc(p.Facts, func(f memory.Fact) bool { return f.Text == text && !f.Alias }):
		return errors.New("I know that already")
	}
	fact := memory.Fact{ID: int64(t.nextID()), Text: text, By: p.ID}
	if err := t.app.store.Apply(c.Context(),
		memory.PersonSeen{Person: memory.Person{ID: p.ID, Guild: p.Guild,
			Name: t.speaker}}, memory.FactTold{Guild: p.Guild, User: p.ID, Fact: fact}); err != nil {
		return err
	}
	if p, err = t.me(c.Context()); err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Facts, func(f memory.Fact) bool { return f.ID == fact.ID }) {
		return fmt.Errorf("that wasn't saved: %s has opted out, or it was forgotten already", terminal.OneLine(t.speaker))
	}
	fmt.Fprintln(c.OutOrStdout(), "Saved. /memory show lists it, /memory remove removes it.")
	return nil
}

func (t *conversation) removeFact(c *cobra.Command, f *flags, which string, yes bool) error {
	p, err := t.me(c.Context())
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(strings.TrimSpace(which))
	if err != nil {
		i = 1 + slices.IndexFunc(p.Facts, func(f memory.Fact) bool { return strings.EqualFold(f.Text, which) })
	}
	switch {
	case len(p.Facts) == 0:
		return errors.New("I know no facts about you, so there is nothing to remove")
	case i < 1 || i > len(p.Facts):
		return fmt.Errorf("which one? Write its number in /memory show, from 1 to %d, after /memory remove", len(p.Facts))
	}
	gone := p.Facts[i-1]
	if err := f.confirm(c.Context(), yes, "", fmt.Sprintf("Forget %q for good?", terminal.OneLine(gone.Text))); err != nil {
		return err
	}
	if err := t.forgets(c.Context(), memory.FactGone{Guild: p.Guild, User: p.ID, Fact: gone.ID}); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), "Forgotten, with my answers that used it.")
	return nil
}

// forgetMe forgets what the speaker wrote, and what is known of them.
func (t *conversation) forgetMe(c *cobra.Command, k *archive, f *flags, yes bool) error {
	p, err := t.me(c.Context())
	if err != nil {
		return err
	}
	o := forgetting{flags: f, user: p.ID.String(), guild: cmp.Or(p.Guild, memory.LocalGuild).String(), yes: yes}
	return o.run(c, k)
}

// tells returns lore as told by the speaker: it is forgotten with what they wrote.
func (t *conversation) tells(ctx context.Context, l *memory.Lore) error {
	if !t.logs() {
		return errElsewhere
	}
	p, err := t.me(ctx)
	if err != nil {
		return err
	}
	l.Guild, l.Channel, l.By = t.place.guild, t.place.channel, p.ID
	return t.app.store.Apply(ctx, t.present(),
		memory.PersonSeen{Person: memory.Person{ID: p.ID, Guild: p.Guild, Name: t.speaker}})
}

// present returns the talk's channel.
func (t *conversation) present() memory.ChannelSeen {
	return memory.ChannelSeen{Channel: memory.Channel{ID: t.place.channel, Guild: t.place.guild,
		Kind: memory.LocalChannel, Name: t.place.name}}
}
