package bot

import (
	"context"
	"fmt"

	"github.com/bwmarrin/discordgo"
	"github.com/rs/zerolog"
)

// The flags of an application that may read messages' content: as a large bot, that Discord has verified, or as
// one of fewer than a hundred guilds. https://discord.com/developers/docs/resources/application
const (
	flagMessageContent        = 1 << 18
	flagMessageContentLimited = 1 << 19
)

// Check reports what would keep Run from working, without connecting to the gateway: ErrNoToken, ErrToken,
// ErrIntents or ErrUnreachable.
func Check(ctx context.Context, cfg Config) error {
	b, err := New(cfg, nil, nil, zerolog.Nop())
	if err != nil {
		return err
	}
	b.rest.backoff = b.timing.retry
	if _, err := b.introduce(ctx); err != nil {
		return err
	}
	var application struct {
		Flags int `json:"flags"`
	}
	address := discordgo.EndpointAPI + "applications/@me"
	if err := b.rest.call(ctx, "GET", address, address, nil, &application); err != nil {
		return fmt.Errorf("ask Discord for the application: %w", err)
	}
	if application.Flags&(flagMessageContent|flagMessageContentLimited) == 0 {
		return ErrIntents
	}
	return nil
}
