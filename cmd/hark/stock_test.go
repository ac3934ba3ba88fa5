package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hark/internal/personaldata"
	"hark/memory"
	"hark/memory/sqlite"
)

// stocked is a command line on a memory of two servers, one of which removed Hark.
func stocked(t *testing.T) (c *commandLine, data string) {
	t.Helper()
	const garden, shed = 500, 600
	data = t.TempDir()
	day := func(n int) memory.MessageID {
		return memory.FirstMessageID(time.Date(2024, 5, n, 12, 0, 0, 0, time.UTC))
	}
	events := []memory.Event{
		memory.GuildSeen{Guild: memory.Guild{ID: garden, Name: "Garden", Channels: []memory.Channel{
			{ID: 501, Guild: garden, Name: "general"}, {ID: 502, Guild: garden, Name: "posts",
				Kind: memory.ForumChannel},
		}}},
		memory.GuildSeen{Guild: memory.Guild{ID: shed, Name: "Shed",
			Channels: []memory.Channel{{ID: 601, Guild: shed, Name: "tools"}}}},
		memory.ChannelSeen{Channel: memory.Channel{ID: 701, Guild: memory.DirectGuild,
			Kind: memory.DirectChannel, Name: "ann"}},
		memory.PersonSeen{Person: memory.Person{ID: 7, Guild: garden, Username: "ann", Nick: "Annie",
			Roles: []memory.RoleID{77}, RolesKnown: true}},
		memory.PersonSeen{Person: memory.Person{ID: 7, Guild: shed, Username: "ann"}},
		memory.PersonSeen{Person: memory.Person{ID: 8, Guild: shed, Username: "annie"}},
		memory.Learn{Guild: garden, User: 7, On: true, At: day(1).Time()},
		memory.Posted{Message: memory.Message{ID: day(2), Guild: garden, Channel: 501, Author: 7,
			Content: "I grow leeks"}},
		memory.Posted{Message: memory.Message{ID: day(3), Guild: shed, Channel: 601, Author: 7,
			Content: "Where is the rake?"}},
		memory.Posted{Message: memory.Message{ID: day(4), Guild: memory.DirectGuild, Channel: 701, Author: 7,
			Content: "Just between us"}},
		memory.FactTold{Guild: garden, User: 7, Fact: memory.Fact{ID: 1, Text: "grows leeks", By: 7,
			Channel: 501, Message: day(2)}},
		memory.LoreTold{Lore: memory.Lore{ID: 5, Guild: garden, Name: "Rake rota", Text: "Ann has it in May",
			Own: []string{"rakes"}, By: 7, Channel: 501, At: day(4).Time(),
			Sources: []memory.MessageRef{{Channel: 501, Message: day(2)}}}},
		memory.LoreTold{Lore: memory.Lore{ID: 6, Guild: garden, Name: "Shed key", Text: "is under the pot",
			At: day(4).Time()}},
		memory.GuildLeft{Guild: shed, At: day(5).Time()},
		memory.GapFound{Gap: memory.Gap{Guild: garden, Channel: 501, After: day(6), Until: day(7), Fetched: 3}},
	}
	opened(t, data, func(store *sqlite.Store) error { return store.Apply(t.Context(), events...) })
	return &commandLine{T: t, env: map[string]string{"HARK_DATA": data, "HARK_MEMORY_START": "on",
		"HARK_MEMORY_DIRECT": "true"}}, data
}

func (c *commandLine) says(text string) {
	c.Helper()
	if all := c.out.String() + c.err.String(); !strings.Contains(all, text) {
		c.Errorf("%q isn't said in\n%s", text, all)
	}
}

func (c *commandLine) exported(args ...string) (e personaldata.Person) {
	c.Helper()
	c.run(0, append([]string{"export"}, args...)...)
	if err := json.Unmarshal([]byte(c.out.String()), &e); err != nil {
		c.Fatal(err)
	}
	return e
}

func TestAllAboutAPersonIsExportedAndForgotten(t *testing.T) {
	t.Parallel()
	c, _ := stocked(t)
	for _, where := range [][]string{nil, {"--guild", "shed"}, {"--guild", "direct"}} {
		c.run(0, append([]string{"export", "--user", "7"}, where...)...)
		c.sees()
	}
	c.run(1, "forget", "--user", "7")
	c.sees()
	c.run(0, "forget", "--user", "7", "--yes")
	c.sees()
	c.stdin = "/lore list\n"
	c.run(0, "chat")
	if out := c.out.String(); !strings.Contains(out, "Shed key") || strings.Contains(out, "Rake rota") {
		t.Errorf("left is\n%s", out)
	}
}

func TestBackfillOnlyWhereItCanBe(t *testing.T) {
	t.Parallel()
	c, _ := stocked(t)
	// of threads only, of a server that removed Hark, direct messages
	for _, channel := range []string{"posts", "#tools", "701"} {
		c.run(1, "backfill", channel)
		c.sees()
	}
	c.run(0, "backfill")
	c.sees()
	c.run(1, "backfill", "general", "--since", "2024-05-03")
	c.sees()
	c.run(0, "backfill", "general", "--since", "2024-05-01T12:00:00Z")
	c.run(0, "backfill")
	c.sees()
	c.run(0, "backfill", "general", "--stop")
	c.run(0, "backfill")
	c.says("(missed)") // is fetched nevertheless
}

func TestForgettingTellsWhomAndWhat(t *testing.T) {
	t.Parallel()
	c, _ := stocked(t)
	c.run(1, "forget", "--user", "annie")
	c.sees()
	c.run(1, "forget", "--guild", "garden")
	c.sees()
	c.run(1, "forget", "--channel", "general", "--message", "7,8,7")
	c.sees()
	c.run(1, "forget", "--user", "12345")
	c.sees()
	c.run(0, "forget", "--channel", "tools", "--before", "2024-05-03T13:00:00Z", "--yes", "--json")
	var r deletionReportJSON
	if err := json.Unmarshal([]byte(c.out.String()), &r); err != nil || r.Guild != "600" ||
		r.Channel != 601 || r.Messages != 1 || r.Before.IsZero() {
		t.Errorf("%v: %s", err, c.out.String())
	}
	c.run(0, "forget", "--guild", "shed", "--before", "1h", "--yes")
	c.says("Forgotten: 0 messages.")
}

// Opting out everywhere includes servers without messages of theirs, and direct messages.
func TestOptingOutEverywhere(t *testing.T) {
	t.Parallel()
	c, data := stocked(t)
	c.run(0, "forget", "--user", "12345", "--opt-out", "--yes")
	c.run(0, "forget", "--user", "8", "--guild", "garden", "--opt-out", "--yes")
	opened(t, data, func(store *sqlite.Store) error {
		for _, at := range []struct {
			guild memory.GuildID
			user  memory.UserID
			want  bool
		}{{500, 12345, true}, {600, 12345, true}, {memory.DirectGuild, 12345, true}, {500, 8, true}, {600, 8, false},
			{500, 7, false}} {
			if out, err := memory.HasOptedOut(t.Context(), store, at.guild, at.user); err != nil || out != at.want {
				t.Errorf("%d in %d has opted out: %t, %v", at.user, at.guild, out, err)
			}
		}
		return nil
	})
}
