package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/internal/text"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// BenchmarkStart opens a killed process's files until the first message is logged and the first full-text
// answer is there, and reports how long the background check takes. The lower bound is SQLite opening the
// same files for one prepared query. With HARK_BENCH_DIR it opens a million messages.
func BenchmarkStart(b *testing.B) {
	guilds := []int{10}
	if os.Getenv(keptDir) != "" {
		guilds = append(guilds, 100)
	}
	for _, guilds := range guilds {
		b.Run(fmt.Sprintf("messages=%d", guilds*guildMessages), func(b *testing.B) {
			killed := killedCopy(b, filled(b, guilds, guildMessages))
			terms := text.QueryTerms(questions(1)[0])
			var logged, answered, cpu, checked, raw, first []time.Duration
			for b.Loop() {
				dir := onDisk(b, killed)
				started := time.Now()
				var s *Store
				cpu = append(cpu, cpuOf(b, func() {
					var err error
					s, err = Open(bg, dir, Options{Space: embed.Builtin{}.Space(), Index: vectors.Options{Limit: indexLimit}})
					must(b, err)
					apply(b, s, posted(1000, 1, "the first after the kill"))
					logged = append(logged, time.Since(started))
					hits, err := s.FullText(bg, everywhereIn(b, s, 1), terms, 200)
					if err != nil || len(hits) == 0 {
						b.Fatalf("%d hits: %v", len(hits), err)
					}
					answered = append(answered, time.Since(started))
				}))
				must(b, s.Checked(bg))
				checked = append(checked, time.Since(started))
				closed(b, s)
				dir = onDisk(b, killed)
				raw = append(raw, openRaw(b, dir, terms))
				started = time.Now()
				must(b, Check(bg, dir))
				first = append(first, time.Since(started))
			}
			b.ReportMetric(median(logged), "ms-to-first-message")
			b.ReportMetric(median(answered), "ms-to-first-answer")
			b.ReportMetric(median(cpu), "ms-cpu-to-first-answer")
			b.ReportMetric(median(checked), "ms-to-checked")
			b.ReportMetric(median(raw), "ms-raw")
			b.ReportMetric(median(answered)/median(raw), "times-raw")
			b.ReportMetric(median(first)+median(raw), "ms-if-checked-first")
		})
	}
}

// killedCopy returns what a process killed while logging to a copy of the store in dir would leave.
func killedCopy(b *testing.B, dir string) string {
	dir = copied(b, dir)
	s := openBench(b, dir)
	for n := range 1000 {
		apply(b, s, posted(1000, 100_000+n, "said shortly before the kill"))
	}
	killed := copied(b, dir)
	closed(b, s)
	return killed
}

// onDisk copies a directory and syncs the files.
func onDisk(b *testing.B, dir string) string {
	b.Helper()
	dir = copied(b, dir)
	for _, end := range []string{"", "-wal"} {
		must(b, syncPath(filepath.Join(dir, FileName+end)))
	}
	return dir
}

func openRaw(b *testing.B, dir string, terms []string) time.Duration {
	b.Helper()
	const guildBits = sqlstore.ChannelBits + sqlstore.SequenceBits
	started := time.Now()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	must(b, err)
	defer db.Close()
	query := `SELECT m.channel, m.id FROM fulltext f JOIN message m ON m.row = f.rowid
		WHERE fulltext MATCH ? AND f.rowid BETWEEN ? AND ? ORDER BY bm25(fulltext) LIMIT 200`
	statement, err := db.Prepare(query)
	must(b, err)
	defer statement.Close()
	rows, err := statement.Query(strings.ReplaceAll(sqlstore.Hashes(terms), " ", " OR "),
		int64(1)<<guildBits, int64(2)<<guildBits-1)
	must(b, err)
	defer rows.Close()
	for rows.Next() {
	}
	must(b, rows.Err())
	return time.Since(started)
}
