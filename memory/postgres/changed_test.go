package postgres_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

// about counts the statements that have a guild among their arguments.
type about struct {
	guild      memory.GuildID
	mu         sync.Mutex
	statements []string
}

// TraceQueryStart implements pgx.QueryTracer.
func (a *about) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(q.Args, any(int64(a.guild))) || slices.Contains(q.Args, any(int64(memory.Everywhere))) {
		a.statements = append(a.statements, q.SQL)
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (a *about) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestAnotherProcessReadsOnlyTheGuildsThatChanged(t *testing.T) {
	t.Parallel()
	const changed, other memory.GuildID = 3001, 3002
	ctx, url := t.Context(), postgrestest.URL(t)
	o := postgres.Options{Space: memorytest.Embedder{}.Space()}
	open := func(o postgres.Options) memory.Opened {
		s, err := postgres.Open(ctx, url, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	seen := func(guild memory.GuildID, name string) memory.Event {
		return memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: name,
			Channels: []memory.Channel{{ID: memory.ChannelID(guild) + 10, Name: name}}}}
	}
	writer, trace := open(o), &about{guild: other}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(writer.Apply(ctx, seen(changed, "before"), seen(other, "other")))
	reader := open(o.Traced(trace))
	read := func(guild memory.GuildID) string {
		t.Helper()
		g, err := reader.Guild(ctx, guild)
		must(err)
		_, err = reader.People(ctx, guild)
		must(err)
		return g.Name + " " + g.Channels[0].Name
	}
	read(changed)
	read(other)
	trace.statements = nil
	must(writer.Apply(ctx, seen(changed, "after")))
	if got := read(changed); got != "after after" {
		t.Errorf("the guild that another process changed is %q", got)
	}
	if got := read(other); got != "other other" || len(trace.statements) > 0 {
		t.Errorf("the other guild is %q, after %d statements about it: %q", got, len(trace.statements), trace.statements)
	}
	// A write begins with what the others changed, too.
	must(writer.Apply(ctx, memory.PersonSeen{Person: memory.Person{ID: 7, Guild: changed, Username: "ada"}}))
	must(reader.Apply(ctx, memory.PersonSeen{Person: memory.Person{ID: 8, Guild: changed, Username: "bob"}}))
	if people, err := reader.People(ctx, changed); err != nil || len(people) != 2 {
		t.Errorf("there are %d people, %v", len(people), err)
	}
}

// cutter closes the connection when the structure is read again.
type cutter struct{ armed atomic.Bool }

// TraceQueryStart implements pgx.QueryTracer.
func (k *cutter) TraceQueryStart(ctx context.Context, c *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, "key, value, chooser FROM") && k.armed.Swap(false) {
		_ = c.PgConn().Conn().Close()
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (k *cutter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// What a process committed is in its caches, even if it couldn't read it again at once.
func TestCachesOutliveALostConnection(t *testing.T) {
	t.Parallel()
	k := &cutter{}
	s, err := postgres.Open(t.Context(), postgrestest.URL(t),
		postgres.Options{Space: memorytest.Embedder{}.Space()}.Traced(k))
	must(t, err)
	named := func(name string) memory.Event {
		return memory.GuildSeen{Guild: memory.Guild{ID: 100, Name: name, Channels: []memory.Channel{{ID: 1000, Name: "general"}}}}
	}
	must(t, s.Apply(t.Context(), named("before")))
	k.armed.Store(true)
	if err := s.Apply(t.Context(), named("after")); err == nil || k.armed.Load() {
		t.Fatalf("nothing was cut: this test shows nothing: %v", err)
	}
	g, err := s.Guild(t.Context(), 100)
	if must(t, err); g.Name != "after" {
		t.Errorf("it is still called %q", g.Name)
	}
	must(t, s.Close())
}
