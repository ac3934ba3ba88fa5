package command

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"

	"hark/bot/discord"
	"hark/bot/markdown"
	"hark/memory"
)

const ownerRefuted = "**%s**: I saw a member who has the role %s and doesn't have %s. In `/hark audience` it was stated that whoever has the first has the second. That no longer counts, so there are channels where I tell less. You or an administrator can state it again, once it is true."

const ownerLapsed = "**%s**: In `/hark audience` it was stated that whoever has the role %s has %s, perhaps by somebody who is neither you nor an administrator. That no longer counts, so there are channels where I tell less. You or an administrator can state it again, if it is true."

// tellRefuted tells the owner of g what of what was stated of roles doesn't count any more. `/hark status` tells
// everybody who manages the server.
func (n *Notices) tellRefuted(ctx context.Context, id memory.GuildID) error {
	g, err := n.Memory.Guild(ctx, id)
	if err != nil || !g.Left.IsZero() {
		return err
	}
	for _, i := range g.Untold() {
		err := n.tellOwner(ctx, g, i)
		if errors.Is(err, discord.ErrGone) { // the owner takes no messages
			n.Log.Warn().Err(discord.Redact(err)).Int64("guild", int64(id)).
				Msg("couldn't tell an owner that what was stated of roles doesn't count any more; /hark status tells it")
		} else if err != nil {
			return err
		}
		if err := n.Queue.Commit(ctx, []memory.Event{g.Told(i, n.Now())}); err != nil {
			return err
		}
	}
	return nil
}

// tellOwner tells the owner of g that i doesn't count any more.
func (n *Notices) tellOwner(ctx context.Context, g *memory.Guild, i memory.Implied) error {
	channel, err := n.Client.Direct(ctx, g.Owner)
	if err != nil {
		return discord.Wrap(err, "write to the owner of server", memory.ChannelID(g.ID))
	}
	l := n.Replies.LocaleIn(ctx, g.ID, 0)
	name := markdown.Plain(g.Name, 100)
	text := l.Text(ownerRefuted, name, roleName(g, i.Role), roleName(g, i.Also))
	if slices.Contains(g.Lapsed(), i) {
		text = l.Text(ownerLapsed, name, roleName(g, i.Role), roleName(g, i.Also))
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatInt(int64(g.ID), 36) + string(i.Setting()) + g.Settings[i.Setting()]))
	t := &discord.Sender{Client: n.Client, Channel: channel}
	m := discord.Saying(text)
	m.Nonce = "i" + strconv.FormatUint(h.Sum64(), 36)
	m.EnforceNonce = true
	_, err = t.Post(ctx, m)
	return err
}

// roleName returns a role's name as text, because nobody can mention a role outside its server.
func roleName(g *memory.Guild, id memory.RoleID) string {
	at := slices.IndexFunc(g.Roles, func(r memory.Role) bool { return r.ID == id })
	return "@" + markdown.Plain(g.Roles[at].Name, 100)
}
