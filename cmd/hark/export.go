package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hark/internal/atomicfile"
	"hark/internal/exports"
	"hark/internal/personaldata"
	"hark/internal/terminal"
	"hark/memory"
)

func (f *flags) exportCommand() *cobra.Command {
	var user, channel, guild, out string
	force, salvage, unchecked := false, false, false
	c := &cobra.Command{
		Use:   "export",
		Short: "Export everything about one person, or what was said in a channel",
		Long: "With --user: writes all that is remembered about one person as JSON: who they are, their facts and lore, what they\n" +
			"wrote and asked, and the summaries made from that.\n" +
			"With --channel: writes what was said in a channel, one message a line. \"hark import\" puts it back, except what was\n" +
			"forgotten there and Hark's own answers.\n" +
			"An export holds all text in the clear, and what is forgotten later stays in it: keep it private, and no longer than\n" +
			"you need it. It doesn't hold what the model was sent, because that has other people's words.\n" +
			"With --salvage: writes all that can be read of a damaged database, which it doesn't change: messages, facts, lore, and\n" +
			"what was decided and forgotten. Stop Hark first. \"hark import\" reads the file into a new data directory. It leaves out\n" +
			"what was deleted or forgotten, is too old, or was written by somebody who opted out. If it can't know that, it writes\n" +
			"nothing without --unchecked. The exit code is 1 if something is missing.",
		Example: "  hark export --user ann --out ann.json\n" +
			"  hark export --channel general --guild Harbour --out general.jsonl\n" +
			"  hark export --salvage --out salvaged.jsonl\n  hark import --data new-data salvaged.jsonl",
		Args: noArguments,
		RunE: func(c *cobra.Command, args []string) error {
			if salvage {
				if user+channel+guild != "" {
					return errors.New("--salvage writes all that can be read: leave out --user, --channel and --guild")
				}
				return f.salvage(c, out, force, unchecked)
			}
			if (user == "") == (channel == "") {
				return errors.New("export what? Name either --user or --channel")
			}
			return f.withArchive(func(c *cobra.Command, k *archive, _ []string) error {
				where, err := k.findGuild(guild)
				if err != nil {
					return err
				}
				write := func(w io.Writer) error { return k.exportChannel(c.Context(), w, where, channel) }
				if user != "" {
					write = func(w io.Writer) error { return k.exportUser(c.Context(), w, where, user) }
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
	c.Flags().BoolVar(&salvage, "salvage", false, "write all that can be read of a damaged database")
	c.Flags().BoolVar(&unchecked, "unchecked", false,
		"with --salvage: write even if it isn't known what was deleted, forgotten or opted out")
	return c
}

// exportTo has write fill the file called out, or the output.
func exportTo(c *cobra.Command, out string, force bool, write func(io.Writer) error) error {
	if out == "" {
		return terminal.CutShort(c.Context(), write(c.OutOrStdout()), "interrupted; what was printed is not all")
	}
	return terminal.CutShort(c.Context(), writeOut(out, force, write), "interrupted; no file was written")
}

// writeOut has write fill a file that only its owner can read. It appears when it is complete.
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

// exportPage is the number of messages read at once.
const exportPage = 1000

func (k *archive) exportChannel(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	c, err := k.findChannel(guild, name)
	if err != nil {
		return err
	}
	people, err := k.peopleOf(ctx, c.Guild)
	if err != nil {
		return err
	}
	lines := exports.NewEncoder(w)
	for after := memory.MessageID(-1 << 63); ; {
		page, err := k.Log(ctx, c.ID, after, 1<<63-1, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		called := map[memory.MessageID]string{} // in the file that they were imported from
		if c.Guild == memory.LocalGuild {
			var ids []memory.MessageID
			for _, m := range page {
				ids = append(ids, m.ID, cmp.Or(m.ReplyTo, m.ID))
			}
			if called, err = k.NameOf(ctx, c.ID, ids); err != nil {
				return err
			}
		}
		for _, m := range page {
			if err := writeMessage(lines, c, m, people, func(id memory.MessageID) string {
				return called[id]
			}); err != nil {
				return err
			}
		}
	}
}

// peopleOf returns the people of a guild, by id.
func (k *archive) peopleOf(ctx context.Context, guild memory.GuildID) (exports.People, error) {
	people, err := k.People(ctx, guild)
	return exports.PeopleOf(people), err
}

// writeMessage writes a line of an export. called are the names of messages in the file that they are from.
func writeMessage(lines *json.Encoder, c memory.Channel, m memory.Message, people exports.People,
	called func(memory.MessageID) string) error {
	e := exports.In(c, m, people)
	e.ID = cmp.Or(called(m.ID), e.ID)
	if m.ReplyTo != 0 {
		e.ReplyTo[0] = cmp.Or(called(m.ReplyTo), e.ReplyTo[0])
	}
	return lines.Encode(e)
}

func (k *archive) exportUser(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	user, _, err := k.findPerson(ctx, guild, name)
	if err != nil {
		return err
	}
	v := personaldata.View{Now: time.Now(), Guild: guildName,
		Channel: func(g *memory.Guild, c memory.ChannelID) string { return k.channelName(g.ID, c) }}
	for _, g := range k.guilds {
		if guild == memory.Everywhere || guild == g.ID {
			v.Guilds = append(v.Guilds, g)
		}
	}
	e, err := personaldata.Of(ctx, k, user, v)
	if errors.Is(err, personaldata.ErrNothing) {
		return fmt.Errorf("nothing is remembered about %d", user)
	}
	if err != nil {
		return err
	}
	return e.Write(w)
}
