package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"hark/internal/exports"
	"hark/internal/personaldata"
	"hark/memory"
)

// exportPage is the number of messages read at once.
const exportPage = 1000

// ExportChannel writes what was said in the channel called name, a line each, for "hark import".
func (k *Archive) ExportChannel(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	c, err := k.FindChannel(guild, name)
	if err != nil {
		return err
	}
	people, err := k.PeopleOf(ctx, c.Guild)
	if err != nil {
		return err
	}
	parent := k.GuildByID(c.Guild).Channel(c.Parent)
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
			called, err = k.ExternalIDs(ctx, c.ID, ids)
			if err != nil {
				return err
			}
		}
		for _, m := range page {
			if err := writeMessage(lines, c, parent, m, people, called[m.ID], called[m.ReplyTo]); err != nil {
				return err
			}
		}
	}
}

// PeopleOf returns the people of a guild, by id.
func (k *Archive) PeopleOf(ctx context.Context, guild memory.GuildID) (exports.People, error) {
	people, err := k.People(ctx, guild)
	return exports.PeopleOf(people), err
}

// writeMessage writes a line of an export. id and replyTo, if not empty, are the messages' ids in the file that
// they were imported from.
func writeMessage(lines *json.Encoder, c memory.Channel, parent *memory.Channel, m memory.Message,
	people exports.People, id, replyTo string) error {
	e := exports.In(c, parent, m, people)
	e.ID = cmp.Or(id, e.ID)
	if m.ReplyTo != 0 {
		e.ReplyTo[0] = cmp.Or(replyTo, e.ReplyTo[0])
	}
	return lines.Encode(e)
}

// ExportPerson writes everything about the person called name, as JSON.
func (k *Archive) ExportPerson(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	user, _, err := k.FindPerson(ctx, guild, name)
	if err != nil {
		return err
	}
	v := personaldata.View{
		Now:     time.Now(),
		Guild:   GuildName,
		Channel: func(g *memory.Guild, c memory.ChannelID) string { return k.ChannelName(g.ID, c) },
	}
	for _, g := range k.Servers {
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
