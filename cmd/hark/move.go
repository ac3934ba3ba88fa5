package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/store"
	"hark/internal/terminal"
	"hark/memory/postgres"
)

func (f *flags) moveCommand() *cobra.Command {
	to := ""
	keyFile := ""
	unsealed := false
	c := &cobra.Command{
		Use:   "move",
		Short: "Copy the memory to another place, and seal it on the way",
		Long: "Copies all that is remembered to an empty directory or PostgreSQL database, compares both and says\n" +
			"what to set. With --key-file, the copy is sealed with the key in that file, and gets a data key of its own.\n" +
			"Stop Hark first. After an interruption, call it again: it begins again. What was forgotten stays forgotten.\n" +
			"The old memory isn't changed. If others can see your commands, leave the password out of the address:\n" +
			"PGPASSWORD or ~/.pgpass will do.",
		Example: "  hark move --to sealed-data --key-file hark.key\n" +
			"  hark move --to postgres://hark@db.example.org/hark\n" +
			"  HARK_STORE=postgres://hark@db.example.org/hark hark move --to new-data",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			from := store.Of(cfg)
			target, err := targetOf(cfg, to, keyFile)
			if err != nil {
				return err
			}
			if err := from.Check(c.Context()); err != nil {
				return err
			}
			if err := mayMove(c.Context(), from, target, unsealed); err != nil {
				return err
			}
			return f.move(c, from, target)
		},
	}
	c.Flags().StringVar(&to, "to", "", "move to `WHERE`: a directory, or the address of a PostgreSQL database")
	c.Flags().StringVar(&keyFile, "key-file", "", "`file` with a key, or a passphrase, that seals the copy")
	c.Flags().BoolVar(&unsealed, "unsealed", false, "don't seal the copy of a sealed memory")
	return c
}

// targetOf returns the place of a copy.
func targetOf(cfg config.Config, to, keyFile string) (store.Place, error) {
	switch {
	case postgres.IsURL(to):
		return store.Place{
			Dir:     cfg.Data,
			URL:     to,
			KeyFile: keyFile,
		}, nil
	case to == "" || strings.Contains(to, "://"):
		return store.Place{}, errors.New("move to where? Write --to DIRECTORY, or --to postgres://USER@HOST:5432/DATABASE")
	}
	return store.Place{Dir: to, KeyFile: keyFile}, nil
}

// mayMove fails if the copy of a sealed memory wouldn't be sealed, unless that is wanted.
func mayMove(ctx context.Context, from, to store.Place, unsealed bool) error {
	if unsealed && to.KeyFile != "" {
		return errors.New("--key-file seals the copy, and --unsealed doesn't: write one of them")
	}
	if unsealed || to.KeyFile != "" {
		return nil
	}
	sealed, err := from.Sealed(ctx)
	if err == nil && sealed.Key != "" {
		err = errors.New("the memory is sealed: write --key-file FILE with the key of the copy, or --unsealed if that " +
			"is to be stored in the clear")
	}
	return err
}

func (f *flags) move(c *cobra.Command, from, to store.Place) error {
	moved, err := from.Move(c.Context(), to, f.phases())
	if err != nil {
		return terminal.CutShort(c.Context(), err, "interrupted; the memory is where it was; \"hark move\" begins again")
	}
	fmt.Fprintf(c.OutOrStdout(), "Moved %s in %s of %s to %s; both are the same.\nBefore you start Hark, %s.\n"+
		"%s is unchanged. Delete it once all is well: what is forgotten from now on stays in it.\n",
		terminal.Plural(moved.Messages, "message"), terminal.Plural(moved.Channels, "channel"),
		terminal.Plural(moved.Guilds, "server"), to, whatToSet(to), oldMemory(from))
	return nil
}

// whatToSet says how Hark is configured for a place.
func whatToSet(to store.Place) string {
	set := fmt.Sprintf("set store, HARK_STORE or HARK_STORE_FILE to the address of %s", to)
	if to.IsFile() {
		set = fmt.Sprintf("set HARK_DATA to %s and leave store empty", to)
	}
	if to.KeyFile == "" {
		return set + ", and leave memory.key_file empty"
	}
	return set + ", and set memory.key_file to " + to.KeyFile
}

// oldMemory names what was copied, at the beginning of a sentence.
func oldMemory(from store.Place) string {
	if from.IsFile() {
		return "The file in " + from.String()
	}
	return "The" + strings.TrimPrefix(from.String(), "the")
}
