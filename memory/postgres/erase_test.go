package postgres_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres/postgrestest"
	"hark/memory/sqlstore"
)

// id is that of the nth message, ten seconds after the one before.
func id(n int) memory.MessageID {
	return memory.FirstMessageID(time.Date(2026, 5, 1, 0, 0, 10*n, 0, time.UTC))
}

func posted(n int, content string) memory.Posted {
	return memory.Posted{Message: memory.Message{ID: id(n), Guild: 100, Channel: 1000, Author: memory.UserID(1 + n%3),
		Content: content}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	return db
}

// After a deletion and an erasure, no row in a page of a table or an index holds what was deleted.
func TestErasedTextIsInNoRowOfAnyPage(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openToy(t, url)
	const messages = 400
	r := rand.New(rand.NewPCG(1, 2))
	canary := func(n int) string { return fmt.Sprintf("canary%dq", n) }
	for n := range messages {
		m := posted(n, canary(n)+strings.Repeat(" sails", r.IntN(40)))
		must(t, s.Apply(t.Context(), m, memory.ExternalIDSeen{Channel: 1000, ID: m.Message.ID, ExternalID: "called-" + canary(n)}))
	}
	must(t, (&memory.Indexer{Queue: s, Embedder: memorytest.Embedder{}}).Drain(t.Context(), nil))
	// While a snapshot sees the texts, nothing else cleans their pages.
	db, watcher := connect(t, url), connect(t, url)
	snapshot := hold(t, watcher)
	order := r.Perm(messages)
	gone, kept := order[:messages/2], order[messages/2:]
	for n := range slices.Chunk(gone, 10) {
		d := memory.Deleted{Guild: 100, Channel: 1000}
		for _, n := range n {
			d.IDs = append(d.IDs, id(n))
		}
		must(t, s.Apply(t.Context(), d))
	}
	held := func() (rows, free int) {
		used, unused := pages(t, db)
		for _, n := range gone {
			for _, name := range []string{canary(n) + " ", canary(n) + "\x00", "called-" + canary(n)} {
				rows += bytes.Count(used, []byte(name))
				free += bytes.Count(unused, []byte(name))
			}
		}
		return rows, free
	}
	if rows, _ := held(); rows == 0 {
		t.Fatal("no deleted text was left behind: this test shows nothing")
	}
	must(t, snapshot.Rollback(t.Context()))
	must(t, s.Erase(t.Context(), true))
	rows, free := held()
	if t.Logf("deleted texts in rows: %d; in the free parts of pages: %d", rows, free); rows > 0 {
		t.Errorf("deleted texts are in rows %d times", rows)
	}
	for _, n := range kept {
		got, err := s.Around(t.Context(), 1000, []memory.MessageID{id(n)}, 0, 0)
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Content, canary(n)) {
			t.Fatalf("message %d is %v, %v", n, got, err)
		}
	}
	must(t, s.Close())
}

// ANALYZE copies nothing that was said, or was made from it, to where forgetting and sealing don't reach.
func TestStatisticsHoldNothingThatWasSaid(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openToy(t, url).(*sqlstore.Store)
	must(t, s.Apply(t.Context(), memorytest.Canaries("canary")...))
	embedAll(t, s)
	db := connect(t, url)
	_, err := db.Exec(t.Context(), "ANALYZE")
	must(t, err)
	with := map[string]bool{} // columns
	rows, err := db.Query(t.Context(), `SELECT tablename || '.' || attname, concat(most_common_vals, histogram_bounds,
		most_common_elems) FROM pg_stats WHERE schemaname = 'public'`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var column, values string
		must(t, rows.Scan(&column, &values))
		if with[column] = true; strings.Contains(values, "canary") {
			t.Errorf("the statistics of %s hold %s", column, values)
		}
	}
	if must(t, rows.Err()); !with["message.author"] || !with["setting.key"] {
		t.Errorf("only %v have statistics", with)
	}
	for _, c := range append(sqlstore.SealedColumns(), sqlstore.SealedColumn{Table: "embedding", Column: "steps"},
		sqlstore.SealedColumn{Table: "embedding", Column: "sketch"}, sqlstore.SealedColumn{Table: "embedding_next", Column: "sketch"},
		sqlstore.SealedColumn{Table: "embedding_next", Column: "steps"}, sqlstore.SealedColumn{Table: "fulltext", Column: "terms"},
		sqlstore.SealedColumn{Table: "meta", Column: "value"}) {
		var target int
		must(t, db.QueryRow(t.Context(), `SELECT coalesce(attstattarget, -1) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2`,
			c.Table, c.Column).Scan(&target))
		if name := c.Table + "." + c.Column; target != 0 || with[name] {
			t.Errorf("%s has statistics: set them to 0 where it is created", name)
		}
	}
	must(t, s.Close())
}

// pages returns what lies in the pages of all tables and indexes, and what lies in their free parts.
func pages(t testing.TB, db *pgx.Conn) (used, free []byte) {
	t.Helper()
	_, err := db.Exec(t.Context(), "ANALYZE; CREATE EXTENSION IF NOT EXISTS pageinspect")
	must(t, err)
	rows, err := db.Query(t.Context(), `SELECT get_raw_page(c.oid::regclass::text, page::int)
		FROM pg_class c, generate_series(0, pg_relation_size(c.oid) / 8192 - 1) page
		WHERE c.relkind IN ('r', 'i', 't') AND (c.relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace)
			OR c.oid = 'pg_statistic'::regclass)`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var page []byte
		must(t, rows.Scan(&page))
		// https://www.postgresql.org/docs/current/storage-page-layout.html: free space is from pd_lower to pd_upper.
		lower, upper := binary.LittleEndian.Uint16(page[12:]), binary.LittleEndian.Uint16(page[14:])
		free = append(free, page[lower:upper]...)
		used = append(append(used, page[:lower]...), page[upper:]...)
	}
	must(t, rows.Err())
	return used, free
}

// A text that was edited before it arrived leaves no row either.
func TestEarlyEditsAreErased(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openToy(t, url)
	must(t, s.Apply(t.Context(), posted(10, "later"),
		memory.Edited{Guild: 100, Channel: 1000, ID: id(1), At: id(2).Time(), Content: "secret"}))
	must(t, s.Erase(t.Context(), true)) // so that nothing else is to be erased
	must(t, s.Apply(t.Context(), posted(1, "first")))
	must(t, s.Apply(t.Context(), memory.Deleted{Guild: 100, Channel: 1000, IDs: []memory.MessageID{id(1)}}))
	must(t, s.Erase(t.Context(), true))
	if used, _ := pages(t, connect(t, url)); bytes.Contains(used, []byte("secret")) {
		t.Error("the edited text is still there")
	}
	must(t, s.Close())
}

// What a transaction still sees can't be erased, and whoever waits for it gets an error that says so.
func TestWhatIsStillReadIsErasedLater(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openToy(t, url)
	must(t, s.Apply(t.Context(), posted(1, "secret")))
	db, watcher := connect(t, url), connect(t, url)
	snapshot := hold(t, watcher)
	must(t, s.Apply(t.Context(), memory.Deleted{Guild: 100, Channel: 1000, IDs: []memory.MessageID{id(1)}}))
	must(t, s.Erase(t.Context(), false))
	if err := s.Erase(t.Context(), true); err == nil || !strings.Contains(err.Error(), "pg_stat_activity") {
		t.Errorf("what a reader sees was erased: %v", err)
	}
	if used, _ := pages(t, db); !bytes.Contains(used, []byte("secret")) {
		t.Fatal("the text has gone before it was erased: this test shows nothing")
	}
	must(t, snapshot.Rollback(t.Context()))
	must(t, s.Erase(t.Context(), true))
	if used, _ := pages(t, db); bytes.Contains(used, []byte("secret")) {
		t.Error("the text is still there")
	}
	must(t, errors.Join(s.Close(), db.Close(t.Context())))
}

// hold begins a transaction that goes on seeing all that is there now.
func hold(t testing.TB, db *pgx.Conn) pgx.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	must(t, err)
	_, err = tx.Exec(t.Context(), "SELECT count(*) FROM message")
	must(t, err)
	return tx
}
