package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hark/internal/imports"
	"hark/memory"
	"hark/memory/sqlite"
)

func (f *flags) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE…",
		Short: "Take conversations into memory: exports of DiscordChatExporter as JSON, other bots' databases, and recall sets",
		Long: "Takes conversations into memory: channels that DiscordChatExporter exported as JSON or \"hark export\" wrote, the\n" +
			"messages in other bots' SQLite databases, such as PigPig's, and recall sets. Of a directory all such files are taken.\n" +
			"Importing a file twice is importing it once, so one that was interrupted goes on when it is imported again. What was\n" +
			"deleted or forgotten stays so.",
		Example: "  hark import export/*.json\n  hark import export\n  hark import data/memory.db",
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
			paths, failed := f.filesIn(args)
			for _, path := range paths {
				summary, dropped, err := f.importFile(c.Context(), a, path)
				if c.Context().Err() != nil {
					return interrupted("interrupted; what was read of " + path + " so far is kept: import it again to go on")
				}
				if summary.Messages > 0 || err == nil {
					fmt.Fprintln(c.OutOrStdout(), summaryLine(path, summary, dropped))
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

func (f *flags) importFile(ctx context.Context, a *app, path string) (s imports.Summary, dropped int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return s, 0, errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return s, 0, err
	}
	bar := f.bar(info.Size(), "importing", true)
	defer bar.Close()
	apply := func(events []memory.Event) error {
		err := a.store.Apply(ctx, events...)
		if err == nil {
			var n int
			n, err = missing(ctx, a.store, events)
			dropped += n
		}
		return err
	}
	head := make([]byte, 16)
	if n, _ := file.ReadAt(head, 0); imports.IsTable(head[:n]) {
		s, err = imports.ReadTable(ctx, path, a.store, apply, func(done, total int64) {
			_ = bar.Set64(int64(float64(info.Size()) * float64(done) / float64(max(total, 1))))
		})
		return s, dropped, err
	}
	s, err = imports.Read(ctx, file, a.store, apply, func(bytes int64) { _ = bar.Set64(bytes) })
	return s, dropped, err
}

// missing is how many of the messages that were posted aren't there: they fall under what was forgotten.
func missing(ctx context.Context, store *sqlite.Store, events []memory.Event) (int, error) {
	posted := map[memory.ChannelID]map[memory.MessageID]bool{}
	for _, e := range events {
		if p, ok := e.(memory.Posted); ok {
			if posted[p.Message.Channel] == nil {
				posted[p.Message.Channel] = map[memory.MessageID]bool{}
			}
			posted[p.Message.Channel][p.Message.ID] = true
		}
	}
	n := 0
	for channel, ids := range posted {
		there, err := store.Messages(ctx, channel, slices.Collect(maps.Keys(ids)))
		if err != nil {
			return 0, err
		}
		n += len(ids) - len(there)
	}
	return n, nil
}

func summaryLine(path string, s imports.Summary, dropped int) string {
	line := fmt.Sprintf("%s: %s in %s", path, plural(s.Messages, "message"), plural(s.Channels, "channel"))
	if s.Questions > 0 {
		line += fmt.Sprintf("; \"hark eval\" asks its %s", plural(s.Questions, "question"))
	}
	if s.Answers > 0 {
		line += fmt.Sprintf("; %s of Hark's left out: what they drew on isn't known, so they couldn't be forgotten with it", plural(s.Answers, "answer"))
	}
	if dropped += s.Out; dropped > 0 {
		line += fmt.Sprintf("; %s left out: they were deleted or forgotten here, or their author has opted out", plural(dropped, "message"))
	}
	if s.Direct > 0 {
		line += fmt.Sprintf("; of these %s of direct messages: Hark tells of them in the same direct message and nowhere else, if memory.direct is on, and not at the command line", plural(s.Direct, "channel"))
	}
	if s.Local > 0 {
		line += fmt.Sprintf("; of %s the server isn't known, so what was said there is found at the command line only: import the file again once Hark is in the server", plural(s.Local, "channel"))
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
