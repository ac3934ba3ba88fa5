package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (f *flags) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Make words, counts and vectors again from what was said",
		Long: "Makes again all that is made of what was said: the words by which it is found, counts, segments and vectors. The\n" +
			"log isn't touched. Hark may run meanwhile, and finds less until the words are done. Interrupted, it goes on where it\n" +
			"was when it is called again.",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			a, err := f.open(c.Context(), cfg)
			if err != nil {
				return err
			}
			defer a.close()
			total := 0
			show := f.progress("indexing words")
			err = a.store.Reindex(c.Context(), func(done, of int) {
				total = of
				show(done, of)
			})
			if err == nil {
				err = f.indexNow(c.Context(), a)
			}
			if c.Context().Err() != nil {
				return interrupted("interrupted; \"hark reindex\" goes on where it was")
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s indexed again.\n", plural(total, "message"))
			return err
		},
	}
}
