package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/cli"
	"hark/internal/store"
	"hark/internal/terminal"
	"hark/memory/sqlite"
)

func (f *flags) salvage(c *cobra.Command, out string, force, unchecked bool) error {
	cfg, err := f.load()
	if err == nil {
		err = onlyFile(cfg, howToRepair)
	}
	if err == nil {
		err = store.Of(cfg).Check(c.Context())
	}
	if err != nil {
		return err
	}
	secret, err := store.Of(cfg).Secret()
	if err != nil {
		return err
	}
	s, err := sqlite.OpenSalvage(c.Context(), cfg.Data, secret, time.Now(), cfg.Memory.Retention.Duration,
		f.progress("reading pages"))
	if err != nil {
		return err
	}
	defer s.Close()
	if len(s.Unsure) > 0 && !unchecked {
		return fmt.Errorf("nothing was written: parts of %s can't be read, so what was deleted, forgotten or opted out "+
			"might come back: restore a backup with \"hark restore FILE\", or write what can be read with --unchecked",
			strings.Join(s.Unsure, ", "))
	}
	n := 0
	if err := exportTo(c, out, force, func(w io.Writer) (err error) {
		n, err = archive.WriteSalvaged(c.Context(), s, w)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), salvaged(s, n))
	if lost := lostMessages(s); len(lost) > 0 {
		for _, line := range lost {
			fmt.Fprintln(c.ErrOrStderr(), "hark:", line)
		}
		return cli.ErrShown
	}
	return nil
}

func salvaged(s *sqlite.Salvage, n int) string {
	channels := 0
	for _, p := range s.Places {
		if p.Read > 0 {
			channels++
		}
	}
	line := fmt.Sprintf("Salvaged %s of %s, and %s about what was decided, forgotten and told. The database is unchanged.",
		terminal.Plural(n, "message"), terminal.Plural(channels, "channel"), terminal.Plural(len(s.Events), "line"))
	for _, left := range []struct {
		n   int
		why string
	}{{s.Left.Gone, "deleted or forgotten, or by somebody who has opted out"},
		{s.Left.Expired, "older than they are kept"}, {s.Left.Answers, "Hark's own answers"}} {
		if left.n > 0 {
			line += fmt.Sprintf("\nLeft out %s: %s.", terminal.Plural(left.n, "message"), left.why)
		}
	}
	return line
}

func lostMessages(s *sqlite.Salvage) (lines []string) {
	for _, table := range slices.Sorted(maps.Keys(s.Damaged)) {
		if n := s.Damaged[table]; n > 0 {
			lines = append(lines, fmt.Sprintf("the table %s is damaged in %s", table, terminal.Plural(n, "place")))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Places)) {
		if p := s.Places[id]; p.Recalled < p.Known {
			lines = append(lines, fmt.Sprintf("#%s (%d): %d of %d messages were read",
				terminal.OneLine(p.Channel.Name), id, p.Recalled, p.Known))
		}
	}
	if s.Left.Nowhere > 0 {
		lines = append(lines, fmt.Sprintf("%s left out, whose channel can't be read",
			terminal.Plural(s.Left.Nowhere, "message")))
	}
	if len(s.Unsure) > 0 {
		lines = append(lines, fmt.Sprintf(
			"%s can't be read wholly: what was deleted, forgotten or opted out may be in what was written",
			strings.Join(s.Unsure, ", ")))
	}
	return lines
}
