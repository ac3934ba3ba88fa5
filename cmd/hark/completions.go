package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hark/builder"
	"hark/memory"
)

// completeFlags has shells offer the values of flags that are one of several: those of a fixed list, and the names of what is
// remembered.
func (f *flags) completeFlags(root *cobra.Command) {
	var modes []string
	for _, m := range builder.Modes() {
		modes = append(modes, string(m))
	}
	var kinds []string
	for _, k := range memory.SummaryKinds() {
		kinds = append(kinds, string(k))
	}
	channels := f.remembered(func(_ context.Context, k *kept) (names []string) {
		for _, g := range k.guilds {
			for _, c := range g.Channels {
				if c.Kind != memory.CategoryChannel {
					names = append(names, c.Name)
				}
			}
		}
		return names
	})
	people := f.remembered(func(ctx context.Context, k *kept) (names []string) {
		for _, g := range k.guilds {
			known, err := k.People(ctx, g.ID)
			if err != nil {
				return nil // nothing is offered then
			}
			for _, p := range known {
				names = append(names, p.DisplayName())
			}
		}
		return names
	})
	guilds := f.remembered(func(_ context.Context, k *kept) (names []string) {
		for _, g := range k.guilds {
			names = append(names, guildName(g))
		}
		return names
	})
	offered := map[string]cobra.CompletionFunc{
		"layout":  cobra.FixedCompletions([]string{string(builder.LayoutSections), string(builder.LayoutPlain), string(builder.LayoutChat)}, cobra.ShellCompDirectiveNoFileComp),
		"mode":    cobra.FixedCompletions(modes, cobra.ShellCompDirectiveNoFileComp),
		"kind":    cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp),
		"data":    cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		"channel": channels, "in": channels, "guild": guilds, "user": people, "from": people, "as": people,
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if offer := offered[flag.Name]; offer != nil {
				_ = c.RegisterFlagCompletionFunc(flag.Name, offer) // fails for flags that aren't there, or have one
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

// remembered offers names from the memory, if there is one.
func (f *flags) remembered(names func(context.Context, *kept) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		k, err := f.openKept(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer k.Close()
		var offered []string
		for _, n := range names(c.Context(), k) {
			if n = oneLine(n); n != "" && strings.HasPrefix(strings.ToLower(n), strings.ToLower(begun)) && !slices.Contains(offered, n) {
				offered = append(offered, n)
			}
		}
		slices.Sort(offered)
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}
