package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/imports"
	"hark/internal/setup"
	"hark/internal/terminal"
	"hark/memory"
	"hark/memory/sqlstore"
)

func (f *flags) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE…",
		Short: "Import conversations: exports of DiscordChatExporter as JSON, and recall sets",
		Long: "Imports conversations: channels exported as JSON by DiscordChatExporter or written by \"hark export\", and recall sets.\n" +
			"Of a directory, it imports all such files.\n" +
			"Importing a file twice is the same as importing it once. To go on after an interruption, import the file again. What\n" +
			"was deleted or forgotten stays so.",
		Example: "  hark import export/*.json\n  hark import export",
		Args:    cli.AtLeastOne("which files? Write their names after \"import\""),
		RunE: f.withApp(func(c *cobra.Command, a *setup.App, args []string) error {
			paths, failed := f.filesIn(args)
			var all imported
			unread := 0
			alike := map[string][]string{} // files by what is amiss with them
			for _, path := range paths {
				got, err := f.importFile(c.Context(), a, path)
				if c.Context().Err() != nil {
					return terminal.Interrupted("interrupted; what was read of " + path +
						" so far is kept: import it again to go on")
				}
				all.add(got)
				if got.Messages > 0 || err == nil {
					fmt.Fprintln(c.OutOrStdout(), got.line(path))
				} else {
					unread++
				}
				if err != nil {
					failed = true
					why := err.Error()
					if alike[why] == nil {
						fmt.Fprintf(c.ErrOrStderr(), "hark: %s: %s\n", path, why)
					}
					alike[why] = append(alike[why], path)
				}
			}
			for _, why := range slices.Sorted(maps.Keys(alike)) {
				others := alike[why][1:]
				if len(others) > 0 {
					fmt.Fprintf(c.ErrOrStderr(), "hark: likewise %s: %s\n", fewOf(others), why)
				}
			}
			if len(paths) > 1 {
				fmt.Fprintln(c.OutOrStdout(), all.total(len(paths), unread))
			}
			err := f.indexNow(c.Context(), a)
			if c.Context().Err() != nil {
				return terminal.Interrupted("interrupted; all messages are stored, and the next command continues " +
					"indexing them by meaning")
			}
			if err != nil { // no failure: the messages are stored
				fmt.Fprintf(c.ErrOrStderr(), "hark: not all messages are indexed by meaning yet: %v; "+
					"they are found by their words, and the next command continues\n", err)
			}
			if failed {
				return cli.ErrShown
			}
			return nil
		}),
	}
}

// fewOf names the first few files, and counts the others.
func fewOf(paths []string) string {
	const few = 3
	if len(paths) <= few {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(paths[:few], ", "), terminal.Plural(len(paths)-few, "other file"))
}

// imported counts what was read from a file.
type imported struct {
	imports.Summary
	fresh, known int // messages, new and remembered before
	dropped      int // messages that were forgotten, or whose author has opted out
}

func (f *flags) importFile(ctx context.Context, a *setup.App, path string) (got imported, err error) {
	file, err := os.Open(path)
	if err != nil {
		return got, errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return got, err
	}
	bar := terminal.Bar(f.env.stderr, info.Size(), "importing "+terminal.Printable(filepath.Base(path)), true)
	defer bar.Close()
	_ = bar.RenderBlank() // shows the file's name before anything is stored
	apply := func(events []memory.Event) error { return got.apply(ctx, a.Store, events) }
	got.Summary, err = imports.Read(ctx, file, a.Store, apply, func(bytes int64) { _ = bar.Set64(bytes) })
	return got, err
}

// apply stores events and counts their messages.
func (i *imported) apply(ctx context.Context, store *sqlstore.Store, events []memory.Event) error {
	posted := map[memory.ChannelID]map[memory.MessageID]bool{}
	messages := 0
	for _, e := range events {
		if p, ok := e.(memory.Posted); ok {
			if posted[p.Message.Channel] == nil {
				posted[p.Message.Channel] = map[memory.MessageID]bool{}
			}
			posted[p.Message.Channel][p.Message.ID] = true
			messages++
		}
	}
	before, err := stored(ctx, store, posted)
	if err == nil {
		err = store.Apply(ctx, events...)
	}
	if err != nil {
		return err
	}
	after, err := stored(ctx, store, posted)
	dropped := -after
	for _, ids := range posted {
		dropped += len(ids)
	}
	i.fresh, i.dropped, i.known = i.fresh+after-before, i.dropped+dropped, i.known+messages-(after-before)-dropped
	return err
}

func stored(ctx context.Context, store *sqlstore.Store,
	posted map[memory.ChannelID]map[memory.MessageID]bool) (n int, err error) {
	for channel, ids := range posted {
		found, err := store.Around(ctx, channel, slices.Collect(maps.Keys(ids)), 0, 0)
		if err != nil {
			return 0, err
		}
		n += len(found)
	}
	return n, nil
}

func (i imported) counts() string {
	skipped := i.dropped + i.Answers + i.Skipped
	return fmt.Sprintf("%s new, %d known, %d skipped", terminal.Plural(i.fresh, "message"), i.known, skipped)
}

func (i *imported) add(j imported) {
	i.fresh = i.fresh + j.fresh
	i.known = i.known + j.known
	i.dropped = i.dropped + j.dropped
	i.Answers = i.Answers + j.Answers
	i.Skipped = i.Skipped + j.Skipped
}

func (i imported) total(files, unread int) string {
	line := fmt.Sprintf("In all %d files: %s", files, i.counts())
	if unread > 0 {
		line += fmt.Sprintf("; %s couldn't be read", terminal.Plural(unread, "file"))
	}
	return line
}

func (i imported) line(path string) string {
	line := fmt.Sprintf("%s: %s, in %s", path, i.counts(), terminal.Plural(i.Channels, "channel"))
	for _, part := range []struct {
		n          int
		noun, says string
	}{
		{i.Questions, "question", "\"hark eval\" asks its %s"},
		{i.Answers, "answer",
			"%s of Hark's left out: what they drew on isn't known, so they couldn't be forgotten with it"},
		{i.dropped, "message", "%s left out: they were deleted or forgotten here, or their author has opted out"},
		{i.Notices, "notice", "among them %s of Discord's, such as who joined, which aren't found"},
		{i.Zoneless, "message", "%s without a time zone: their times were taken as UTC"},
		{i.Direct, "channel", "of these %s of direct messages: Hark tells of them in the same direct message and nowhere " +
			"else, if memory.direct is on, and not at the command line"},
		{i.Skipped, "unreadable message", "%s skipped, the first: " + strings.ReplaceAll(i.FirstSkipped, "%", "%%")},
	} {
		if part.n > 0 {
			line += "; " + fmt.Sprintf(part.says, terminal.Plural(part.n, part.noun))
		}
	}
	return line
}

// indexNow embeds what is pending, with a progress bar.
func (f *flags) indexNow(ctx context.Context, a *setup.App) error {
	waiting, err := a.Store.Waiting(ctx, memory.Everywhere)
	if err != nil {
		return err
	}
	bar := terminal.Bar(f.env.stderr, int64(waiting), "indexing by meaning", false)
	defer bar.Close()
	return a.Index(ctx, func(done int) { _ = bar.Set(done) })
}

// The endings of exports in a directory, and of exports in formats that Hark can't read, which get advice. A file
// named on the command line may have any ending.
var (
	importable   = []string{".json", ".jsonl", ".ndjson", ".gz"}
	unimportable = []string{".html", ".htm", ".csv", ".txt"}
)

// filesIn returns the files to import: directories are replaced by their files, by name. It warns of empty
// directories; failed says that there was one.
func (f *flags) filesIn(names []string) (paths []string, failed bool) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			paths = append(paths, name)
			continue
		}
		found, passed, err := filesBelow(name)
		if err == nil && len(found) == 0 {
			err = errors.New("nothing in this directory can be imported: it needs exports as JSON or recall sets, " +
				"with names that end in .json, .jsonl, .ndjson or .gz")
		}
		if err != nil {
			failed = true
			fmt.Fprintf(f.env.stderr, "hark: %s: %v\n", name, err)
			continue
		}
		if passed > 0 {
			fmt.Fprintf(f.env.stderr, "%s: skipped %s of unknown type.\n",
				name, terminal.Plural(passed, "file"))
		}
		paths = append(paths, found...)
	}
	return paths, failed
}

// filesBelow returns the possible exports in a directory tree, and how many files it passed over.
func filesBelow(dir string) (found []string, passed int, err error) {
	var others []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && path != dir
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		switch end := strings.ToLower(filepath.Ext(path)); {
		case slices.Contains(importable, end):
			found = append(found, path)
		case slices.Contains(unimportable, end):
			others = append(others, path)
		default:
			passed++
		}
		return nil
	})
	if len(found) == 0 && len(others) > 0 {
		return others[:1], passed + len(others) - 1, err
	}
	return found, passed + len(others), err
}
