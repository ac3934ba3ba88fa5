package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"hark/memory"
)

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
	Lore     []exportedLore `json:"lore,omitempty"` // that they told
	// Summaries are from what they said. What others said as well is left out: such a summary has no text here.
	Summaries []listedSummary `json:"summaries,omitempty"`
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
			x := exported(m, nil)
			x.Author, x.AuthorID = "", "" // whom all of it is about
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
	lore, err := k.Lore(ctx, g.ID)
	for _, l := range lore {
		if l.By == user {
			s.Lore, known = append(s.Lore, loreOf(l)), true
		}
	}
	if err == nil {
		s.Summaries, err = k.summariesFrom(ctx, g, user)
	}
	return s, known, err
}

// summariesFrom are the summaries of a guild that somebody's messages are sources of: of those with others' as well no text,
// no topics and no others' messages.
func (k *kept) summariesFrom(ctx context.Context, g *memory.Guild, user memory.UserID) (all []listedSummary, err error) {
	for _, c := range g.Channels {
		summaries, err := k.Summaries(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range summaries {
			var ids, own []memory.MessageID
			for _, source := range s.Sources {
				ids = append(ids, source.Message)
			}
			messages, err := k.Messages(ctx, c.ID, ids)
			if err != nil {
				return nil, err
			}
			for _, m := range messages {
				if m.Author == user {
					own = append(own, m.ID)
				}
			}
			if len(own) == 0 {
				continue
			}
			out := summaryOf(s)
			if len(own) < len(ids) {
				out.Text, out.Topics, out.Sources = "", []string{}, nil
				for _, id := range own {
					out.Sources = append(out.Sources, id.String())
				}
			}
			all = append(all, out)
		}
	}
	return all, nil
}
