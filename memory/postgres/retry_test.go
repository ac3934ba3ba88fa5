package postgres_test

import (
	"testing"

	"hark/memory"
	"hark/memory/postgres/postgrestest"
)

// A server that restarts ends all connections. Nobody's read or write fails for that.
func TestReadsAndWritesOutliveARestart(t *testing.T) {
	t.Parallel()
	address := postgrestest.URL(t)
	p := openProcess(t, address)
	g := memory.Guild{ID: 1, Name: "Orchard", Channels: []memory.Channel{{ID: 2, Guild: 1, Name: "general"}}}
	if err := p.Apply(t.Context(), memory.GuildSeen{Guild: g}); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{
		"guild":  func() error { _, err := p.Guild(t.Context(), 1); return err },
		"people": func() error { _, err := p.People(t.Context(), 1); return err },
		"messages": func() error {
			_, err := p.Around(t.Context(), 2, []memory.MessageID{3}, 0, 0)
			return err
		},
		"words": func() error {
			_, err := p.FullText(t.Context(), memory.Scope{Channels: []memory.ChannelID{2}}, []string{"apples"}, 5)
			return err
		},
		"write": func() error { return p.write(t) },
	}
	for name, read := range reads {
		if err := read(); err != nil { // its connection is used again at once
			t.Fatalf("%s: %v", name, err)
		}
		postgrestest.Terminate(t, address)
		if err := read(); err != nil {
			t.Errorf("%s after a restart: %v", name, err)
		}
	}
}
