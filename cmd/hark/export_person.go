package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"hark/internal/portrait"
	"hark/memory"
)

func (k *kept) exportUser(ctx context.Context, w io.Writer, guild memory.GuildID, name string) error {
	user, _, err := k.personCalled(ctx, guild, name)
	if err != nil {
		return err
	}
	v := portrait.View{Now: time.Now(), Guild: guildName, Channel: func(g *memory.Guild, c memory.ChannelID) string { return k.channelName(g.ID, c) }}
	for _, g := range k.guilds {
		if guild == memory.Everywhere || guild == g.ID {
			v.Guilds = append(v.Guilds, g)
		}
	}
	e, err := portrait.Of(ctx, k, user, v)
	if errors.Is(err, portrait.ErrNothing) {
		return fmt.Errorf("nothing is remembered about %d", user)
	}
	if err != nil {
		return err
	}
	return e.Write(w)
}
