package mcpserver_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/embed"
	"hark/internal/guildtest"
	"hark/internal/mcpserver"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
	"hark/memory/sqlite"
	"hark/search"
)

func TestMain(m *testing.M) {
	flag.Parse()
	draws := "20"
	if os.Getenv("HARK_LONG") != "" {
		draws = "500"
	}
	if err := flag.Set("rapid.checks", draws); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// now is when everybody asks.
var now = time.Date(2024, 6, 15, 12, 0, 0, 0, time.UTC)

// house is a store with an engine over it.
type house struct {
	*sqlite.Store
	engine *answer.Engine
}

// newHouse returns an empty house, and what closes it.
func newHouse(t interface{ Fatal(...any) }, dir string) (*house, func()) {
	store, err := sqlite.Open(context.Background(), dir, sqlite.Options{Space: embed.Builtin{}.Space()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := builder.New(builder.Options{Citations: true}, tokenstest.For(""))
	if err != nil {
		t.Fatal(err)
	}
	return &house{store, answer.New(store, search.New(store, store, embed.Builtin{}), b, nil, answer.Options{})},
		func() { store.Close() }
}

// connect returns a client of a server.
func connect(t interface{ Fatal(...any) }, s *mcp.Server) *mcp.ClientSession {
	here, there := mcp.NewInMemoryTransports()
	if _, err := s.Connect(context.Background(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// call returns the text of a call, and whether it failed.
func call(t interface{ Fatal(...any) }, c *mcp.ClientSession, tool string, arguments map[string]any) (string, bool) {
	r, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(tool, err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

// everything is all that the five tools tell of a lighthouse.
func everything(t interface{ Fatal(...any) }, c *mcp.ClientSession, channels []memory.Channel) (found, all string) {
	found, _ = call(t, c, "search", map[string]any{"query": "lighthouse", "limit": 25})
	all = found
	add := func(tool string, arguments map[string]any) {
		text, _ := call(t, c, tool, arguments)
		all += "\n" + text
	}
	add("context", map[string]any{"question": "What of the lighthouse?"})
	add("lore", nil)
	for _, at := range channels {
		add("lore", map[string]any{"name": fmt.Sprintf("lore-%d-of", at.ID)})
		add("catch_up", map[string]any{"channel": at.ID.String(), "since": "2024-06-10"})
		add("search", map[string]any{"query": "lighthouse", "channel": at.ID.String()})
	}
	add("people", map[string]any{"name": "Keeper"})
	return found, all
}

// Nobody is told what they can't read in Discord, by any tool; and all that they can is found.
func TestReadersAreToldWhatTheyMayRead(t *testing.T) {
	const keeper, recluse memory.UserID = 7_000, 8_000
	told, kept := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := guildtest.Draw(rt, 100_000, 4)
		viewer := w.DrawViewer(rt)
		if viewer == nil {
			viewer = &guildtest.Member{ID: memory.UserID(w.Guild.ID) + 1, Roles: []memory.RoleID{}}
		}
		dir, err := os.MkdirTemp(t.TempDir(), "house")
		if err != nil {
			rt.Fatal(err)
		}
		h, closes := newHouse(rt, dir)
		defer closes()
		events := []memory.Event{memory.GuildSeen{Guild: w.Guild}, memory.PersonSeen{
			Person: memory.Person{ID: keeper, Guild: w.Guild.ID, Name: "Keeper"}}}
		hermitage := w.Guild.Channels[len(w.Guild.Channels)-1]
		for _, p := range w.People {
			p.Guild = w.Guild.ID
			events = append(events, memory.PersonSeen{Person: p})
		}
		events = append(events, memory.PersonSeen{Person: memory.Person{ID: recluse, Guild: w.Guild.ID, Name: "Recluse"}},
			memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(now.Add(-time.Minute)), Guild: w.Guild.ID,
				Channel: hermitage.ID, Author: recluse, Content: "Leave me alone"}})
		for i, c := range w.Guild.Channels {
			id := memory.FirstMessageID(now.Add(-time.Duration(i+1) * time.Hour))
			events = append(events, memory.Posted{Message: memory.Message{ID: id, Guild: w.Guild.ID, Channel: c.ID,
				Author: keeper, Content: fmt.Sprintf("The lighthouse says word-%d-of", c.ID)}},
				memory.LoreTold{Lore: memory.Lore{ID: int64(i + 1), Guild: w.Guild.ID, Channel: c.ID, By: keeper, At: now,
					Name: fmt.Sprintf("lore-%d-of", c.ID), Text: "the lighthouse"}},
				memory.FactTold{Guild: w.Guild.ID, User: keeper, Fact: memory.Fact{ID: int64(i + 1), By: keeper,
					Channel: c.ID, Text: fmt.Sprintf("keeps fact-%d-of", c.ID)}})
		}
		if err := h.Apply(rt.Context(), events...); err != nil {
			rt.Fatal(err)
		}
		client := connect(rt, mcpserver.New(mcpserver.Config{Engine: h.engine, Asker: func(context.Context) (answer.Question, error) {
			return answer.Question{Guild: w.Guild.ID, Asker: viewer.ID, Roles: viewer.Roles, Now: now, OnlyAsker: true}, nil
		}, Failed: func(tool string, err error) { rt.Errorf("%s: %v", tool, err) }}))
		defer client.Close()
		found, all := everything(rt, client, w.Guild.Channels)
		for _, c := range w.Guild.Channels {
			may := (viewer.Roles != nil || viewer.ID == w.Guild.Owner) && w.Allowed(nil, memory.Channel{}, c, viewer)
			if may {
				told++
			} else {
				kept++
			}
			for _, canary := range []string{"word", "lore", "fact"} {
				if canary = fmt.Sprintf("%s-%d-of", canary, c.ID); strings.Contains(all, canary) && !may {
					rt.Fatalf("%+v is told %q, and can't read channel %d\n%+v\n%s", viewer, canary, c.ID, w.Guild, all)
				}
			}
			if may != strings.Contains(found, fmt.Sprintf("word-%d-of", c.ID)) {
				rt.Fatalf("%+v may read channel %d: %v\n%+v\n%s", viewer, c.ID, may, w.Guild, found)
			}
		}
		known, _ := call(rt, client, "people", map[string]any{"name": "Recluse"})
		may := (viewer.Roles != nil || viewer.ID == w.Guild.Owner) && w.Allowed(nil, memory.Channel{}, hermitage, viewer)
		if may != strings.Contains(known, "Recluse") {
			rt.Fatalf("%+v may know who wrote in channel %d: %v\n%s", viewer, hermitage.ID, may, known)
		}
		if err := h.Apply(rt.Context(), memory.Opted{Guild: w.Guild.ID, User: keeper, Out: true, At: now}); err != nil {
			rt.Fatal(err)
		}
		if _, all := everything(rt, client, w.Guild.Channels); strings.Contains(all, "-of") {
			rt.Fatalf("told of somebody who opted out: %s", all)
		}
	})
	if t.Logf("%d channels told of, %d not", told, kept); told == 0 || kept == 0 {
		t.Error("the guilds drawn are too much alike")
	}
}
