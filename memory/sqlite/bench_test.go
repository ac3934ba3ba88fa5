package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

const (
	keptDir       = "HARK_BENCH_DIR" // where benchmarks keep their stores between runs
	guildMessages = 10_000
	guildChannels = 10
	batchSize     = 200
)

// openBench opens a store that the benchmark closes.
func openBench(b *testing.B, dir string) *Store {
	b.Helper()
	s, err := Open(bg, dir, Options{Space: embed.Builtin{}.Space(), Index: vectors.Options{Limit: indexLimit}})
	must(b, err)
	b.Cleanup(func() { s.Close() })
	return s
}

func filled(b *testing.B, guilds, messages int) string {
	b.Helper()
	return kept(b, fmt.Sprintf("%dx%d", guilds, messages), func(b *testing.B, s *Store) {
		for g := range guilds {
			logAndIndex(b, s, memorytest.Conversations(memory.GuildID(g+1), messages, guildChannels))
		}
	})
}

// kept returns a directory with a store, and fills it unless it exists.
func kept(b *testing.B, name string, fill func(*testing.B, *Store)) string {
	b.Helper()
	dir := os.Getenv(keptDir)
	if dir == "" {
		dir = b.TempDir()
	}
	dir = filepath.Join(dir, name)
	done := filepath.Join(dir, "done")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	s := openBench(b, dir)
	fill(b, s)
	closed(b, s)
	must(b, os.WriteFile(done, nil, 0o600))
	return dir
}

func logAndIndex(b *testing.B, s *Store, events []memory.Event) {
	for chunk := range slices.Chunk(events, 2000) {
		must(b, s.Apply(bg, chunk...))
	}
	must(b, (&memory.Indexer{Queue: s, Embedder: embed.Builtin{}}).Drain(bg, nil))
}

func everywhereIn(b testing.TB, s *Store, guild memory.GuildID) (scope memory.Scope) {
	b.Helper()
	g, err := s.Guild(bg, guild)
	must(b, err)
	for _, c := range g.Channels {
		scope.Channels = append(scope.Channels, c.ID)
	}
	return scope
}

// questions consist of three to eight rare and common words of the talk, like people's questions without
// stop words.
func questions(n int) []string {
	r := rand.New(rand.NewPCG(4, 4))
	all := make([]string, n)
	for i := range all {
		words := strings.Fields(memorytest.Sentence(r))
		all[i] = strings.Join(words[:min(3+r.IntN(6), len(words))], " ")
	}
	return all
}

func vectorOf(terms []string) []float32 {
	return embed.Builtin{}.EmbedTerms(terms, func(string) float64 { return 1 })
}

func cpuOf(b testing.TB, do func()) time.Duration {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	do()
	return used() - before
}

// at is the quantile q of some times, in milliseconds.
func at(all []time.Duration, q float64) float64 {
	slices.Sort(all)
	return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000
}

func median(all []time.Duration) float64 { return at(all, 0.5) }

// BenchmarkIngest logs messages, counts tokens, indexes words and embeds segments. For comparison it
// reports SQLite's part alone: the same rows, prepared, once each, in batches of the same size.
func BenchmarkIngest(b *testing.B) {
	for _, channels := range []int{1, 1000} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			const n = 20000
			events := memorytest.Conversations(1, n, channels)
			var took, cpu [2][]time.Duration
			for b.Loop() {
				var r rows
				for i, do := range []func() time.Duration{
					func() (t time.Duration) { t, r = ingestAll(b, events); return t },
					func() time.Duration { return insertRows(b, r) },
				} {
					runtime.GC()
					var wall time.Duration
					cpu[i] = append(cpu[i], cpuOf(b, func() { wall = do() }))
					took[i] = append(took[i], wall)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(n/median(took[0])*1000, "messages/s")
			b.ReportMetric(n/median(took[1])*1000, "raw-messages/s")
			b.ReportMetric(100*median(took[1])/median(took[0]), "%-of-raw")
			b.ReportMetric(100*median(cpu[1])/median(cpu[0]), "%-of-raw-CPU")
		})
	}
}

func ingestAll(b *testing.B, events []memory.Event) (time.Duration, rows) {
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	s, err := Open(bg, b.TempDir(), Options{Space: embed.Builtin{}.Space(), Tokens: tokens.New().Count})
	must(b, err)
	defer s.Close()
	indexer := memory.Indexer{Queue: s, Embedder: embed.Builtin{}}
	started := time.Now()
	done := make(chan error, 1)
	go func() { done <- indexer.Run(ctx) }()
	for batch := range slices.Chunk(events, batchSize) {
		must(b, s.Apply(ctx, batch...))
	}
	cancel()
	must(b, <-done)
	must(b, indexer.Drain(context.Background(), nil))
	return time.Since(started), rowsOf(b, s)
}

// rows are what a store holds, ready to be inserted again.
type rows struct {
	messages [][]any
	texts    []string // of segments
	segments [][]any
	vectors  [][]any
	presence [][]any
}

func rowsOf(b *testing.B, s *Store) rows {
	var r rows
	read := func(into *[][]any, n int, query string) {
		err := sqlstore.Each(b.Context(), s.engine.read, func(scan func(...any) error) error {
			row := make([]any, n)
			to := make([]any, n)
			for i := range row {
				to[i] = &row[i]
			}
			err := scan(to...)
			*into = append(*into, row)
			return err
		}, query)
		must(b, err)
	}
	read(&r.messages, 14, `SELECT row, channel, id, author, kind, reply_to, edited, whole, starred, tokens,
		segment, content, extra, guild FROM message ORDER BY id`)
	read(&r.segments, 8, "SELECT id, channel, first, last, size, version, pending, guild FROM segment")
	read(&r.vectors, 4, "SELECT segment, sketch, steps, guild FROM vector")
	read(&r.presence, 5, "SELECT channel, author, messages, last, guild FROM presence ORDER BY last")
	texts := map[any]string{}
	for _, m := range r.messages {
		texts[m[10]] += m[11].(string) + "\n"
	}
	for _, segment := range r.segments {
		r.texts = append(r.texts, texts[segment[0]])
	}
	return r
}

// insertRows inserts rows in batches, in order and once each, into an empty database with the same schema
// and settings. It computes terms, tokens and vectors as Hark does.
func insertRows(b *testing.B, r rows) time.Duration {
	s := newStore(&engine{options: Options{Tokens: func(string) int { return 0 }}})
	must(b, s.open(b.Context(), filepath.Join(b.TempDir(), FileName), busyTimeout))
	defer s.Close()
	started := time.Now()
	statements := make([]*sql.Stmt, 5)
	for i, query := range []string{
		`INSERT INTO message (row, channel, id, author, kind, reply_to, edited, whole, starred, tokens,
			segment, content, extra, guild) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		"INSERT INTO fulltext (rowid, content) VALUES (?, ?)",
		"INSERT INTO segment (id, channel, first, last, size, version, pending, guild) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		"INSERT INTO vector (segment, sketch, steps, guild) VALUES (?, ?, ?, ?)",
		"INSERT INTO presence (channel, author, messages, last, guild) VALUES (?, ?, ?, ?, ?)",
	} {
		var err error
		statements[i], err = s.engine.write.PrepareContext(bg, query)
		must(b, err)
		defer statements[i].Close()
	}
	exec := func(query string) {
		_, err := s.engine.write.ExecContext(bg, query)
		must(b, err)
	}
	share := func(all [][]any, at, of int) [][]any { return all[len(all)*at/of : len(all)*(at+1)/of] }
	batches := (len(r.messages) + batchSize - 1) / batchSize
	count := tokens.New().Count
	for i := range batches {
		var terms [][]any
		var batch text.Batch
		for _, m := range share(r.messages, i, batches) {
			m[9] = count(m[11].(string))
			terms = append(terms, []any{m[0], sqlstore.Hashes(batch.Terms(m[11].(string)))})
		}
		texts := r.texts[len(r.texts)*i/batches : len(r.texts)*(i+1)/batches]
		_, err := embed.Builtin{}.Embed(bg, memory.ForStorage, texts)
		must(b, err)
		exec("BEGIN IMMEDIATE")
		for k, part := range [][][]any{share(r.messages, i, batches), terms, share(r.segments, i, batches),
			share(r.vectors, i, batches), share(r.presence, i, batches)} {
			for _, row := range part {
				_, err := statements[k].ExecContext(bg, row...)
				must(b, err)
			}
		}
		exec("COMMIT")
	}
	return time.Since(started)
}
