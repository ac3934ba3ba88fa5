package memory

import (
	"context"
	"fmt"
)

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
