package ingest

import (
	"testing"

	"hark/memory"
)

func TestReadinessWaitsForTheGuild(t *testing.T) {
	t.Parallel()
	const one = `{"id":"1","name":"Garden","owner_id":"9","roles":[{"id":"1","permissions":"0"}],"channels":[]}`
	ready := rawItem("READY", `{"guilds":[{"id":"1","unavailable":true},{"id":"2","unavailable":true}]}`)
	create := rawItem("GUILD_CREATE", one)
	for _, tt := range []struct {
		name  string
		items []Item
		known []memory.GuildID // of 1, 2 and 3, which Hark isn't in
	}{
		{"before the connection", nil, nil},
		{"guilds are named only", []Item{ready}, []memory.GuildID{3}},
		{"one is told of", []Item{ready, create}, []memory.GuildID{1, 3}},
		{"it changes", []Item{ready, rawItem("GUILD_UPDATE", one)}, []memory.GuildID{3}},
		{"it has trouble", []Item{ready, create, rawItem("GUILD_DELETE", `{"id":"1","unavailable":true}`)},
			[]memory.GuildID{3}},
		{"it has trouble still", []Item{ready, rawItem("GUILD_CREATE", `{"id":"1","unavailable":true}`)},
			[]memory.GuildID{3}},
		{"it removes Hark", []Item{ready, rawItem("GUILD_DELETE", `{"id":"1"}`)}, []memory.GuildID{1, 3}},
		{"it can't be read, so that it is fetched",
			[]Item{ready, rawItem("GUILD_CREATE", `{"id":"1","roles":7}`)}, []memory.GuildID{3}},
		{"another connection", []Item{ready, create, ready}, []memory.GuildID{3}},
		{"another connection, after one that told what can't be read",
			[]Item{ready, rawItem("GUILD_CREATE", `{"id":"1","roles":7}`), ready}, []memory.GuildID{3}},
		{"another connection that tells as well", []Item{ready, create, ready, create}, []memory.GuildID{1, 3}},
		{"a connection of which nothing can be read, but of one guild",
			[]Item{rawItem("READY", `{"guilds":7}`), create}, []memory.GuildID{1}},
		{"the same, and it has trouble", []Item{rawItem("READY", `{"guilds":7}`), create,
			rawItem("GUILD_DELETE", `{"id":"1","unavailable":true}`)}, nil},
		{"another connection of which nothing can be read",
			[]Item{ready, create, rawItem("READY", `{"guilds":7}`)}, nil},
	} {
		for _, together := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				log := newFakeLog(t)
				p := newTestWriter(NewQueue(), log)
				for i, it := range tt.items {
					var err error
					if !together {
						err = p.write(t.Context(), tt.items[i:i+1])
					} else if i == 0 {
						err = p.write(t.Context(), tt.items)
					}
					if err != nil {
						t.Fatalf("write item %d, a %s: %v", i, it.Raw.kind, err)
					}
				}
				for guild := range memory.GuildID(4) {
					known := guild == memory.DirectGuild
					for _, g := range tt.known {
						known = known || g == guild
					}
					if err := p.Guilds.Wait(t.Context(), guild, 0); (err == nil) != known {
						t.Errorf("guild %d: %v", guild, err)
					}
				}
			})
		}
	}
}
