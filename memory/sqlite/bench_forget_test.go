package sqlite

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

// talkative is a directory with a guild of a million messages by 23 people; all but the last wrote about
// 45,000 each.
func talkative(b *testing.B) string {
	b.Helper()
	return copied(b, kept(b, "talkative", func(b *testing.B, s *Store) {
		events := memorytest.Conversations(1000, 1_000_000, guildChannels)
		for i, e := range events {
			p := e.(memory.Posted)
			p.Message.Author = (p.Message.Author + 8) / 9
			events[i] = p
		}
		logAndIndex(b, s, events)
	}))
}

// BenchmarkForget forgets a member with 45,000 messages among a million, while others log a hundred
// messages and search five times a second. It reports their waits, before and meanwhile, and, for
// comparison, how long deleting as many rows and their full text in one transaction takes, with zeroing.
func BenchmarkForget(b *testing.B) {
	s := openBench(b, talkative(b))
	scope := everywhereIn(b, s, 1000)
	end := time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC) // the talk goes on for years
	must(b, s.Erase(bg, false))                        // as whoever keeps house does soon after the start
	for user := memory.UserID(1); b.Loop(); user += 2 {
		others := beside(b, s, scope)
		time.Sleep(3 * time.Second)
		commits, found := others()
		others = beside(b, s, scope)
		started := time.Now()
		var r memory.DeletionReport
		var begun, took time.Duration
		used := cpuOf(b, func() {
			var err error
			r, err = s.Forget(b.Context(), memory.Forgetting{Guild: 1000, User: user, Why: memory.WhyMember,
				At: end}, func(int, int) {
				if begun == 0 {
					begun = time.Since(started)
				}
			})
			took = time.Since(started)
			must(b, err)
		})
		stalls, searched := others()
		b.ReportMetric(float64(r.Messages), "messages")
		b.ReportMetric(took.Seconds(), "s-to-forget")
		b.ReportMetric(used.Seconds(), "s-of-cpu")
		b.ReportMetric(begun.Seconds(), "s-to-the-first-step")
		b.ReportMetric(at(stalls, 0.5), "ms-commit-p50-meanwhile")
		b.ReportMetric(at(stalls, 0.99), "ms-commit-p99-meanwhile")
		b.ReportMetric(at(stalls, 1), "ms-commit-max-meanwhile")
		b.ReportMetric(at(commits, 0.5), "ms-commit-p50-before")
		b.ReportMetric(at(commits, 0.99), "ms-commit-p99-before")
		b.ReportMetric(at(searched, 0.95), "ms-search-p95-meanwhile")
		b.ReportMetric(at(found, 0.95), "ms-search-p95-before")
		var raw time.Duration
		rawUsed := cpuOf(b, func() { raw = takenOutAtOnce(b, s, user+1) })
		b.ReportMetric(raw.Seconds(), "s-raw")
		b.ReportMetric(rawUsed.Seconds(), "s-of-cpu-raw")
		b.ReportMetric(took.Seconds()/raw.Seconds(), "times-raw")
	}
}

// beside logs a hundred messages and searches five times a second. The function that it returns ends this
// and returns how long each took.
func beside(b *testing.B, s *Store, scope memory.Scope) (end func() (commits, searches []time.Duration)) {
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	each := func(took *[]time.Duration, pause time.Duration, do func(*rand.Rand) error) {
		running.Go(func() {
			r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
			for tick := time.NewTicker(pause); ctx.Err() == nil; <-tick.C {
				started := time.Now()
				if err := do(r); err != nil {
					b.Error(err)
				}
				*took = append(*took, time.Since(started))
			}
		})
	}
	var commits, searches []time.Duration
	var said memory.MessageID
	each(&commits, 10*time.Millisecond, func(r *rand.Rand) error {
		said++
		return s.Apply(bg, memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(time.Now()) + said,
			Guild: 1000, Channel: scope.Channels[0], Author: 500, Content: memorytest.Sentence(r)}})
	})
	each(&searches, 200*time.Millisecond, func(r *rand.Rand) error {
		_, err := s.FullText(bg, scope, text.Terms(memorytest.Sentence(r))[:2], 50)
		return err
	})
	return func() ([]time.Duration, []time.Duration) {
		stop()
		running.Wait()
		return commits, searches
	}
}

// takenOutAtOnce only deletes somebody's rows and full text in one transaction, merges full text, and
// zeroes pages.
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
	s.engine.writer.lock <- struct{}{}
	defer func() { <-s.engine.writer.lock }()
	started := time.Now()
	must(b, s.engine.transact(bg, func(t *tx) error {
		must(b, t.setSecureDelete(false))
		for _, g := range all {
			must(b, t.exec("INSERT INTO fulltext (fulltext, rowid, content) VALUES ('delete', ?, ?)", g.row, g.terms))
			must(b, t.exec("DELETE FROM message WHERE row = ?", g.row))
		}
		must(b, t.exec("INSERT INTO fulltext (fulltext) VALUES ('optimize')"))
		return t.setSecureDelete(true)
	}))
	must(b, s.engine.truncateLog(bg, 0))
	must(b, s.engine.transact(bg, (*tx).zeroAll))
	must(b, s.engine.truncateLog(bg, 0))
	return time.Since(started)
}

// BenchmarkForgetOne deletes one message among a million and waits until it is erased from the file.
func BenchmarkForgetOne(b *testing.B) {
	s := openBench(b, talkative(b))
	scope := everywhereIn(b, s, 1000)
	must(b, s.Erase(bg, false)) // as whoever keeps house does soon after the start
	log, err := s.Log(bg, scope.Channels[0], 0, 1<<62, b.N+1000)
	must(b, err)
	var all []time.Duration
	var used time.Duration
	for i := 0; b.Loop(); i++ {
		started := time.Now()
		used += cpuOf(b, func() {
			must(b, s.Apply(bg, memory.Deleted{Guild: 1000, Channel: scope.Channels[0],
				IDs: []memory.MessageID{log[i].ID}}))
			must(b, s.Erase(bg, true))
		})
		all = append(all, time.Since(started))
	}
	b.ReportMetric(median(all), "ms-p50")
	b.ReportMetric(used.Seconds()*1000/float64(len(all)), "ms-of-cpu")
}
