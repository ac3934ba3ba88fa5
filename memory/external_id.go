package memory

import (
	"context"
	"fmt"
)

// ExternalIDs is the part of Store that knows the ids of messages outside Discord.
type ExternalIDs interface {
	ExternalIDs(ctx context.Context, channel ChannelID, messages []MessageID, ids ...string) (map[MessageID]string, error)
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
