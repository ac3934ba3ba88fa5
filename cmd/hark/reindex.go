package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/setup"
	"hark/internal/store"
	"hark/internal/terminal"
	"hark/memory"
	"hark/memory/sqlstore"
)

func (f *flags) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild words, counts and vectors from the log",
		Long: "Rebuilds all indexes from the log: words, counts, segments and vectors. It doesn't change the log. Hark may run\n" +
			"meanwhile, and finds less until the words are done. After an interruption, call it again to go on.",
		Args: cli.NoArguments,
		PreRunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			return store.Of(cfg).Check(c.Context())
		},
		RunE: f.withApp(func(c *cobra.Command, a *setup.App, _ []string) error { return f.reindex(c, a) }),
	}
}

func (f *flags) reindex(c *cobra.Command, a *setup.App) error {
	missing, err := a.Store.Waiting(c.Context(), memory.Everywhere)
	if err != nil {
		return err
	}
	total := 0
	show := f.progress("indexing words")
	err = sqlstore.Reindex(c.Context(), a.Store, func(done, of int) {
		total = of
		show(done, of)
	})
	var byMeaning error
	if err == nil {
		byMeaning = f.indexNow(c.Context(), a)
	}
	switch {
	case (err != nil || byMeaning != nil) && c.Context().Err() != nil:
		return terminal.Interrupted("interrupted; \"hark reindex\" continues from there")
	case err != nil:
		return err
	case byMeaning != nil:
		return fmt.Errorf("the words are indexed, but not all vectors: %w; \"hark run\" or \"hark reindex\" continues",
			byMeaning)
	}
	if total == 0 && missing > 0 {
		fmt.Fprintln(c.OutOrStdout(), "The missing vectors are made; run \"hark reindex\" again to rebuild everything.")
	} else {
		fmt.Fprintf(c.OutOrStdout(), "%s indexed again.\n", terminal.Plural(total, "message"))
	}
	return nil
}
