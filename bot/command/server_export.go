package command

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"hark/bot/discord"
	"hark/bot/markdown"
	"hark/internal/exports"
	"hark/memory"
)

const (
	exportPage  = 100     // messages read and written at once
	exportPart  = 6 << 20 // bytes after which a new file is begun: one page more is within Discord's limit
	exportParts = 10      // files at most
)

// serverExport is an export of a server while it is made.
type serverExport struct {
	x      *interaction
	people exports.People
	after  memory.MessageID // exclusive
	until  memory.MessageID // inclusive
	limit  int              // bytes after which a new file is begun
	whole  bool             // the whole server, not one channel

	data     bytes.Buffer
	packed   *gzip.Writer
	lines    *json.Encoder
	parts    int // sent
	messages int
	cut      *memory.Message // the first message without room; nil: all had room
}

// exportServer gives a manager of the server what is remembered of it, as far as they can read it in Discord, as files
// that only they see and that aren't kept.
func (c *Commands) exportServer(ctx context.Context, x *interaction, only memory.Channel) (response, error) {
	if err := c.Settled(ctx, x.guild()); err != nil {
		return response{}, err
	}
	all, err := c.Memory.People(ctx, x.guild())
	if err != nil {
		return response{}, fmt.Errorf("look up the people of server %d: %w", x.guild(), err)
	}
	people := make(map[memory.UserID]memory.Person, len(all))
	for _, p := range all {
		people[p.ID] = p
	}
	e := &serverExport{
		x:      x,
		people: people,
		after:  -1 << 63,
		until:  1<<63 - 1,
		limit:  c.Sizes.Part,
		whole:  only.ID == 0,
	}
	since, _, err := c.timeOption(x, "since")
	if err != nil {
		return response{}, err
	}
	before, _, err := c.timeOption(x, "before")
	if err != nil {
		return response{}, err
	}
	if err := e.between(since, before); err != nil {
		return response{}, err
	}
	for _, at := range c.exportable(ctx, x, only.ID) {
		if err := e.channel(ctx, c.Memory, at); err != nil {
			return response{}, c.cantSend(ctx, x, err)
		}
	}
	if err := e.send(ctx); err != nil {
		return response{}, c.cantSend(ctx, x, err)
	}
	return e.done(), nil
}

// exportable returns the remembered channels that the user can read now; unless only is 0, only that one and its
// threads.
func (c *Commands) exportable(ctx context.Context, x *interaction, only memory.ChannelID) []memory.Channel {
	readable := c.readable(ctx, x)
	var channels []memory.Channel
	for _, at := range x.server.Channels {
		wanted := only == 0 || at.ID == only || at.Kind.IsThread() && at.Parent == only
		if wanted && slices.Contains(readable, at.ID) && x.remembers(at.ID) {
			at.Guild = x.guild()
			channels = append(channels, at)
		}
	}
	slices.SortFunc(channels, func(a, b memory.Channel) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return channels
}

// between limits the export to the given times; zero: no limit.
func (e *serverExport) between(since, before time.Time) error {
	if !since.IsZero() {
		e.after = memory.FirstMessageID(since) - 1
	}
	if !before.IsZero() {
		e.until = memory.FirstMessageID(before) - 1
	}
	if e.after >= e.until {
		return refusal(e.x.Text("Nothing was said between these times: “since” is later than “before”."))
	}
	return nil
}

// channel writes a channel's messages.
func (e *serverExport) channel(ctx context.Context, log memory.MessageReader, at memory.Channel) error {
	parent := e.x.server.Channel(at.Parent)
	for after := e.after; e.cut == nil; {
		page, err := log.Log(ctx, at.ID, after, e.until, exportPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		if e.packed != nil && e.data.Len() >= e.limit {
			if err := e.send(ctx); err != nil {
				return err
			}
		}
		if e.parts == exportParts {
			e.cut = &page[0]
			return nil
		}
		if e.packed == nil {
			e.packed = gzip.NewWriter(&e.data)
			e.lines = exports.NewEncoder(e.packed)
		}
		for _, m := range page {
			_ = e.lines.Encode(exports.In(at, parent, m, e.people)) // can't fail
		}
		_ = e.packed.Flush() // so that data.Len counts it
		e.messages += len(page)
	}
	return nil
}

// send sends the current file, if there is one.
func (e *serverExport) send(ctx context.Context) error {
	if e.packed == nil {
		return nil
	}
	_ = e.packed.Close()
	e.parts++
	if e.parts == 1 { // else the first file would replace the response
		if err := e.x.show(ctx, response{Content: e.x.Text("I'm gathering it. The files come below.")}); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("hark-%d-%s-%d.jsonl.gz", e.x.Guild,
		memory.MessageID(e.x.ID).Time().Format("20060102"), e.parts)
	err := e.x.add(ctx, e.x.Text("File %d", e.parts), markdown.File{
		Name: name,
		Kind: "application/gzip",
		Data: e.data.Bytes(),
	})
	e.data.Reset()
	e.packed = nil
	return err
}

// done says what the files contain.
func (e *serverExport) done() response {
	x := e.x
	if e.parts == 0 {
		return response{Content: x.Text("There is nothing to export: I remember nothing that you can read here, or nothing from these times.")}
	}
	rest := ""
	left := ""
	if e.whole {
		left = x.Text("-# Age-restricted channels and private threads are given only when the command is used there.")
	}
	if e.cut != nil {
		rest = x.Text("**That isn't all**: there is more than I can send, from <#%d>, <t:%d:f> on. Choose a channel or a time with `channel`, `since` and `before`; whoever runs me gets all of a channel by `hark export --channel`.", e.cut.Channel, e.cut.Time().Unix())
	}
	return paragraphs(
		x.Count(e.messages, "%s message, from the channels that you can read.",
			"%s messages, from the channels that you can read."), rest, left,
		x.Text("-# Each file is JSON, one message a line, compressed with gzip; `hark import` reads it. It isn't encrypted, and what I forget later stays in it: keep it private, and delete it when you don't need it any more. I keep no copy."))
}

// cantSend returns err, or a refusal if Discord refuses the file.
func (c *Commands) cantSend(ctx context.Context, x *interaction, err error) error {
	if !discord.RefusesFiles(err) {
		return err
	}
	if discord.Code(err) == discord.CodeMissingPermission {
		return refusal(c.Grants.Lacking(x.Locale, x.guild(), memory.ChannelID(x.Channel), discord.AttachFiles))
	}
	return refusal(x.Text("Discord doesn't take a file that large. Choose a channel or a time with `channel`, `since` and `before`; whoever runs me gets all of a channel by `hark export --channel`."))
}

// UsualSizes are the sizes outside tests.
var UsualSizes = Sizes{
	Part:     exportPart,
	File:     markdown.MaxFileBytes,
	Unpacked: mostExported,
}
