package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/store"
	"hark/memory/seal"
)

func (f *flags) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "Make the key that seals the memory, or change it",
		Long: "The file that memory.key_file names holds a key, or a passphrase. The memory is stored encrypted with it. Without\n" +
			"it nobody can read the memory or its backups: keep copies of it, apart from those.",
		Args: cli.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "new",
		Short:   "Print a new key",
		Long:    "Prints a random key of 32 bytes in base64.",
		Example: "  (umask 077; hark key new > hark.key)",
		Args:    cli.NoArguments,
		Run:     func(c *cobra.Command, _ []string) { fmt.Fprintln(c.OutOrStdout(), seal.NewKey()) },
	}, f.rotateCommand())
	return c
}

func (f *flags) rotateCommand() *cobra.Command {
	to := ""
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Change the key of a sealed memory",
		Long: "Wraps the memory's data key by the key of another file, which takes a moment. Stop Hark first, and set\n" +
			"memory.key_file to that file afterwards. Backups keep the old key. Whoever had the old key and a copy of\n" +
			"the memory may have its data key: \"hark move\" to a new memory makes another.",
		Example: "  hark key rotate --to new.key",
		Args:    cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			if to == "" {
				return errors.New("rotate to which key? Write --to FILE")
			}
			place := store.Of(cfg)
			if err := place.Check(c.Context()); err != nil {
				return err
			}
			fingerprint, err := place.RotateKey(c.Context(), to)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "The memory is sealed with the key %s. Before you start Hark, set memory.key_file to %s. Keep "+
				"the old key as long as backups that are sealed with it.\n", fingerprint, to)
			return nil
		},
	}
	c.Flags().StringVar(&to, "to", "", "`file` with the new key, or a passphrase")
	return c
}
