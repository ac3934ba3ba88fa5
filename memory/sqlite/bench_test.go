package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

// words of made-up talk, of which the first are said most often, as in any language.
func sentence(r *rand.Rand) string {
	var b strings.Builder
	for i := range 6 + r.IntN(12) {
		if i > 0 {
			b.WriteByte(' ')
		}
		n := int(r.ExpFloat64() * 700)
		fmt.Fprintf(&b, "%c%c%c%s", 'a'+n%23, "aeiou"[n%5], 'b'+n%19, []string{"ne", "lo", "ri", "", "st", "ving"}[n%6])
	}
	return b.String()
}

// talk is n messages in channels channels of one guild, a message every few seconds.
func talk(n, channels int) []memory.Event {
	r := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	events := make([]memory.Event, n)
	for i := range events {
		at := start.Add(time.Duration(i) * 20 * time.Second)
		events[i] = memory.Posted{Message: memory.Message{
			ID: memory.FirstMessageID(at) + memory.MessageID(i), Guild: 100, Channel: memory.ChannelID(1000 +
				r.IntN(channels)),
			Author: memory.UserID(1 + r.IntN(20)), Content: sentence(r),
		}}
	}
	return events
}

const batchSize = 200

// BenchmarkIngest logs messages, indexes their words and commits their segments' vectors, and prints beside it
// what SQLite alone takes for the same rows: full text and all, prepared, in batches of the same size.
func BenchmarkIngest(b *testing.B) {
	for _, channels := range []int{1, 1000} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			const n = 20000
			events := talk(n, channels)
			var ours, raw time.Duration
			for b.Loop() {
				took, rows := ingestAll(b, events)
				ours += took
				raw += insertRows(b, rows)
			}
			b.ReportMetric(float64(n*b.N)/ours.Seconds(), "messages/s")
			b.ReportMetric(float64(n*b.N)/raw.Seconds(), "raw-messages/s")
			b.ReportMetric(100*raw.Seconds()/ours.Seconds(), "%-of-raw")
		})
	}
}

// ingest logs events in batches while an indexer embeds, and returns how long it took until all was committed.
func ingestAll(b *testing.B, events []memory.Event) (time.Duration, rows) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	s, err := Open(ctx, b.TempDir(), Options{Space: embed.Builtin{}.Space()})
	must(b, err)
	defer s.Close()
	indexer := memory.Indexer{Queue: s, Embedder: embed.Builtin{}}
	started := time.Now()
	done := make(chan error, 1)
	go func() { done <- indexer.Run(ctx) }()
	for len(events) > 0 {
		n := min(batchSize, len(events))
		must(b, s.Apply(ctx, events[:n]...))
		events = events[n:]
	}
	cancel()
	must(b, <-done)
	must(b, indexer.Drain(context.Background(), nil))
	took := time.Since(started)
	return took, rowsOf(b, s)
}

// rows are what a store holds, ready to be inserted again.
type rows struct {
	messages [][]any
	terms    [][]any
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
	read(&r.messages, 13, `SELECT row, channel, id, author, kind, reply_to, edited, whole, starred, tokens,
		segment, content, extra FROM message ORDER BY id`)
	read(&r.segments, 7, "SELECT id, channel, first, last, size, version, pending FROM segment")
	read(&r.vectors, 2, "SELECT segment, steps FROM vector")
	read(&r.presence, 4, "SELECT channel, author, messages, last FROM presence ORDER BY last")
	for _, m := range r.messages {
		r.terms = append(r.terms, []any{m[0], sqlstore.Hashes(new(text.Batch).Terms(m[11].(string)))})
	}
	return r
}

// insertRows inserts rows in batches into an empty database with the same schema and settings, as they came and each
// but once.
func insertRows(b *testing.B, r rows) time.Duration {
	s := newStore(&engine{options: Options{Tokens: func(string) int { return 0 }}})
	must(b, s.open(b.Context(), filepath.Join(b.TempDir(), FileName), patience))
	defer s.Close()
	started := time.Now()
	statements := make([]*sql.Stmt, 5)
	for i, query := range []string{
		`INSERT INTO message (row, channel, id, author, kind, reply_to, edited, whole, starred, tokens,
			segment, content, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		"INSERT INTO fulltext (rowid, content) VALUES (?, ?)",
		"INSERT INTO segment (id, channel, first, last, size, version, pending) VALUES (?, ?, ?, ?, ?, ?, ?)",
		"INSERT INTO vector (segment, steps) VALUES (?, ?)",
		"INSERT INTO presence (channel, author, messages, last) VALUES (?, ?, ?, ?)",
	} {
		var err error
		if statements[i], err = s.engine.write.PrepareContext(b.Context(), query); err != nil {
			b.Fatal(err)
		}
		defer statements[i].Close()
	}
	exec := func(query string) {
		if _, err := s.engine.write.ExecContext(b.Context(), query); err != nil {
			b.Fatal(err)
		}
	}
	share := func(all [][]any, at, of int) [][]any { return all[len(all)*at/of : len(all)*(at+1)/of] }
	batches := (len(r.messages) + batchSize - 1) / batchSize
	for i := range batches {
		exec("BEGIN IMMEDIATE")
		for k, part := range [][][]any{r.messages, r.terms, r.segments, r.vectors, r.presence} {
			for _, row := range share(part, i, batches) {
				if _, err := statements[k].ExecContext(b.Context(), row...); err != nil {
					b.Fatal(err)
				}
			}
		}
		exec("COMMIT")
	}
	return time.Since(started)
}
