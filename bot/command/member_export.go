package command

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"hark/bot/discord"
	"hark/bot/markdown"
	"hark/internal/personaldata"
	"hark/memory"
)

// exportByDM is the option of an export by direct message.
const exportByDM = "dm"

const (
	// mostExported is how many bytes an export has at most before compression: all of it is in memory.
	mostExported = 64 << 20

	exportTooLarge = "This is more than fits into a file on Discord. Whoever runs me can export all of it for you with the command `hark export --user %d --guild %s`."
	exportHere     = "Here is all that I keep about you here. Only you see this message. I don't keep the file."
	exportSent     = "I've sent it to you as a direct message: %s"
	exportDirect   = "As you asked, here is all that I keep about you in %s. I don't keep the file."
	exportClosed   = "You don't accept direct messages from me. Allow them for this server in its privacy settings, or get the file here: `/memory export` without `by`."
	exportOthers   = "I'm exporting somebody else's data, and can do that for only one person at a time. Please try again in a minute."
	exportPacked   = "It is large, so it is compressed with gzip: archive programs open it."
)

// export gives the user all that is kept about them in a guild. In a guild it serves one person at a time.
func (c *Commands) export(ctx context.Context, x *interaction) (response, error) {
	place := any(x.guild())
	if x.guild() == memory.DirectGuild {
		place = x.who()
	}
	switch who, busy := c.exporting.LoadOrStore(place, x.who()); {
	case busy && who == x.who():
		return response{}, refusal(x.Text("I'm already exporting your data. Please wait for it."))
	case busy:
		return response{}, refusal(x.Text(exportOthers))
	}
	defer c.exporting.Delete(place)
	if err := c.Settled(ctx, x.guild()); err != nil {
		return response{}, err
	}
	all, err := c.personalData(ctx, x)
	if errors.Is(err, personaldata.ErrNothing) {
		return response{Content: x.Text("I keep nothing about you here, so there is nothing to export.")}, nil
	}
	var file markdown.File
	if err == nil {
		file, err = pack(all, c.Sizes.File)
	}
	if errors.Is(err, personaldata.ErrTooLarge) {
		return response{Content: x.Text(exportTooLarge, x.who(), guildWord(x.guild()))}, nil
	}
	if err != nil {
		return response{}, err
	}
	if x.Option("by") == exportByDM {
		return c.sendExport(ctx, x, file)
	}
	err = x.show(ctx, response{Content: x.packed(x.Text(exportHere), file), Files: []markdown.File{file}})
	switch {
	case discord.RefusesFiles(err):
		return response{}, refusal(x.Text(
			"Discord doesn't let me send a file here. Please try `/memory export` with `by`, or in another channel."))
	case err != nil:
		return response{}, fmt.Errorf("show an export: %w", err)
	}
	return response{}, errShown
}

// packed adds to text that file is compressed, if it is.
func (x *interaction) packed(text string, file markdown.File) string {
	if file.Kind == kindGzip {
		text += " " + x.Text(exportPacked)
	}
	return text
}

// guildWord returns the command line's name for a guild.
func guildWord(g memory.GuildID) string {
	if g == memory.DirectGuild {
		return "direct"
	}
	return g.String()
}

// personalData returns all that is kept about the user in the guild. It names only channels that they can read. Of the
// lore that they told, which others may have changed, it has only what they may read.
func (c *Commands) personalData(ctx context.Context, x *interaction) (personaldata.Person, error) {
	var lore []memory.Lore
	if x.Guild != 0 {
		var err error
		lore, err = c.lore(ctx, x)
		if err != nil {
			return personaldata.Person{}, err
		}
	}
	readable := c.readable(ctx, x)
	return personaldata.Of(ctx, c.Memory, x.who(), personaldata.View{
		Guilds: []*memory.Guild{x.server},
		Now:    c.Now(),
		Most:   c.Sizes.Unpacked,
		Guild:  func(g *memory.Guild) string { return cmp.Or(g.Name, guildWord(g.ID)) },
		Channel: func(g *memory.Guild, id memory.ChannelID) string {
			if at := g.Channel(id); at != nil && slices.Contains(readable, id) {
				return cmp.Or(at.Name, id.String())
			}
			return id.String()
		},
		Lore: func(l memory.Lore) bool {
			return slices.ContainsFunc(lore, func(may memory.Lore) bool { return may.ID == l.ID })
		},
	})
}

const (
	kindJSON = "application/json"
	kindGzip = "application/gzip"
)

// pack returns p as JSON, compressed if that has more than most bytes. It fails with personaldata.ErrTooLarge if that
// is still too large.
func pack(p personaldata.Person, most int) (markdown.File, error) {
	var plain bytes.Buffer
	if err := p.Write(&plain); err != nil {
		return markdown.File{}, fmt.Errorf("write an export: %w", err)
	}
	file := markdown.File{
		Name: "hark-" + p.User.String() + ".json",
		Kind: kindJSON,
		Data: plain.Bytes(),
	}
	if plain.Len() <= most {
		return file, nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.Copy(w, &plain)
	if err := errors.Join(err, w.Close()); err != nil {
		return markdown.File{}, fmt.Errorf("pack an export: %w", err)
	}
	if packed.Len() > most {
		return markdown.File{}, personaldata.ErrTooLarge
	}
	return markdown.File{
		Name: file.Name + ".gz",
		Kind: kindGzip,
		Data: packed.Bytes(),
	}, nil
}

// codeClosed is Discord's code for a user who takes no direct messages from us.
const codeClosed = 50007

func (c *Commands) sendExport(ctx context.Context, x *interaction, file markdown.File) (response, error) {
	content := x.Text(exportHere)
	if x.Guild != 0 {
		content = x.Text(exportDirect, "**"+markdown.Plain(cmp.Or(x.server.Name, x.guild().String()), 100)+"**")
	}
	direct, err := c.Client.Direct(ctx, x.who())
	if err == nil {
		err = c.Client.SendFile(ctx, direct, memory.MessageID(x.ID), x.packed(content, file), file)
	}
	switch {
	case discord.Code(err) == codeClosed || discord.Status(err) == 403:
		return response{}, refusal(x.Text(exportClosed))
	case err != nil:
		return response{}, fmt.Errorf("send an export: %w", err)
	}
	return response{Content: x.Text(exportSent, fmt.Sprintf("https://discord.com/channels/@me/%d", direct))}, nil
}
