package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
)

// Only a large guild gets an index. It finds most of what comparing all vectors finds, and only what is in scope.
func TestLargeGuildsAreIndexed(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	o := postgres.Options{Space: embed.Builtin{}.Space()}.WithExactSegments(100)
	s, err := postgres.Open(t.Context(), url, o)
	must(t, err)
	for guild, messages := range map[memory.GuildID]int{1: 3000, 2: 200} {
		must(t, s.Apply(t.Context(), memorytest.Conversations(guild, messages, 10)...))
	}
	must(t, (&memory.Indexer{Queue: s, Embedder: embed.Builtin{}}).Drain(t.Context(), nil))
	queries := strings.Split("nane bebe|rodo gal|kit sone", "|")
	nearest := func(channels ...memory.ChannelID) (all []memory.MessageRef) {
		for _, query := range queries {
			hits, err := s.Nearest(t.Context(), memory.Scope{Channels: channels}, o.Space,
				embed.Builtin{}.EmbedTerms(text.QueryTerms(query), func(string) float64 { return 1 }), 20)
			must(t, err)
			for _, hit := range hits {
				if !slices.Contains(channels, hit.Channel) {
					t.Errorf("a hit lies in channel %d", hit.Channel)
				}
				all = append(all, memory.MessageRef{Channel: hit.Channel, Message: hit.Messages[0]})
			}
		}
		return all
	}
	few, many := []memory.ChannelID{1001}, []memory.ChannelID{1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009}
	exactFew, exactMany := nearest(few...), nearest(many...)
	must(t, s.Erase(t.Context(), false))
	var names []string
	must(t, connect(t, url).QueryRow(t.Context(), `SELECT array_agg(indexrelid::regclass::text) FROM pg_index
		WHERE indrelid = 'embedding'::regclass AND indisvalid AND indpred IS NOT NULL`).Scan(&names))
	if len(names) != 1 || !strings.HasPrefix(names[0], "embedding_hnsw_") {
		t.Fatalf("indexes of guilds: %q", names)
	}
	var copied bool
	db := connect(t, url)
	_, err = db.Exec(t.Context(), "ANALYZE")
	must(t, err)
	must(t, db.QueryRow(t.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stats WHERE tablename = $1)", names[0]).Scan(&copied))
	if copied {
		t.Error("ANALYZE copies vectors from the index")
	}
	must(t, s.Close())
	s, err = postgres.Open(t.Context(), url, o) // as another process does, it looks which indexes there are
	must(t, err)
	for _, c := range []struct{ exact, found []memory.MessageRef }{
		{exactFew, nearest(few...)}, {exactMany, nearest(many...)},
	} {
		same := 0
		for _, hit := range c.exact {
			if slices.Contains(c.found, hit) {
				same++
			}
		}
		if len(c.found) != len(c.exact) || same*10 < 9*len(c.exact) {
			t.Errorf("the index finds %d, %d of the %d nearest", len(c.found), same, len(c.exact))
		}
	}
	must(t, s.Close())
}
