package bot

import (
	"context"
	"errors"
	"testing"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		token func(*discordtest.Server) string
		opts  []discordtest.Option
		want  error
	}{
		{"all is well", func(d *discordtest.Server) string { return d.Token }, nil, nil},
		{"no token", func(*discordtest.Server) string { return "" }, nil, ErrNoToken},
		{"a wrong token", func(*discordtest.Server) string { return "wrong" }, nil, ErrToken},
		{"no Message Content intent", func(d *discordtest.Server) string { return d.Token },
			[]discordtest.Option{discordtest.WithoutIntents(discordtest.Intents(discordgo.IntentMessageContent))}, ErrIntents},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := discordtest.New(t, c.opts...)
			err := Check(t.Context(), Config{Token: c.token(d), APIURL: d.URL})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestCheckWithoutDiscord(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Check(ctx, Config{Token: "x", APIURL: "http://127.0.0.1:1"}); err == nil {
		t.Error("a cancelled check found nothing wrong")
	}
}
