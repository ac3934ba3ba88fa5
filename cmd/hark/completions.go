package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/builder"
	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/terminal"
	"hark/memory"
)

// completeFlags registers the completions of flag values.
func (f *flags) completeFlags(root *cobra.Command) {
	fixed := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	channels := f.remembered(func(_ context.Context, _ *archive.Archive, g *memory.Guild) (names []string) {
		for _, c := range g.Channels {
			if c.Kind != memory.CategoryChannel {
				names = append(names, c.Name)
			}
		}
		return names
	})
	people := f.remembered(func(ctx context.Context, k *archive.Archive, g *memory.Guild) (names []string) {
		known, _ := k.People(ctx, g.ID) // on an error, offer nothing
		for _, p := range known {
			names = append(names, p.DisplayName())
		}
		return names
	})
	guilds := f.remembered(func(_ context.Context, _ *archive.Archive, g *memory.Guild) []string {
		return []string{archive.GuildName(g)}
	})
	offered := map[string]cobra.CompletionFunc{
		"layout": fixed(string(builder.LayoutSections), string(builder.LayoutPlain), string(builder.LayoutChat)),
		"mode":   fixed(cli.Strings(builder.Modes())...), "kind": fixed(cli.Strings(memory.SummaryKinds())...),
		"data":    cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"channel": channels, "in": channels, "guild": guilds, "user": people, "from": people, "as": people,
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if offer := offered[flag.Name]; offer != nil {
				_ = c.RegisterFlagCompletionFunc(flag.Name, offer) // fails if it has one already
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	if c, _, err := root.Find([]string{"backfill"}); err == nil {
		c.ValidArgsFunction = channels
	}
}

// remembered offers names from each server of the memory.
func (f *flags) remembered(names func(context.Context, *archive.Archive, *memory.Guild) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, begun string) (offered []cobra.Completion, _ cobra.ShellCompDirective) {
		k, err := f.openArchive(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer k.Close()
		for _, g := range k.Servers {
			for _, n := range names(c.Context(), k, g) {
				n = terminal.OneLine(n)
				if n != "" && strings.HasPrefix(strings.ToLower(n), strings.ToLower(begun)) {
					offered = append(offered, n)
				}
			}
		}
		slices.Sort(offered)
		return slices.Compact(offered), cobra.ShellCompDirectiveNoFileComp
	}
}
