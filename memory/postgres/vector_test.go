package postgres_test

import (
	"slices"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/sqlstore"
)

// Two processes hold a guild's vectors. Each sees what the other stores, and what one forgets is in the memory of
// neither, whether the memory is sealed or not.
func TestProcessesSeeEachOthersVectors(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB, string) memory.Opened{"plain": openToy, "sealed": openSealed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := postgrestest.URL(t)
			one, other := open(t, url).(*sqlstore.Store), open(t, url).(*sqlstore.Store)
			say := func(s *sqlstore.Store, n int, text string) {
				t.Helper()
				id := memory.MessageID(n) << 46 // far apart, so in segments of their own
				must(t, s.Apply(t.Context(), memory.Posted{Message: memory.Message{ID: id, Guild: 100, Channel: 1000,
					Author: 7, Content: text}}))
				embedAll(t, s)
			}
			wantInMemory := func(what string, want ...memory.MessageID) {
				t.Helper()
				for _, s := range []*sqlstore.Store{one, other} {
					vector, err := memorytest.Embedder{}.Embed(t.Context(), memory.ForSearch, []string{"apples"})
					must(t, err)
					hits, err := s.Nearest(t.Context(), memory.Scope{Channels: []memory.ChannelID{1000}},
						memorytest.Embedder{}.Space(), vector[0], 10)
					must(t, err)
					var got []memory.MessageID
					for _, hit := range hits {
						for _, id := range hit.Messages {
							got = append(got, id>>46)
						}
					}
					slices.Sort(got)
					rows := sqlstore.Index(s).Stats().Rows
					if !slices.Equal(got, want) || int(rows) != len(want) {
						t.Errorf("after %s: found %v of %d vectors, want %v", what, got, rows, want)
					}
				}
			}
			say(one, 1, "apples")
			say(one, 2, "pears")
			wantInMemory("the first two", 1, 2)
			say(other, 3, "apples and pears")
			wantInMemory("one of the other process", 1, 2, 3)
			must(t, other.Apply(t.Context(), memory.Deleted{Guild: 100, Channel: 1000, IDs: []memory.MessageID{2 << 46}}))
			wantInMemory("a deletion", 1, 3)
			must(t, one.Apply(t.Context(), memory.Posted{Message: memory.Message{ID: 4 << 46, Guild: 100, Channel: 1000,
				Author: 8, Content: "plums"}}))
			embedAll(t, one)
			_, err := one.Forget(t.Context(), memory.Forgetting{Guild: 100, User: 7, Why: memory.WhyPurge}, nil)
			must(t, err)
			if rows := sqlstore.Index(one).Stats().Rows; rows != 1 {
				t.Errorf("right after a forgetting, %d vectors are in memory", rows)
			}
			wantInMemory("a forgetting", 4)
			must(t, one.Close())
			must(t, other.Close())
		})
	}
}

// A database needs no extension, and Hark installs none.
func TestNoExtensionIsInstalled(t *testing.T) {
	t.Parallel()
	url := postgrestest.Bare(t)
	s, err := postgres.Open(t.Context(), url, postgres.Options{Space: memorytest.Embedder{}.Space()})
	must(t, err)
	must(t, s.Close())
	var names []string
	must(t, connect(t, url).QueryRow(t.Context(), "SELECT array_agg(extname::text) FROM pg_extension").Scan(&names))
	if !slices.Equal(names, []string{"plpgsql"}) {
		t.Errorf("there are %q", names)
	}
}
