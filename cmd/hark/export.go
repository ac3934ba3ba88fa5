package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hark/internal/archive"
	"hark/internal/atomicfile"
	"hark/internal/cli"
	"hark/internal/terminal"
)

func (f *flags) exportCommand() *cobra.Command {
	var user, channel, guild, out string
	force := false
	c := &cobra.Command{
		Use:   "export",
		Short: "Export everything about one person, or what was said in a channel",
		Long: "With --user: writes all that is remembered about one person as JSON: who they are, their facts and lore, what they\n" +
			"wrote and asked, and the summaries made from that.\n" +
			"With --channel: writes what was said in a channel, one message a line. \"hark import\" puts it back, except what was\n" +
			"forgotten there and Hark's own answers.\n" +
			"An export holds all text in the clear, and what is forgotten later stays in it: keep it private, and no longer than\n" +
			"you need it. It doesn't hold what the model was sent, because that has other people's words.",
		Example: "  hark export --user ann --out ann.json\n" +
			"  hark export --channel general --guild Harbour --out general.jsonl",
		Args: cli.NoArguments,
		RunE: func(c *cobra.Command, args []string) error {
			if (user == "") == (channel == "") {
				return errors.New("export what? Name either --user or --channel")
			}
			return f.withArchive(func(c *cobra.Command, k *archive.Archive, _ []string) error {
				where, err := k.FindGuild(guild)
				if err != nil {
					return err
				}
				write := func(w io.Writer) error { return k.ExportChannel(c.Context(), w, where, channel) }
				if user != "" {
					write = func(w io.Writer) error { return k.ExportPerson(c.Context(), w, where, user) }
				}
				return exportTo(c, out, force, write)
			})(c, args)
		},
	}
	c.Flags().StringVar(&user, "user", "", "all about the person of this `name` or id")
	c.Flags().StringVar(&channel, "channel", "", "what was said in the channel of this `name` or id")
	c.Flags().StringVar(&guild, "guild", "", "only in the server of this `name` or id")
	c.Flags().StringVar(&out, "out", "", "write to this `file`, which only you can read, instead of the output")
	c.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	return c
}

func exportTo(c *cobra.Command, out string, force bool, write func(io.Writer) error) error {
	if out == "" {
		return terminal.CutShort(c.Context(), write(c.OutOrStdout()), "interrupted; what was printed is not all")
	}
	return terminal.CutShort(c.Context(), writeOut(out, force, write), "interrupted; no file was written")
}

// writeOut has write fill a file for its owner only, which appears when it is complete.
func writeOut(path string, replace bool, write func(io.Writer) error) error {
	switch there, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !there.Mode().IsRegular():
		return fmt.Errorf("%s isn't a regular file: name another, or leave out --out and redirect the output", path)
	case !replace:
		return fmt.Errorf("%s exists already: name another file, or replace it with --force", path)
	}
	return atomicfile.Write(path, write)
}
