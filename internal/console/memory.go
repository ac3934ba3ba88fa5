package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/terminal"
	"hark/memory"
)

// longestFact bounds a fact, in characters: as in Discord.
const longestFact = 500

var errElsewhere = errors.New("this is a Discord channel, and nothing can be added to it from here: say it in Discord")

func (t *Talk) memoryCommand() *cobra.Command {
	yes := false
	showMe := t.with(t.showMe)
	removing := &cobra.Command{
		Use:   "remove NUMBER",
		Short: "Remove a fact about you, by its number in /memory show",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(c *cobra.Command, args []string) error { return t.removeFact(c, strings.Join(args, " "), yes) },
	}
	forgetting := &cobra.Command{
		Use:   "forget",
		Short: "Have me forget all that you wrote here, and what I was told about you",
		Args:  cli.NoArguments,
		RunE:  t.with(func(c *cobra.Command, k *archive.Archive, _ []string) error { return t.forgetMe(c, k, yes) }),
	}
	for _, c := range []*cobra.Command{removing, forgetting} {
		c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	}
	c := cli.ParentCommand("memory", "What I know about you: show it, add to it, take it back", "",
		&cobra.Command{
			Use:   "show",
			Short: "Show all that I know about you here",
			Args:  cli.NoArguments,
			RunE:  showMe,
		},
		&cobra.Command{
			Use:   "add TEXT",
			Short: "Tell me something about yourself",
			Args:  cobra.ArbitraryArgs,
			RunE:  func(c *cobra.Command, args []string) error { return t.addFact(c, strings.Join(args, " ")) },
		},
		removing, forgetting)
	c.RunE = showMe
	return c
}

// me returns the speaker; somebody unknown has only id and name.
func (t *Talk) me(ctx context.Context) (memory.Person, error) {
	p, _, err := t.Place.Person(ctx, t.App.Store, t.Speaker)
	return p, err
}

func (t *Talk) showMe(c *cobra.Command, k *archive.Archive, _ []string) error {
	ctx := c.Context()
	w := c.OutOrStdout()
	p, err := t.me(ctx)
	if err != nil {
		return err
	}
	out, err := memory.HasOptedOut(ctx, k, p.Guild, p.ID)
	if err != nil {
		return err
	}
	if out {
		fmt.Fprintf(w, "%s has opted out: I keep nothing of theirs.\n", terminal.OneLine(t.Speaker))
		return nil
	}
	var scope memory.Scope
	for _, c := range k.GuildByID(p.Guild).Channels {
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
			at.Last.In(t.App.Config.Answer.Location()).Format(cli.MinuteLayout))
	}
	fmt.Fprintf(w, "What I know about %s here\n  names: %s\n  messages: %s\n", terminal.OneLine(t.Speaker),
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

func (t *Talk) addFact(c *cobra.Command, text string) error {
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
	fact := memory.Fact{
		ID:   int64(t.nextID()),
		Text: text,
		By:   p.ID,
	}
	if err := t.App.Store.Apply(c.Context(),
		memory.PersonSeen{Person: memory.Person{
			ID:    p.ID,
			Guild: p.Guild,
			Name:  t.Speaker,
		}}, memory.FactTold{
			Guild: p.Guild,
			User:  p.ID,
			Fact:  fact,
		}); err != nil {
		return err
	}
	p, err = t.me(c.Context())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Facts, func(f memory.Fact) bool { return f.ID == fact.ID }) {
		return fmt.Errorf("that wasn't saved: %s has opted out, or it was forgotten already",
			terminal.OneLine(t.Speaker))
	}
	fmt.Fprintln(c.OutOrStdout(), "Saved. /memory show lists it, /memory remove removes it.")
	return nil
}

func (t *Talk) removeFact(c *cobra.Command, which string, yes bool) error {
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
		return fmt.Errorf("which one? Write its number in /memory show, from 1 to %d, after /memory remove",
			len(p.Facts))
	}
	gone := p.Facts[i-1]
	question := fmt.Sprintf("Forget %q for good?", terminal.OneLine(gone.Text))
	if err := t.Confirm(c.Context(), yes, "", question); err != nil {
		return err
	}
	if err := t.forgets(c.Context(), memory.FactGone{
		Guild: p.Guild,
		User:  p.ID,
		Fact:  gone.ID,
	}); err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), "Forgotten, with my answers that used it.")
	return nil
}

func (t *Talk) forgetMe(c *cobra.Command, k *archive.Archive, yes bool) error {
	p, err := t.me(c.Context())
	if err != nil {
		return err
	}
	return t.Forget(t, c, k, p.ID.String(), cmp.Or(p.Guild, memory.LocalGuild).String(), yes)
}

// tells makes the speaker l's author, so that it is forgotten with what they wrote.
func (t *Talk) tells(ctx context.Context, l *memory.Lore) error {
	if !t.logs() {
		return errElsewhere
	}
	p, err := t.me(ctx)
	if err != nil {
		return err
	}
	l.Guild = t.Place.Guild
	l.Channel = t.Place.Channel
	l.By = p.ID
	return t.App.Store.Apply(ctx, t.present(),
		memory.PersonSeen{Person: memory.Person{
			ID:    p.ID,
			Guild: p.Guild,
			Name:  t.Speaker,
		}})
}

func (t *Talk) present() memory.ChannelSeen {
	return memory.ChannelSeen{Channel: memory.Channel{
		ID:    t.Place.Channel,
		Guild: t.Place.Guild,
		Kind:  memory.LocalChannel,
		Name:  t.Place.Name,
	}}
}
