package sqlite

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/sqlstore"
)

// BenchmarkForget forgets a member with 10,000 messages among a million while searches run, and prints how
// long the others' writes and searches waited, and beside it what taking as many rows and their full text out
// in one transaction takes.
func BenchmarkForget(b *testing.B) {
	const messages = 1_000_000
	s := openBench(b, b.TempDir())
	events := conversations(1000, messages, guildChannels)
	for i, e := range events {
		p := e.(memory.Posted)
		p.Message.Author = (p.Message.Author + 1) / 2 // a hundred people
		events[i] = p
	}
	logAndIndex(b, s, events)
	scope := everywhereIn(b, s, 1000)
	end := time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC) // the talk goes on for years
	b.ResetTimer()
	for user := memory.UserID(1); b.Loop(); user += 2 {
		quiet := searches(b, s, scope, 40)
		ctx, stop := context.WithCancel(b.Context())
		waits := make(chan []time.Duration)
		go func() {
			var all []time.Duration
			for ctx.Err() == nil {
				all = append(all, searches(b, s, scope, 1)...)
			}
			waits <- all
		}()
		started := time.Now()
		var begun time.Duration
		r, err := s.Forget(b.Context(), memory.Forgetting{Guild: 1000, User: user, Why: memory.WhyMember,
			At: end}, func(int, int) {
			if begun == 0 {
				begun = time.Since(started)
			}
		})
		took := time.Since(started)
		stop()
		must(b, err)
		b.ReportMetric(float64(r.Messages), "messages")
		b.ReportMetric(took.Seconds(), "s-to-forget")
		b.ReportMetric(begun.Seconds(), "s-to-the-first-step")
		b.ReportMetric(at(<-waits, 0.95), "ms-search-p95-meanwhile")
		b.ReportMetric(at(quiet, 0.95), "ms-search-p95-before")
		b.ReportMetric(takenOutAtOnce(b, s, user+1).Seconds(), "s-raw")
	}
}

// searches times n searches by words.
func searches(b *testing.B, s *Store, scope memory.Scope, n int) []time.Duration {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var took []time.Duration
	for range n {
		started := time.Now()
		if _, err := s.FullText(b.Context(), scope, text.Terms(sentence(r))[:2], 50); err != nil {
			b.Error(err)
			return took
		}
		took = append(took, time.Since(started))
	}
	return took
}

// takenOutAtOnce deletes the rows and the full text of what somebody wrote in one transaction, and nothing
// else, and undoes it.
func takenOutAtOnce(b *testing.B, s *Store, user memory.UserID) time.Duration {
	type gone struct {
		row   int64
		terms string
	}
	var all []gone
	var batch text.Batch
	must(b, sqlstore.Each(b.Context(), s.engine.read, func(scan sqlstore.Scanner) error {
		var g gone
		var m memory.Message
		err := scan(&g.row, &m.Content)
		g.terms = sqlstore.Hashes(batch.Terms(m.Text()))
		all = append(all, g)
		return err
	}, "SELECT row, content FROM message WHERE author = ?", int64(user)))
	s.engine.writer.turn <- struct{}{}
	defer func() { <-s.engine.writer.turn }()
	run := func(query string, args ...any) {
		_, err := s.engine.write.ExecContext(bg, query, args...)
		must(b, err)
	}
	run("BEGIN IMMEDIATE")
	defer run("ROLLBACK")
	started := time.Now()
	for _, g := range all {
		run("INSERT INTO fulltext (fulltext, rowid, content) VALUES ('delete', ?, ?)", g.row, g.terms)
		run("DELETE FROM message WHERE row = ?", g.row)
	}
	run("SAVEPOINT s") // has full text write what it has gathered
	return time.Since(started)
}
