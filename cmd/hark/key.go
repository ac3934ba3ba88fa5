package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/store"
	"hark/internal/terminal"
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
	to, data := "", false
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Seal the memory with another key",
		Long: "With --to, seals each server's data key with the key of another file, which takes a moment. Stop Hark first, and\n" +
			"set memory.key_file to that file afterwards. Backups keep the old key. With --data, gives each server a new data\n" +
			"key and encrypts everything anew, also while Hark runs. To go on after an interruption, call it again. The data\n" +
			"directory is that of the configuration, or HARK_DATA.",
		Example: "  hark key rotate --to new.key\n  hark key rotate --data",
		Args:    cli.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			if to == "" && !data {
				return errors.New("rotate what? Write --to FILE for another key, or --data to encrypt everything anew")
			}
			place := store.Of(cfg)
			if err := place.Check(c.Context()); err != nil {
				return err
			}
			if data {
				if err := place.RotateData(c.Context(), f.progress("encrypting anew")); err != nil {
					return terminal.CutShort(c.Context(), err, "interrupted; the memory can be used, and \"hark key rotate --data\" or "+
						"\"hark run\" goes on")
				}
				fmt.Fprintln(c.OutOrStdout(), "Everything is encrypted anew, and the old data keys are destroyed.")
			}
			if to == "" {
				return nil
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
	c.Flags().BoolVar(&data, "data", false, "encrypt everything anew")
	return c
}
