package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/postgres"
	"hark/memory/postgres/postgrestest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

func openKeyed(t testing.TB, url, key string) (*sqlstore.Store, error) {
	t.Helper()
	return postgres.Open(t.Context(), url, postgres.Options{Space: memorytest.Embedder{}.Space(), Secret: secretOf(t, key)})
}

func secretOf(t testing.TB, key string) *seal.Secret {
	t.Helper()
	secret, err := seal.ParseSecret(key)
	must(t, err)
	return secret
}

const (
	oneKey     = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	anotherKey = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
)

func openWithKey(t testing.TB, url, key string) *sqlstore.Store {
	t.Helper()
	s, err := openKeyed(t, url, key)
	must(t, err)
	return s
}

func embedAll(t testing.TB, s *sqlstore.Store) {
	t.Helper()
	must(t, (&memory.Indexer{Queue: s, Embedder: memorytest.Embedder{}}).Drain(t.Context(), nil))
}

// Every column that can hold text or bytes is sealed, or is visible for a reason.
func TestEveryColumnIsSealedOrVisibleForAReason(t *testing.T) {
	t.Parallel()
	visible := map[string]string{ // of this engine
		"embedding.sketch": "sealed by putVector", "embedding_next.sketch": "sealed by putVector",
		"embedding.steps": "sealed by putVector", "embedding_next.steps": "sealed by putVector",
		"fulltext.terms": "keyed hashes", "turn.writer": "a random name of a process", "erasable.name": "a name of a table",
		"process.name": "a random name of a process", "lease.job": "a shard", "lease.owner": "a random name of a process",
		"lease.note": "a session with Discord",
	}
	url := postgrestest.URL(t)
	must(t, openToy(t, url).Close())
	rows, err := connect(t, url).Query(t.Context(), `SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name <> 'said' AND table_name NOT LIKE 'goose%'
		AND data_type NOT IN ('bigint', 'integer', 'timestamp with time zone', 'xid8')`)
	must(t, err)
	defer rows.Close()
	found := 0
	for ; rows.Next(); found++ {
		var table, column string
		must(t, rows.Scan(&table, &column))
		name := table + "." + column
		if sqlstore.VisibleColumns[name] == "" && visible[name] == "" && !sqlstore.IsSealed(table, column) {
			t.Errorf("%s is neither sealed nor visible for a reason: add it to sealedTables or VisibleColumns of "+
				"memory/sqlstore/sealed.go", name)
		}
	}
	if must(t, rows.Err()); found < 30 {
		t.Errorf("only %d columns were found", found)
	}
}

// wantSealed fails the test if a page of the database holds a canary.
func wantSealed(t *testing.T, url, word string, freeToo bool) {
	t.Helper()
	used, free := pages(t, connect(t, url))
	if n := bytes.Count(used, []byte(word)); n > 0 {
		t.Errorf("rows hold %q %d times", word, n)
	}
	if n := bytes.Count(free, []byte(word)); n > 0 && freeToo {
		t.Errorf("free parts of pages hold %q %d times", word, n)
	}
}

func TestNoPageOfASealedDatabaseHoldsAnythingReadable(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openWithKey(t, url, oneKey)
	must(t, s.Apply(t.Context(), memorytest.Canaries("canary")...))
	embedAll(t, s)
	wantSealed(t, url, "canary", true)
	must(t, sqlstore.Verify(t.Context(), s))
	db := connect(t, url)
	for _, c := range sqlstore.SealedColumns() {
		var filled int
		must(t, db.QueryRow(t.Context(), "SELECT count(*) FROM "+c.Table+" WHERE "+c.Column+" <> ''").Scan(&filled))
		if filled < 2 {
			t.Errorf("%s.%s has %d sealed values", c.Table, c.Column, filled)
		}
	}
	must(t, s.Close())
	if _, err := postgres.Open(t.Context(), url, postgres.Options{}); !errors.Is(err, sqlstore.ErrKeyMissing) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := openKeyed(t, url, anotherKey); !errors.Is(err, sqlstore.ErrWrongKey) {
		t.Errorf("with another key: %v", err)
	}
}

// A process that has an empty database open, without a key, stops when another one seals it.
func TestAProcessWithoutTheKeyStops(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	plain := openToy(t, url)
	s := openWithKey(t, url, oneKey)
	if err := plain.Apply(t.Context(), memorytest.Canaries("canary")...); !errors.Is(err, sqlstore.ErrKeyMissing) {
		t.Errorf("without the key: %v", err)
	}
	must(t, errors.Join(plain.Close(), s.Close()))
	wantSealed(t, url, "canary", true)
}

// A key doesn't seal a database that remembers something.
func TestAKeyDoesntSealAPlainDatabase(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	plain := openToy(t, url)
	must(t, plain.Apply(t.Context(), memorytest.Canaries("canary")...))
	if _, err := openKeyed(t, url, oneKey); !errors.Is(err, sqlstore.ErrNotSealed) {
		t.Errorf("with a key: %v", err)
	}
	if _, err := plain.Guild(t.Context(), 100); err != nil {
		t.Error("the plain one:", err)
	}
	must(t, plain.Close())
}

// The operator's key is changed without changing anything else, and nothing is left of what the old one wrapped.
func TestTheOperatorsKeyIsRotated(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openWithKey(t, url, oneKey)
	must(t, s.Apply(t.Context(), memorytest.Canaries("canary")...))
	embedAll(t, s)
	var old string
	const wrapped = "SELECT value::json->>'data' FROM meta WHERE key = 'seal'"
	must(t, connect(t, url).QueryRow(t.Context(), wrapped).Scan(&old))
	file := func() (number uint32) {
		must(t, connect(t, url).QueryRow(t.Context(), "SELECT relfilenode FROM pg_class WHERE oid = 'meta'::regclass").
			Scan(&number))
		return number
	}
	before := file()
	_, err := sqlstore.Rewrap(t.Context(), s, secretOf(t, anotherKey))
	must(t, err)
	wantSealed(t, url, old, true)
	if file() == before {
		t.Error("the free parts of its pages were kept")
	}
	must(t, s.Close())
	if _, err := openKeyed(t, url, oneKey); !errors.Is(err, sqlstore.ErrWrongKey) {
		t.Errorf("with the old key: %v", err)
	}
	s = openWithKey(t, url, anotherKey)
	must(t, sqlstore.Verify(t.Context(), s))
	must(t, s.Close())
}

// A value that is exchanged with another row's, or is planted, is found and named.
func TestASwappedOrPlantedValueIsNamed(t *testing.T) {
	t.Parallel()
	url := postgrestest.URL(t)
	s := openWithKey(t, url, oneKey)
	must(t, s.Apply(t.Context(), memorytest.Canaries("canary")...))
	embedAll(t, s)
	db := connect(t, url)
	for _, c := range append(sqlstore.SealedColumns(), sqlstore.SealedColumn{Table: "embedding", Column: "steps", Key: "segment"},
		sqlstore.SealedColumn{Table: "embedding", Column: "sketch", Key: "segment"}) {
		name, of, sealed := c.Table, c.Column+"::text", fmt.Sprintf("length(%s) > 40", c.Column)
		if c.Table == "embedding" {
			name = "vector"
		}
		rows, err := db.Query(t.Context(), fmt.Sprintf("SELECT %s FROM %s WHERE %s LIMIT 2", of, c.Table, sealed))
		must(t, err)
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if must(t, err); len(values) < 2 {
			t.Fatalf("%s.%s has %d values", c.Table, c.Column, len(values))
		}
		kind := "text"
		if c.Table == "embedding" {
			kind = "bytea"
		}
		wrong := func(how, statement, back string, args ...any) {
			_, err := db.Exec(t.Context(), statement, args...)
			must(t, err)
			err = sqlstore.Verify(t.Context(), s)
			if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "table "+name+", row ") {
				t.Errorf("%s.%s, %s: %v", c.Table, c.Column, how, err)
			}
			_, err = db.Exec(t.Context(), back, args...)
			must(t, err)
		}
		swap := fmt.Sprintf("UPDATE %[1]s SET %[2]s = CASE %[2]s::text WHEN $1 THEN $2 ELSE $1 END::%[3]s WHERE %[2]s::text IN ($1, $2)",
			c.Table, c.Column, kind)
		wrong("swapped", swap, swap, values[0], values[1])
		plant := "UPDATE %[1]s SET %[2]s = $%[4]d::text::%[3]s WHERE %[2]s::text = $%[5]d"
		wrong("planted", fmt.Sprintf(plant, c.Table, c.Column, kind, 2, 1), fmt.Sprintf(plant, c.Table, c.Column, kind, 1, 2),
			values[0], `\x61`)
	}
	must(t, sqlstore.Verify(t.Context(), s))
	_, err := db.Exec(t.Context(), "UPDATE embedding SET steps = decode(repeat('01', $1), 'hex')",
		memorytest.Embedder{}.Space().Dimensions)
	must(t, err)
	query := make([]float32, memorytest.Embedder{}.Space().Dimensions)
	query[0] = 1
	_, err = s.Nearest(t.Context(), memory.Scope{Channels: []memory.ChannelID{1000}}, memorytest.Embedder{}.Space(), query, 3)
	for _, err := range []error{err, sqlstore.Verify(t.Context(), s)} {
		if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "table vector, row ") {
			t.Errorf("plain vectors were planted: %v", err)
		}
	}
	must(t, s.Close())
}
