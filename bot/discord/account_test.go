package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		token func(*discordtest.Server) string
		want  error
	}{
		{"all is well", func(d *discordtest.Server) string { return d.Token }, nil},
		{"no token", func(*discordtest.Server) string { return "" }, ErrNoToken},
		{"a wrong token", func(*discordtest.Server) string { return "wrong" }, ErrToken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := discordtest.New(t)
			a, err := Check(t.Context(), Options{Token: c.token(d), APIURL: d.URL})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err == nil && (a.App != d.AppID.String() || a.Name != d.Bot.Username || !a.Content) {
				t.Errorf("it is %+v", a)
			}
		})
	}
}

func TestCheckWithoutDiscord(t *testing.T) {
	t.Parallel()
	if _, err := Check(t.Context(), Options{Token: "x", APIURL: "http://127.0.0.1:1"}); !errors.Is(err,
		ErrUnreachable) {
		t.Errorf("nobody is there, and it says %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, Options{Token: "x", APIURL: "http://127.0.0.1:1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled check says %v", err)
	}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	d := discordtest.New(t, discordtest.WithIntents(0), discordtest.WithStarts(7))
	garden, lawn, shed := d.AddGuild("Garden"), d.AddGuild("Lawn"), d.AddGuild("Shed")
	d.UpdateRole(lawn.ID, lawn.ID, func(r *discordtest.Role) { r.Permissions = discordtest.ViewChannel })
	d.UpdateRole(lawn.ID, lawn.BotRole.ID, func(r *discordtest.Role) { r.Permissions = discordtest.SendMessages })
	d.UpdateRole(shed.ID, shed.BotRole.ID, func(r *discordtest.Role) { r.Permissions = discordtest.Administrator })
	d.UpdateRole(shed.ID, shed.ID, func(r *discordtest.Role) { r.Permissions = 0 })
	d.DenyCommands(shed.ID)
	a, err := Check(t.Context(), Options{Token: d.Token, APIURL: d.URL})
	if err != nil || a.Content {
		t.Fatalf("%+v, %v", a, err)
	}
	guilds, err := a.Guilds(t.Context())
	if err != nil || len(guilds) != 3 {
		t.Fatalf("%+v, %v", guilds, err)
	}
	want := []GuildAccess{
		{ID: memory.GuildID(garden.ID), Name: "Garden"},
		{ID: memory.GuildID(lawn.ID), Name: "Lawn", Missing: []string{"Attach Files", "Read Message History",
			"Send Messages in Threads"}},
		{ID: memory.GuildID(shed.ID), Name: "Shed", NoCommands: true},
	}
	if fmt.Sprint(guilds) != fmt.Sprint(want) {
		t.Errorf("\ngot  %+v\nwant %+v", guilds, want)
	}
	starts, err := a.Starts(t.Context())
	if err != nil || starts != (Starts{Total: 1000, Remaining: 7, Reset: 24 * time.Hour, Shards: 1}) {
		t.Errorf("%+v, %v", starts, err)
	}
	d.Inject("GET /users/@me/guilds", 2, discordtest.ServerError())
	d.Inject("GET /gateway/bot", 1, discordtest.Forbidden())
	if _, err := a.Guilds(t.Context()); Status(err) != 500 {
		t.Errorf("of guilds: %v", err)
	}
	if _, err := a.Starts(t.Context()); Status(err) != 403 {
		t.Errorf("of the gateway: %v", err)
	}
}

// Discord tells of 200 guilds at once; of so many, none is asked about commands.
func TestAccountInManyGuilds(t *testing.T) {
	t.Parallel()
	d := discordtest.New(t)
	for n := range guildPage + 3 {
		d.AddGuild(fmt.Sprint("Garden ", n))
	}
	a, err := Check(t.Context(), Options{Token: d.Token, APIURL: d.URL})
	if err != nil {
		t.Fatal(err)
	}
	guilds, err := a.Guilds(t.Context())
	if err != nil || len(guilds) != guildPage+3 || !slices.IsSortedFunc(guilds, func(a, b GuildAccess) int {
		return int(a.ID - b.ID)
	}) {
		t.Errorf("%d guilds, %v", len(guilds), err)
	}
	if n := len(d.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}
