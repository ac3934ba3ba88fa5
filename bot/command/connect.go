package command

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hark/bot/markdown"
	"hark/memory"
)

const (
	connectsNot = "No program of yours can read here: whoever runs me hasn't switched that on."
	connectsOff = "No program of yours can read here: those who manage this server haven't switched that on (`/hark set`)."
	inServers   = "That works in servers only."
	connectedTo = "**A program of yours can now read here what you may read**\nAddress: `%s`\nToken: ||`%s`||\n" +
		"Give both to a program that speaks the Model Context Protocol (MCP). I show the token only now. Whoever has it reads here as you do, and what a program reads goes to its language model: choose one that you trust with what others wrote. `/memory show` counts the uses, and `/memory disconnect` takes the token back."
)

// connect gives the user a token, by which a program of theirs reads what they may read.
func (c *Commands) connect(ctx context.Context, x *interaction, m member) (response, error) {
	switch {
	case x.Guild == 0:
		return response{}, refusal(x.Text(inServers))
	case c.Privacy.Programs == "":
		return response{}, refusal(x.Text(connectsNot))
	case !c.Replies.Choices.In(x.server, 0).Programs:
		return response{}, refusal(x.Text(connectsOff))
	case m.out:
		return response{}, refusal(x.Text(youAreOut))
	}
	member, err := c.Memory.Member(ctx, x.guild(), x.who())
	if err != nil {
		return response{}, err
	}
	before := member.Connection
	token, hash := memory.NewToken(x.guild(), x.who())
	err = c.apply(ctx, x, "keep a token", memory.Connected{
		Guild: x.guild(),
		User:  x.who(),
		Hash:  hash,
		At:    later(c.Now(), before.At.Add(time.Millisecond)),
	})
	if err != nil {
		return response{}, err
	}
	member, err = c.Memory.Member(ctx, x.guild(), x.who())
	if err != nil || member.Connection.Hash != hash {
		return response{}, cmp.Or(err, errors.New("a token wasn't kept: another was made meanwhile"))
	}
	return response{Content: markdown.Lines(x.Text(connectedTo, c.Privacy.Programs, token),
		when(before.IsOpen(), x.Text("The token that you had before no longer works.")))}, nil
}

// disconnect takes the user's token back.
func (c *Commands) disconnect(ctx context.Context, x *interaction) (response, error) {
	member, err := c.Memory.Member(ctx, x.guild(), x.who())
	if err != nil {
		return response{}, err
	}
	before := member.Connection
	if !before.IsOpen() {
		return response{}, refusal(x.Text("You have no token here, so there is nothing to take back."))
	}
	return response{Content: x.Text("Taken back: whoever has the token reads nothing here any more.")},
		c.apply(ctx, x, "take back a token", memory.Connected{
			Guild: x.guild(),
			User:  x.who(),
			At:    later(c.Now(), before.At.Add(time.Millisecond)),
		})
}

// showConnection says that a program of the user's may read, and how often it did; "" if none may.
func (c *Commands) showConnection(ctx context.Context, x *interaction, _ member) (string, error) {
	known, err := c.Memory.Member(ctx, x.guild(), x.who())
	now := known.Connection
	if err != nil || !now.IsOpen() {
		return "", err
	}
	return markdown.Lines(x.Text("**A program of yours**"),
		"- "+x.Text("It may read here what you may read, since <t:%d:f>. `/memory disconnect` takes that back.",
			now.At.Unix()),
		"- "+x.Text("Uses: %s", x.Locale.Number(now.Uses))+when(now.Uses > 0,
			x.Text(", the last one <t:%d:f>", now.Used.Unix()))), nil
}
