package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/store"
	"hark/internal/terminal"
	"hark/memory"
	"hark/memory/sqlite"
)

// stdStream, as a file name, means standard output or input, for containers.
const stdStream = "-"

var oneFile = cli.ExactArgs(1, "which file? Write its name after %q")

// What to do instead with a PostgreSQL database.
const (
	howToBackUp = "back it up with pg_dump, or with base backups and archived WAL " +
		"(https://www.postgresql.org/docs/current/backup.html), or one server with --guild"
	howToRepair = "repair it with PostgreSQL's tools, or restore it with pg_restore, or from its base backup and archived " +
		"WAL (https://www.postgresql.org/docs/current/backup.html)"
)

type backupJSON struct {
	File     string    `json:"file"`
	Bytes    int64     `json:"bytes"`
	Guilds   int       `json:"guilds"`
	Channels int       `json:"channels"`
	Messages int       `json:"messages"`
	Newest   time.Time `json:"newest,omitzero"` // when the newest message was sent
	Key      string    `json:"key,omitempty"`   // the fingerprint of the key that it is sealed with
}

func (f *flags) backupCommand() *cobra.Command {
	var force, asJSON bool
	guild := ""
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the memory to a file, also while Hark runs",
		Long: "Copies the whole memory to a file, as it is at one moment, also while Hark runs. The file appears when it is\n" +
			"complete, and replaces an older backup. It holds all text, in the clear unless the memory is sealed, and what is\n" +
			"forgotten later stays in it: keep it private, and no longer than you need it. With - for the file, it goes to standard output:\n" +
			"  docker compose exec -T hark /hark backup - > hark-backup.db\n" +
			"A PostgreSQL database has backups of its own, pg_dump for one. From it, --guild copies one server, and \"hark\n" +
			"restore\" puts that back.",
		Args: oneFile,
		PreRunE: func(_ *cobra.Command, args []string) error {
			if args[0] == stdStream && asJSON {
				return errors.New("the backup goes to standard output: leave out --json, or name a file")
			}
			cfg, err := f.load()
			if err != nil {
				return err
			}
			if guild == "" {
				return onlyFile(cfg, howToBackUp)
			}
			if store.Of(cfg).IsFile() {
				return errors.New("a file is backed up whole: leave out --guild")
			}
			return nil
		},
		RunE: f.withArchive(func(c *cobra.Command, k *archive.Archive, args []string) error {
			of, err := k.FindGuild(guild)
			if err != nil {
				return err
			}
			if args[0] == stdStream {
				info, err := f.streamBackup(c, k, of)
				if err == nil {
					fmt.Fprintf(c.ErrOrStderr(), "Backed up %s, %s.\n%s\n", terminal.Bytes(info.Size),
						describeBackup(info), warnPrivate(info))
				}
				return err
			}
			info, err := f.backUp(c.Context(), k, of, args[0], force)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(c.OutOrStdout(), backupJSON{args[0], info.Size, info.Guilds, info.Channels,
					info.Messages, info.Newest, info.Key})
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s, %s\n%s\n", args[0], terminal.Bytes(info.Size), describeBackup(info),
				warnPrivate(info))
			return nil
		}),
	}
	c.Flags().StringVar(&guild, "guild", "", "copy the server of this `name` or id from a PostgreSQL database")
	c.Flags().BoolVar(&force, "force", false, "replace a file that isn't a backup of Hark")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// warnPrivate says how to treat a backup.
func warnPrivate(info sqlite.BackupInfo) string {
	if info.Key != "" {
		return fmt.Sprintf("It is sealed with the key %s: keep that apart from it, and as long. What is forgotten later stays "+
			"in it.", info.Key)
	}
	return "It holds all text in the clear, and what is forgotten later stays in it: keep it private."
}

// backUp copies the memory to a file: a guild's, or all of it if of is memory.Everywhere.
func (f *flags) backUp(ctx context.Context, k *archive.Archive, of memory.GuildID, path string,
	force bool) (info sqlite.BackupInfo, err error) {
	if of == memory.Everywhere {
		bar := terminal.Bar(f.env.stderr, -1, "backing up", true)
		defer bar.Close()
		info, err = sqlite.Backup(ctx, k.Config.Data, path, force, func(done, total int64) {
			bar.ChangeMax64(max(total, 1))
			_ = bar.Set64(done)
		})
	} else {
		info, err = store.Of(k.Config).BackUpGuild(ctx, of, path, force, f.phases())
	}
	return info, terminal.CutShort(ctx, err, "interrupted; no backup was made, and an earlier one is unchanged")
}

func (f *flags) streamBackup(c *cobra.Command, k *archive.Archive,
	of memory.GuildID) (info sqlite.BackupInfo, err error) {
	if _, is := terminal.Of(f.env.stdout); is {
		return info, errors.New("a backup can't be written to a terminal: redirect it with \"> FILE\"")
	}
	return archive.StreamBackup(k.Config.Data, c.OutOrStdout(), func(path string) (sqlite.BackupInfo, error) {
		return f.backUp(c.Context(), k, of, path, true)
	})
}

func describeBackup(info sqlite.BackupInfo) string {
	text := fmt.Sprintf("%s in %s of %s", terminal.Plural(info.Messages, "message"),
		terminal.Plural(info.Channels, "channel"), terminal.Plural(info.Guilds, "server"))
	if !info.Newest.IsZero() {
		text += ", the newest of " + info.Newest.Format(cli.MinuteLayout) + " UTC"
	}
	return text
}

func (f *flags) restoreCommand() *cobra.Command {
	yes := false
	keyFile := ""
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup back, and forget again what was forgotten since",
		Long: "Replaces the memory with a backup. What was forgotten, deleted, edited or decided since the backup is done again, as\n" +
			"far as the replaced memory knows. In a PostgreSQL database it replaces one server, with what \"hark backup\n" +
			"--guild\" copied. Stop Hark first. With - for the file, the backup comes from standard input, and\n" +
			"--yes is needed:\n" +
			"  docker compose stop hark && docker compose run --rm -T hark restore --yes - < hark-backup.db && " +
			"docker compose start hark",
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			file := args[0]
			if file == stdStream {
				if !yes {
					return errors.New("the backup comes from standard input, so nobody can confirm: add --yes, or name a file")
				}
				kept, remove, err := archive.ReceiveBackup(cfg.Data, c.InOrStdin())
				if err != nil {
					return err
				}
				defer remove()
				file = kept
			}
			info, err := sqlite.ReadBackup(c.Context(), file)
			if err != nil && file != args[0] {
				err = named{err, strings.ReplaceAll(err.Error(), file, "what came from standard input")}
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s holds %s.\n", args[0], describeBackup(info))
			fmt.Fprintln(c.ErrOrStderr(), f.replaced(c.Context(), store.Of(cfg)))
			if err := f.confirm(c.Context(), yes, "", "Put it in place?"); err != nil {
				return err
			}
			return f.restore(c, store.Of(cfg), file, keyFile)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	c.Flags().StringVar(&keyFile, "key-file", "", "`file` with the key of a sealed backup, if it isn't memory.key_file's")
	return c
}

// named is an error in other words.
type named struct {
	error
	text string
}

func (n named) Error() string { return n.text }

func (n named) Unwrap() error { return n.error }

func (f *flags) replaced(ctx context.Context, place store.Place) string {
	if !place.IsFile() {
		return fmt.Sprintf("It replaces what %s has of this server.", place)
	}
	dir := place.Dir
	now, err := sqlite.Holds(ctx, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("It becomes the memory in %s.", dir)
	case err != nil: // damaged
		return fmt.Sprintf("It replaces the memory in %s.", dir)
	}
	return fmt.Sprintf("It replaces the memory in %s, which holds %s.", dir, describeBackup(now))
}

func (f *flags) restore(c *cobra.Command, place store.Place, file, keyFile string) error {
	r, err := place.Restore(c.Context(), file, keyFile, f.phases())
	if errors.Is(err, sqlite.ErrInUse) {
		err = fmt.Errorf("the memory is in use: %w", err)
	}
	if err != nil {
		return terminal.CutShort(c.Context(), err, "interrupted; the memory is unchanged")
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "Restored to %s.\n", place)
	switch {
	case r.Unknown != nil:
		fmt.Fprintf(out, "What was forgotten since the backup isn't fully known, because the replaced memory can't be "+
			"read: %v.\n"+
			"Forget again what you know of, with \"hark forget\".\n", r.Unknown)
	case !r.Known:
		fmt.Fprintln(out, "There was no memory before, so Hark doesn't know what was forgotten since the backup. Forget "+
			"again what you know of, with \"hark forget\".")
	}
	fmt.Fprintln(out, describeReplayed(r))
	if place.KeyFile == "" && keyFile != "" && r.Key != "" {
		fmt.Fprintf(out, "The memory is sealed with the key %s. Before you start Hark, set memory.key_file to %s.\n", r.Key, keyFile)
	}
	return nil
}

func describeReplayed(r sqlite.Restored) string {
	messages := 0
	for _, receipt := range r.Forgettings {
		messages += receipt.Messages
	}
	of := " of " + terminal.Plural(messages, "message")
	parts := terminal.Nonzero(
		terminal.Count(len(r.Forgettings), "forgetting"+of, "forgettings"+of),
		terminal.Count(r.Deleted, "deletion", ""), terminal.Count(r.Edited, "edit", ""),
		terminal.Count(r.Facts, "fact was taken away", "facts were taken away"),
		terminal.Count(r.Lore, "piece of lore was taken away or changed", "pieces of lore were taken away or changed"),
		terminal.Count(r.OptOuts, "member opted out or in", "members opted out or in"),
		terminal.Count(r.Choices, "choice of what to remember", "choices of what to remember"))
	if len(parts) == 0 {
		return "Nothing had to be forgotten again."
	}
	return "Done again since the backup: " + strings.Join(parts, ", ") + "."
}
