package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hark/internal/imports"
	"hark/memory"
)

func (f *flags) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE…",
		Short: "Take conversations into memory: exports of DiscordChatExporter as JSON, and recall sets",
		Long: "Takes conversations into memory: channels that DiscordChatExporter exported as JSON or \"hark export\" wrote, and\n" +
			"recall sets. Importing a file twice is importing it once, so one that was interrupted goes on when it is imported\n" +
			"again. What was deleted or forgotten stays so.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which files? Write their names behind \"import\"")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := f.load()
			if err != nil {
				return err
			}
			a, err := f.open(c.Context(), cfg)
			if err != nil {
				return err
			}
			defer a.close()
			failed := false
			for _, path := range args {
				summary, err := f.importFile(c.Context(), a, path)
				if c.Context().Err() != nil {
					return interrupted("interrupted; what was read of " + path + " so far is kept: import it again to go on")
				}
				if summary.Messages > 0 || err == nil {
					fmt.Fprintln(c.OutOrStdout(), summaryLine(path, summary))
				}
				if err != nil {
					failed = true
					fmt.Fprintf(c.ErrOrStderr(), "hark: %s: %v\n", path, err)
				}
			}
			err = f.indexNow(c.Context(), a)
			if c.Context().Err() != nil {
				return interrupted("interrupted; all messages are stored, and the next command goes on indexing them by meaning")
			}
			if err != nil { // the messages are stored, so nothing that was asked for has failed
				fmt.Fprintf(c.ErrOrStderr(), "hark: not all messages are indexed by meaning yet: %v; they are found by their words, and the next command goes on\n", err)
			}
			if failed {
				return errShown
			}
			return nil
		},
	}
}

func (f *flags) importFile(ctx context.Context, a *app, path string) (imports.Summary, error) {
	file, err := os.Open(path)
	if err != nil {
		return imports.Summary{}, errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return imports.Summary{}, err
	}
	if info.IsDir() {
		return imports.Summary{}, errors.New("it is a directory: name the files in it")
	}
	bar := f.bar(info.Size(), "importing", true)
	defer bar.Close()
	apply := func(events []memory.Event) error { return a.store.Apply(ctx, events...) }
	return imports.Read(ctx, file, a.store, apply, func(bytes int64) { _ = bar.Set64(bytes) })
}

func summaryLine(path string, s imports.Summary) string {
	line := fmt.Sprintf("%s: %s in %s", path, plural(s.Messages, "message"), plural(s.Channels, "channel"))
	if s.Questions > 0 {
		line += fmt.Sprintf("; \"hark eval\" asks its %s", plural(s.Questions, "question"))
	}
	if s.Answers > 0 {
		line += fmt.Sprintf("; %s of Hark's left out: what they drew on isn't known, so they couldn't be forgotten with it", plural(s.Answers, "answer"))
	}
	if s.Skipped > 0 {
		line += fmt.Sprintf("; %s skipped, the first: %s", plural(s.Skipped, "unreadable message"), s.FirstSkipped)
	}
	return line
}

// indexNow embeds what is pending, with a progress bar.
func (f *flags) indexNow(ctx context.Context, a *app) error {
	waiting, err := a.store.Waiting(ctx)
	if err != nil {
		return err
	}
	bar := f.bar(int64(waiting), "indexing by meaning", false)
	defer bar.Close()
	return a.index(ctx, func(done int) { _ = bar.Set(done) })
}
