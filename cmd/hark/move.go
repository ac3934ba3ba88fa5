package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/store"
	"hark/internal/terminal"
	"hark/memory/postgres"
)

// toFile, as the target of a move, means the file in the data directory.
const toFile = "file"

func (f *flags) moveCommand() *cobra.Command {
	to := ""
	c := &cobra.Command{
		Use:   "move",
		Short: "Move the memory to a PostgreSQL database, or back to a file",
		Long: "Copies all that is remembered to an empty PostgreSQL database, or to the file in the data directory. It\n" +
			"compares both and says what to set. Stop Hark first. To go on after an interruption, call it again. What\n" +
			"was forgotten stays forgotten. The old memory isn't changed. If others can see your commands, leave the\n" +
			"password out of the address: PGPASSWORD or ~/.pgpass will do.",
		Example: "  hark move --to postgres://hark@db.example.org/hark\n" +
			"  HARK_STORE=postgres://hark@db.example.org/hark hark move --to file --data new-data",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			from, target := store.Of(cfg), store.Place{Dir: cfg.Data, KeyFile: cfg.Memory.KeyFile}
			switch {
			case postgres.IsURL(to):
				target.URL = to
			case to != toFile:
				return errors.New("move to where? Write --to postgres://USER@HOST:5432/DATABASE, or --to file")
			}
			if err := from.Check(c.Context()); err != nil {
				return err
			}
			return f.move(c, from, target)
		},
	}
	c.Flags().StringVar(&to, "to", "",
		"move to `WHERE`: the address of a PostgreSQL database, or \"file\" for the file in the data directory")
	return c
}

func (f *flags) move(c *cobra.Command, from, to store.Place) error {
	moved, err := from.Move(c.Context(), to, f.phases())
	if err != nil {
		return terminal.CutShort(c.Context(), err, "interrupted; the memory is where it was; \"hark move\" goes on")
	}
	next := fmt.Sprintf("set store, HARK_STORE or HARK_STORE_FILE to the address of %s", to)
	if to.IsFile() {
		next = fmt.Sprintf("leave store empty, with the data directory %s", to)
	}
	old := "The file in " + from.String()
	if !from.IsFile() {
		old = "The" + strings.TrimPrefix(from.String(), "the")
	}
	fmt.Fprintf(c.OutOrStdout(), "Moved %s in %s of %s to %s; both are the same.\nBefore you start Hark, %s.\n"+
		"%s is unchanged. Delete it once all is well: what is forgotten from now on stays in it.\n",
		terminal.Plural(moved.Messages, "message"), terminal.Plural(moved.Channels, "channel"),
		terminal.Plural(moved.Guilds, "server"), to, next, old)
	return nil
}
