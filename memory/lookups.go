package memory

import (
	"context"
	"fmt"
)

// HasOptedOut reports whether a user has opted out in a guild.
func HasOptedOut(ctx context.Context, in Members, guild GuildID, user UserID) (bool, error) {
	m, err := in.Member(ctx, guild, user)
	return m.OptedOut, err
}

// MessageByExternalID returns a channel's message with an external id; ErrNotFound if there is none.
func MessageByExternalID(ctx context.Context, in ExternalIDs, channel ChannelID, id string) (MessageID, error) {
	found, err := in.ExternalIDs(ctx, channel, nil, id)
	if err != nil {
		return 0, err
	}
	for message := range found {
		return message, nil
	}
	return 0, fmt.Errorf("message %q of channel %d: %w", id, channel, ErrNotFound)
}
