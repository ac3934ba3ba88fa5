package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/portrait"
	"hark/memory"
	"hark/search"
)

// oneLore refuses anything but one name of lore.
func oneLore(c *cobra.Command, args []string) error {
	if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
		return fmt.Errorf("which lore? Write its name behind %q, in quotes", c.CommandPath())
	}
	return nil
}

func (f *flags) loreListCommand() *cobra.Command {
	var guild string
	asJSON := false
	c := &cobra.Command{
		Use:   "list",
		Short: "List the lore of a server, or of all",
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withLore(c, guild, func(k *kept, in memory.GuildID) error {
				all, err := k.allLore(c.Context(), in)
				if err != nil {
					return err
				}
				if asJSON {
					out := make([]portrait.Lore, len(all))
					for i, l := range all {
						out[i] = portrait.LoreOf(l)
					}
					return printJSON(c.OutOrStdout(), out)
				}
				if len(all) == 0 {
					fmt.Fprintf(c.ErrOrStderr(), "There is no lore yet: tell some with \"%s add\".\n", c.Parent().CommandPath())
				}
				for _, l := range all {
					if err := k.printLore(c.Context(), c.OutOrStdout(), l); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&guild, "guild", "", "only of the server of this `name` or id")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (f *flags) loreShowCommand() *cobra.Command {
	var guild string
	asJSON := false
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show lore with all its names and where it is from",
		Args:  oneLore,
		RunE: func(c *cobra.Command, args []string) error {
			return f.withLore(c, guild, func(k *kept, in memory.GuildID) error {
				l, err := k.loreCalled(c.Context(), in, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(c.OutOrStdout(), portrait.LoreOf(l))
				}
				if err := k.printLore(c.Context(), c.OutOrStdout(), l); err != nil {
					return err
				}
				return printDetails(c.OutOrStdout(), portrait.LoreOf(l))
			})
		},
	}
	c.Flags().StringVar(&guild, "guild", "", "in the server of this `name` or id")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printLore prints what lore says, of which server, and who told it when.
func (k *kept) printLore(ctx context.Context, w io.Writer, l memory.Lore) error {
	by := ""
	if l.By != 0 {
		people, err := k.peopleOf(ctx, l.Guild)
		if err != nil {
			return err
		}
		by = ", told by " + nameOf(l.By, []memory.Person{people[l.By]})
	}
	where := oneLine(guildName(k.guildOf(l.Guild)))
	if l.Channel != 0 {
		where = "#" + oneLine(k.channelName(l.Guild, l.Channel)) + " of " + where
	}
	_, err := fmt.Fprintf(w, "%s\n  in %s%s, %s\n%s\n", oneLine(l.Name), where, by, l.At.In(k.config.Answer.Location()).Format("2006-01-02 15:04"), indented(l.Text))
	return err
}

// printDetails prints the names that lore goes by, and its sources.
func printDetails(w io.Writer, l portrait.Lore) error {
	for _, names := range []struct {
		what string
		all  []string
	}{{"also", l.Aliases}, {"found by", l.Made}} {
		if len(names.all) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "  %s: %s\n", names.what, oneLine(strings.Join(names.all, ", "))); err != nil {
			return err
		}
	}
	for _, s := range l.Sources {
		from := s.Link
		if from == "" {
			from = fmt.Sprintf("message %s in channel %s", s.Message, s.Channel)
		}
		if _, err := fmt.Fprintf(w, "  from: %s\n", from); err != nil {
			return err
		}
	}
	return nil
}

// indented is a text as it is shown below its name.
func indented(text string) string {
	return "    " + strings.ReplaceAll(printable(text), "\n", "\n    ")
}

// printLoreHits prints lore that was found, as hits are printed.
func (a *app) printLoreHits(w io.Writer, hits []search.LoreHit) error {
	for _, h := range hits {
		if _, err := fmt.Fprintf(w, "%s %.2f  lore: %s\n%s\n        (%s)\n", a.builder.Labels().Relevance(h.Relevance), h.Relevance, oneLine(h.Lore.Name),
			strings.ReplaceAll(indented(h.Lore.Text), "    ", "        "), h.Why); err != nil {
			return err
		}
	}
	return nil
}

// allLore is the lore of a guild, or Everywhere, by guild and name.
func (k *kept) allLore(ctx context.Context, in memory.GuildID) ([]memory.Lore, error) {
	var all []memory.Lore
	for _, g := range k.guilds {
		if in != memory.Everywhere && in != g.ID {
			continue
		}
		lore, err := k.Lore(ctx, g.ID)
		if err != nil {
			return nil, err
		}
		lore = slices.Clone(lore)
		slices.SortStableFunc(lore, func(a, b memory.Lore) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
		all = append(all, lore...)
	}
	return all, nil
}

// loreCalled is the lore with that name, alias or id in a guild, or Everywhere. What has it for a name goes before what
// has it for an alias.
func (k *kept) loreCalled(ctx context.Context, in memory.GuildID, name string) (memory.Lore, error) {
	all, err := k.allLore(ctx, in)
	if err != nil {
		return memory.Lore{}, err
	}
	var names, lines []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	found := memory.LoreCalled(all, name)
	for _, l := range found {
		lines = append(lines, fmt.Sprintf("%d %s in %s", l.ID, oneLine(l.Name), oneLine(guildName(k.guildOf(l.Guild)))))
	}
	return only("lore", name, found, lines, names, "\"hark lore list\" shows what there is")
}
