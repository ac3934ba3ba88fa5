package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hark/internal/cli"
	"hark/internal/config"
	"hark/internal/migrate"
	"hark/internal/terminal"
)

// longestConfig bounds another bot's configuration, in bytes.
const longestConfig = 1 << 20

func (f *flags) migrateCommand() *cobra.Command {
	yes := false
	llmcord := &cobra.Command{
		Use:   "llmcord FILE",
		Short: "Convert llmcord's config.yaml",
		Long: "Converts llmcord's config.yaml to Hark's configuration: the token, the models with their servers, keys\n" +
			"and parameters, and the system prompt as persona. It writes config.toml, or the file that --config\n" +
			"names, which only you can read. It reports each setting that it took over, and what to do about the\n" +
			"others. llmcord keeps no messages: \"hark import\" and \"hark backfill\" fetch what was said before.",
		Example: "  hark migrate llmcord ../llmcord/config.yaml\n" +
			"  hark migrate llmcord config.yaml --config /etc/hark/config.toml",
		Args: cli.ExactArgs(1, "which file? Write the name of llmcord's config.yaml after %q"),
		RunE: func(c *cobra.Command, args []string) error { return f.migrate(c, args[0], yes) },
	}
	llmcord.Flags().BoolVar(&yes, "yes", false, "don't ask")
	return cli.ParentCommand("migrate", "Make a configuration of another bot's", "", llmcord)
}

func (f *flags) migrate(c *cobra.Command, from string, yes bool) error {
	data, err := readShort(from, longestConfig)
	if err != nil {
		return err
	}
	made, err := migrate.Llmcord(data)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	named, _ := f.env.lookup("HARK_CONFIG")
	to := cmp.Or(f.config, named, config.DefaultFile)
	if sameFile(from, to) {
		return fmt.Errorf("%s is the file to convert: name another one for Hark's configuration with --config", to)
	}
	if _, err := os.Lstat(to); err == nil {
		if err := f.confirm(c.Context(), yes, "", fmt.Sprintf("%s is there already. Replace it?", to)); err != nil {
			return fmt.Errorf("%s is there already: %w", to, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := string(made.TOML)
	if _, err := config.LoadText(to, text, func(string) (string, bool) { return "", false }); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	if err := config.Write(to, text); err != nil {
		return err
	}
	printMigrated(c.OutOrStdout(), from, to, made)
	return nil
}

func readShort(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s is longer than %d KiB, so it isn't a configuration", path, most>>10)
	}
	return data, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

func printMigrated(w io.Writer, from, to string, made migrate.Result) {
	for _, part := range []struct {
		title, between string
		notes          []migrate.Note
	}{{"Taken over from " + from + ":", " → ", made.Taken}, {"Without an equivalent:", ": ", made.Left}} {
		if len(part.notes) == 0 {
			continue
		}
		fmt.Fprintln(w, part.title)
		// line 0 comes last
		slices.SortStableFunc(part.notes, func(a, b migrate.Note) int {
			return cmp.Compare(uint(a.Line)-1, uint(b.Line)-1)
		})
		for _, n := range part.notes {
			line := "     "
			if n.Line > 0 {
				line = fmt.Sprintf("%5d", n.Line)
			}
			fmt.Fprintf(w, "%s  %s%s%s\n", line, terminal.OneLine(n.Key), part.between, terminal.OneLine(n.Says))
		}
	}
	fmt.Fprintf(w, "Wrote %[1]s. Only you can read it, because it holds the token and keys.\n"+
		"Next: \"hark doctor --config %[1]s\" checks it, \"hark run --config %[1]s\" starts Hark.\n", to)
}
