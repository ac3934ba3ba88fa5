package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"hark/memory"
)

func (f *flags) exportCommand() *cobra.Command {
	var user, channel, guild, out string
	force := false
	c := &cobra.Command{
		Use:   "export",
		Short: "Write down all about one person, or what was said in a channel",
		Long: "Writes all that is remembered about one person as JSON: who they are, their facts, what they wrote, what they asked.\n" +
			"Or what was said in a channel, a message a line, which \"hark import\" can read. It holds all of it in the clear, and\n" +
			"what is forgotten later stays in it: keep it private, and no longer than you need it.",
		Example: "  hark export --user ann --out ann.json\n" +
			"  hark export --channel general --guild Harbour --out general.jsonl",
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if (user == "") == (channel == "") {
				return errors.New("what is to be written down? Say --user or --channel, one of them")
			}
			k, err := f.openKept(c.Context())
			if err != nil {
				return err
			}
			defer k.Close()
			where, err := k.guildCalled(guild)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return k.exportChannel(c.Context(), w, where, channel) }
			if user != "" {
				write = func(w io.Writer) error { return k.exportUser(c.Context(), w, where, user) }
			}
			if out == "" {
				err = write(c.OutOrStdout())
			} else {
				err = writeOut(out, force, write)
			}
			if c.Context().Err() != nil {
				return interrupted("interrupted; no file was written")
			}
			return err
		},
	}
	c.Flags().StringVar(&user, "user", "", "all about the person of this `name` or id")
	c.Flags().StringVar(&channel, "channel", "", "what was said in the channel of this `name` or id")
	c.Flags().StringVar(&guild, "guild", "", "only in the server of this `name` or id")
	c.Flags().StringVar(&out, "out", "", "write to this `file`, which only you can read, rather than to the output")
	c.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	return c
}

// writeOut has write fill a file that only its owner can read. It appears when it is complete.
func writeOut(path string, replace bool, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil && !replace {
		return fmt.Errorf("%s is there already: name another file, or replace it with --force", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".hark-*") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	buffered := bufio.NewWriter(file)
	if err := write(buffered); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(buffered.Flush(), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// exportedMessage is a message as exports tell it. Those of a channel have the form of a recall set's.
type exportedMessage struct {
	Type      string         `json:"type,omitempty"`
	Server    string         `json:"server,omitempty"`
	Channel   string         `json:"channel"`
	ChannelID string         `json:"channel_id"`
	ID        string         `json:"id"`
	Author    string         `json:"author,omitempty"`
	AuthorID  string         `json:"author_id,omitempty"`
	Time      time.Time      `json:"time"`
	Edited    *time.Time     `json:"edited,omitempty"`
	Text      string         `json:"text"`
	Files     []exportedFile `json:"files,omitempty"`
	ReplyTo   []string       `json:"reply_to,omitempty"`
	Starred   bool           `json:"starred,omitempty"`
}

type exportedFile struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// exported is m as exports tell it, but for names.
func exported(m memory.Message) exportedMessage {
	e := exportedMessage{ChannelID: m.Channel.String(), ID: m.ID.String(), Time: m.Time(), Text: m.Content, Starred: m.Starred}
	if !m.Edited.IsZero() {
		e.Edited = &m.Edited
	}
	if m.ReplyTo != 0 {
		e.ReplyTo = []string{m.ReplyTo.String()}
	}
	for _, f := range m.Files {
		e.Files = append(e.Files, exportedFile{f.Name, f.Description})
	}
	return e
}

// exportPage is how many messages are read at once.
const exportPage = 1000

func (k *kept) exportChannel(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	c, err := k.channelCalled(guild, name)
	if err != nil {
		return err
	}
	people, err := k.People(ctx, c.Guild)
	if err != nil {
		return err
	}
	names := map[memory.UserID]string{}
	for _, p := range people {
		names[p.ID] = p.DisplayName()
	}
	lines := newLines(w)
	for after := memory.MessageID(-1 << 63); ; {
		page, err := k.Log(ctx, c.ID, after, 1<<63-1, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		if err := k.exportPage(ctx, lines, c, page, names); err != nil {
			return err
		}
	}
}

func (k *kept) exportPage(ctx context.Context, lines *json.Encoder, c memory.Channel, page []memory.Message, names map[memory.UserID]string) error {
	var ids []memory.MessageID
	for _, m := range page {
		if ids = append(ids, m.ID); m.ReplyTo != 0 {
			ids = append(ids, m.ReplyTo)
		}
	}
	called, err := k.NameOf(ctx, c.ID, ids) // as in the file that they were imported from
	if err != nil {
		return err
	}
	for _, m := range page {
		e := exported(m)
		e.Type, e.Channel, e.ID = "message", cmp.Or(c.Name, c.ID.String()), cmp.Or(called[m.ID], e.ID)
		if m.ReplyTo != 0 {
			e.ReplyTo[0] = cmp.Or(called[m.ReplyTo], e.ReplyTo[0])
		}
		if m.Kind != memory.FromSystem {
			e.Author, e.AuthorID = cmp.Or(names[m.Author], m.Author.String()), m.Author.String()
		}
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

func newLines(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// exportedPerson is all about somebody.
type exportedPerson struct {
	User      string             `json:"user"`
	Exported  time.Time          `json:"exported"`
	Servers   []exportedServer   `json:"servers"`
	Messages  []exportedMessage  `json:"messages"`
	Questions []exportedQuestion `json:"questions"`
}

// exportedServer is what is known of somebody in one server.
type exportedServer struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Username string         `json:"username,omitempty"`
	Display  string         `json:"display_name,omitempty"`
	Nick     string         `json:"nick,omitempty"`
	Bot      bool           `json:"bot,omitempty"`
	Roles    []string       `json:"roles,omitempty"`
	OptedOut bool           `json:"opted_out"`
	Learning *time.Time     `json:"learning_since,omitempty"`
	Facts    []exportedFact `json:"facts,omitempty"`
}

type exportedFact struct {
	Text    string `json:"text"`
	Alias   bool   `json:"alias,omitempty"`
	By      string `json:"by"`
	Channel string `json:"channel,omitempty"`
	Message string `json:"message,omitempty"`
}

// exportedQuestion is an answer that was given to somebody: its text, as every message of Hark's, is in the channel.
type exportedQuestion struct {
	Server   string `json:"server"`
	Channel  string `json:"channel"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
	Model    string `json:"model,omitempty"`
}

func (k *kept) exportUser(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	user, people, err := k.personCalled(ctx, guild, name)
	if err != nil {
		return err
	}
	e := exportedPerson{User: user.String(), Exported: time.Now().UTC().Truncate(time.Second), Servers: []exportedServer{}, Messages: []exportedMessage{}, Questions: []exportedQuestion{}}
	for _, g := range k.guilds {
		if guild != memory.Everywhere && guild != g.ID {
			continue
		}
		s, known, err := k.exportMember(ctx, g, user, people)
		if err != nil {
			return err
		}
		if known {
			e.Servers = append(e.Servers, s)
		}
	}
	err = k.Written(ctx, user, func(m memory.Message) error {
		if guild == memory.Everywhere || guild == m.Guild {
			x := exported(m)
			x.Server, x.Channel = m.Guild.String(), k.channelName(m.Guild, m.Channel)
			e.Messages = append(e.Messages, x)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	err = k.Asked(ctx, user, func(t memory.Trace) error {
		if guild == memory.Everywhere || guild == t.Guild {
			e.Questions = append(e.Questions, exportedQuestion{t.Guild.String(), t.Channel.String(), t.Question.String(), t.Answer.String(), t.Model})
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if len(e.Servers) == 0 && len(e.Messages) == 0 && len(e.Questions) == 0 {
		return fmt.Errorf("nothing is remembered about %d", user)
	}
	encoder := newLines(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(e)
}

// exportMember is what is known of somebody in g, if anything.
func (k *kept) exportMember(ctx context.Context, g *memory.Guild, user memory.UserID, people []memory.Person) (s exportedServer, known bool, err error) {
	s = exportedServer{ID: g.ID.String(), Name: guildName(g)}
	if s.OptedOut, err = k.OptedOut(ctx, g.ID, user); err != nil {
		return s, false, err
	}
	known = s.OptedOut
	for _, p := range people {
		if p.Guild != g.ID {
			continue
		}
		known = true
		s.Username, s.Display, s.Nick, s.Bot = p.Username, p.Name, p.Nick, p.Bot
		for _, r := range p.Roles {
			s.Roles = append(s.Roles, r.String())
		}
		if !p.Learn.IsZero() {
			s.Learning = &p.Learn
		}
		for _, f := range p.Facts {
			x := exportedFact{Text: f.Text, Alias: f.Alias, By: f.By.String()}
			if f.Message != 0 {
				x.Channel, x.Message = f.Channel.String(), f.Message.String()
			}
			s.Facts = append(s.Facts, x)
		}
	}
	return s, known, nil
}
