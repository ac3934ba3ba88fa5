package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

func secretOf(t testing.TB, text string) *seal.Secret {
	t.Helper()
	secret, err := seal.ParseSecret(text)
	must(t, err)
	return secret
}

const (
	oneKey     = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	anotherKey = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
)

func openKeyed(dir, key string, t testing.TB) (*Store, error) {
	return Open(bg, dir, Options{Space: memorytest.Embedder{}.Space(), Tokens: words, Secret: secretOf(t, key)})
}

func openSealed(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := openKeyed(dir, oneKey, t)
	must(t, err)
	return s
}

// tampered is a copy of a closed store in which a statement was run past the store. It reports whether that changed a
// row.
func tampered(t testing.TB, dir, query string) (copied string, changed bool) {
	t.Helper()
	copied = t.TempDir()
	must(t, os.CopyFS(copied, os.DirFS(dir)))
	db, err := sql.Open("sqlite", filepath.Join(copied, FileName))
	must(t, err)
	r, err := db.Exec(query)
	must(t, err)
	n, err := r.RowsAffected()
	must(t, errors.Join(err, db.Close()))
	return copied, n > 0
}

// wantSealed fails the test if a file below dir holds a canary, as text or as a hash of a term.
func wantSealed(t *testing.T, dir, word string) {
	t.Helper()
	wantNowhere(t, dir, word)
	var batch text.Batch
	for n := range 40 {
		for hash := range strings.FieldsSeq(sqlstore.Hashes(batch.Terms(fmt.Sprintf("%s%dq", word, n)))) {
			wantNowhere(t, dir, hash[1:])
		}
	}
}

func TestNoFileOfASealedStoreHoldsAnythingReadable(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	drain(t, s)
	wantSealed(t, dir, "canary") // with the write-ahead log
	columns := 0
	for _, c := range sqlstore.SealedColumns() {
		var filled int
		must(t, sqlstore.RowOf(bg, s.engine, "SELECT count(*) FROM "+c.Table+" WHERE typeof("+c.Column+") = 'blob'").Scan(&filled))
		if columns++; filled < 2 {
			t.Errorf("%s.%s has %d sealed values", c.Table, c.Column, filled)
		}
	}
	backup := filepath.Join(t.TempDir(), "backup")
	_, err := Backup(bg, dir, backup, false, nil)
	must(t, err)
	wantSealed(t, filepath.Dir(backup), "canary")
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
	wantSealed(t, dir, "canary")
}

// What is forgotten leaves the file as it was sealed, too: who gets the key later can't read it.
func TestForgottenValuesLeaveASealedStore(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	drain(t, s)
	var sealed []string
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		var value []byte
		err := scan(&value)
		sealed = append(sealed, string(value))
		return err
	}, `SELECT content FROM message WHERE content <> '' UNION ALL SELECT body FROM trace UNION ALL SELECT text FROM lore
		UNION ALL SELECT steps FROM vector`))
	if len(sealed) < 5 || len(holding(t, dir, sealed[0])) == 0 {
		t.Fatalf("the file holds %d values", len(sealed))
	}
	forget(t, s, memory.Forgetting{Guild: 100, Why: memory.WhyMember, At: id(9000).Time()})
	kept := map[string]bool{} // of other servers
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		var value []byte
		err := scan(&value)
		kept[string(value)] = true
		return err
	}, `SELECT content FROM message UNION ALL SELECT body FROM trace UNION ALL SELECT text FROM lore
		UNION ALL SELECT steps FROM vector`))
	for _, value := range sealed {
		if !kept[value] {
			wantNowhere(t, dir, value)
		}
	}
	if len(kept) >= len(sealed) {
		t.Error("nothing was forgotten")
	}
	closed(t, s)
}

// TestSealedChild is the process that TestAKilledSealedStoreHoldsNothingReadable kills.
func TestSealedChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("is run by another test")
	}
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	for n := 0; ; n++ {
		apply(t, s, posted(general, n, fmt.Sprintf("canary%dq sails", n%40)), edited(general, n-1, fmt.Sprintf("canary%dq now", n%40)))
		drain(t, s)
		fmt.Printf("said %d\n", n)
	}
}

func TestAKilledSealedStoreHoldsNothingReadable(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	for n := range 3 {
		killChild(t, "TestSealedChild", dir, n, 1+rand.IntN(20), func(line string) bool { return scanned(line, "said %d", new(int)) })
		wantSealed(t, dir, "canary")
	}
	s := openSealed(t, dir)
	must(t, sqlstore.Verify(bg, s.Store))
	checkSound(t, s)
	closed(t, s)
}

// Every value that is flipped, or that is exchanged with that of another row or column, is found and named.
func TestAFlippedOrSwappedValueIsNamed(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	drain(t, s)
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
	columns := append(sqlstore.SealedColumns(), sqlstore.SealedColumn{Table: "vector", Column: "steps", Key: "segment"})
	for _, c := range columns {
		for how, value := range map[string]string{
			"flipped": flipped(c.Column),
			"swapped": fmt.Sprintf("(SELECT o.%[1]s FROM %[2]s o WHERE o.%[1]s <> x.%[1]s AND length(o.%[1]s) > 0 LIMIT 1)",
				c.Column, c.Table),
			"plain": "'a plain text that somebody put here'",
		} {
			of := fmt.Sprintf("FROM %s o WHERE typeof(o.%s) = 'blob'", c.Table, c.Column)
			copied, changed := tampered(t, dir, fmt.Sprintf("UPDATE %s AS x SET %s = %s WHERE %[2]s = (SELECT o.%[2]s %[4]s LIMIT 1)"+
				" AND ('%[5]s' <> 'swapped' OR 1 < (SELECT count(*) %[4]s))", c.Table, c.Column, value, of, how))
			if !changed {
				if how != "swapped" {
					t.Errorf("%s.%s has no value", c.Table, c.Column)
				}
				continue
			}
			s, err := openKeyed(copied, oneKey, t)
			if err == nil {
				err = sqlstore.Verify(bg, s.Store)
				if _, read := s.Log(bg, 1000, -1<<62, 1<<62, 1000); c.Table == "message" && !errors.Is(read, seal.ErrChanged) {
					t.Errorf("%s.%s, %s, is read: %v", c.Table, c.Column, how, read)
				}
				closed(t, s)
			}
			if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "table "+c.Table+", row ") ||
				!strings.Contains(err.Error(), ", column "+c.Column) {
				t.Errorf("%s.%s, %s: %v", c.Table, c.Column, how, err)
			}
		}
	}
}

// Who can write to the file, but hasn't the key, can't have a sealed store taken for a plain one.
func TestNobodyCanMakeASealedStorePlain(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	copied, _ := tampered(t, dir, "DELETE FROM meta WHERE key = 'seal'")
	if _, err := openKeyed(copied, oneKey, t); !errors.Is(err, sqlstore.ErrNotSealed) {
		t.Errorf("without its state: %v", err)
	}
	copied, _ = tampered(t, dir, "UPDATE meta SET value = json_set(value, '$.data', 'AAAA') WHERE key = 'seal'")
	_, err := openKeyed(copied, oneKey, t)
	if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "table meta, row seal, column value") {
		t.Errorf("with another data key: %v", err)
	}
}

// A key is for an empty store or a sealed one. A plain one isn't read with it, nor changed.
func TestAKeyDoesntSealAPlainStore(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openOnce(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	if _, err := openKeyed(dir, oneKey, t); !errors.Is(err, sqlstore.ErrNotSealed) {
		t.Errorf("with a key: %v", err)
	}
	s = openOnce(t, dir)
	checkSound(t, s)
	closed(t, s)
}

// A process that has an empty store open, without a key, stops when another one seals it.
func TestAProcessWithoutTheKeyStops(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	plain := openOnce(t, dir)
	s := openSealed(t, dir)
	other := openSealed(t, dir)
	if err := plain.Apply(bg, posted(general, 1, "canary1q")); !errors.Is(err, sqlstore.ErrKeyMissing) {
		t.Errorf("without a key: %v", err)
	}
	apply(t, s, posted(general, 2, "apples"))
	if got := find(t, other, in(general), "apples"); len(got) != 1 {
		t.Errorf("another process with the key finds %v", got)
	}
	for _, s := range []*Store{s, other, plain} {
		closed(t, s)
	}
	wantNowhere(t, dir, "canary1q")
}

// The operator's key is changed without changing anything else, and nothing is left of what the old one wrapped.
func TestTheOperatorsKeyIsRotated(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	drain(t, s)
	want := tell(t, s)
	old, err := sqlstore.ReadSealing(bg, s.engine)
	must(t, err)
	fingerprint, err := sqlstore.Rewrap(bg, s.Store, secretOf(t, anotherKey))
	must(t, err)
	wantNowhere(t, dir, old.Data)
	if got := tell(t, s); got != want {
		t.Errorf("it became\n%s\nbut was\n%s", got, want)
	}
	closed(t, s)
	wantNowhere(t, dir, old.Data)
	if _, err := openKeyed(dir, oneKey, t); !errors.Is(err, sqlstore.ErrWrongKey) {
		t.Errorf("with the old key: %v", err)
	}
	s, err = openKeyed(dir, anotherKey, t)
	must(t, err)
	now, err := sqlstore.ReadSealing(bg, s.engine)
	must(t, err)
	if now.Fingerprint != fingerprint || now.Fingerprint == old.Fingerprint {
		t.Errorf("the key is %s, not %s", now.Fingerprint, fingerprint)
	}
	if got := tell(t, s); got != want {
		t.Errorf("opened again, it is\n%s\nnot\n%s", got, want)
	}
	must(t, sqlstore.Verify(bg, s.Store))
	checkSound(t, s)
	closed(t, s)
}

// A channel whose number was exchanged with another's shows nobody the other's messages.
func TestSwappedChannelsAreNotRead(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memory.GuildSeen{Guild: memory.Guild{ID: 100, Name: "g", Channels: []memory.Channel{
		{ID: 1000, Guild: 100, Name: "public"}, {ID: 1001, Guild: 100, Name: "secret"}}}})
	closed(t, s)
	copied, _ := tampered(t, dir, `UPDATE channel SET no = -1 WHERE id = 1000;
		UPDATE channel SET no = no - 1 WHERE id = 1001; UPDATE channel SET no = 1 + (SELECT no FROM channel WHERE id = 1001)
		WHERE id = 1000`)
	_, err := openKeyed(copied, oneKey, t)
	if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "table channel, row 100") {
		t.Errorf("with swapped numbers: %v", err)
	}
}

// A deletion that needs a changed text fails, and says where it is.
func TestAChangedTextIsNamedWhenItIsDeleted(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, posted(general, 1, "apples sail"), posted(general, 2, "pears sail"))
	closed(t, s)
	copied, _ := tampered(t, dir, fmt.Sprintf("UPDATE message SET content = %s WHERE id = %d", flipped("content"), id(1)))
	s = openSealed(t, copied)
	for what, delete := range map[string]func() error{
		"a message": func() error {
			return s.Apply(bg, memory.Deleted{Guild: guild, Channel: general, IDs: []memory.MessageID{id(1)}})
		},
		"a server": func() error {
			_, err := s.Forget(bg, memory.Forgetting{Guild: guild, Why: memory.WhyMember, At: id(9000).Time()}, nil)
			return err
		},
	} {
		err := delete()
		if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "table message, row ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	closed(t, s)
}

// flipped is a sealed column with two bytes changed.
func flipped(column string) string {
	return fmt.Sprintf("CAST(substr(%[1]s, 1, 40) || x'00ff' || substr(%[1]s, 43) AS BLOB)", column)
}

// A sealed store opens only with its key, and nothing is made anew instead.
func TestOnlyTheRightKeyOpensASealedStore(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	before, err := os.ReadFile(filepath.Join(dir, FileName))
	must(t, err)
	if _, err := Open(bg, dir, Options{}); !errors.Is(err, sqlstore.ErrKeyMissing) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := openKeyed(dir, anotherKey, t); !errors.Is(err, sqlstore.ErrWrongKey) {
		t.Errorf("with another key: %v", err)
	}
	after, err := os.ReadFile(filepath.Join(dir, FileName))
	must(t, err)
	if len(after) != len(before) {
		t.Errorf("the file has %d bytes, not %d", len(after), len(before))
	}
	s = openSealed(t, dir)
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
}

// tell describes what a store knows, as its users see it.
func tell(t testing.TB, s *Store) string {
	t.Helper()
	var b strings.Builder
	g, err := s.Guild(bg, guild)
	must(t, err)
	fmt.Fprintln(&b, g.Name, g.Settings, g.Roles)
	for _, c := range []memory.ChannelID{1000, 900, 901} {
		log, err := s.Log(bg, c, -1<<62, 1<<62, 1000)
		fmt.Fprintln(&b, log, err)
		summaries, err := s.Summaries(bg, c)
		fmt.Fprintln(&b, summaries, err)
	}
	people, err := s.People(bg, guild)
	fmt.Fprintln(&b, people, err)
	lore, err := s.Lore(bg, guild)
	fmt.Fprintln(&b, lore, err)
	traces, err := s.Traces(bg, memory.TraceQuery{Channel: 1000, Prompts: true})
	must(t, err)
	for _, trace := range traces {
		fmt.Fprintln(&b, trace.Mode, trace.Prompt, trace.Sources)
	}
	calls, err := s.Records(bg, memory.RecordQuery{Channels: []memory.ChannelID{1000}})
	fmt.Fprintln(&b, calls, err)
	names, err := s.ExternalIDs(bg, 1000, []memory.MessageID{id(6)})
	fmt.Fprintln(&b, names, err)
	for _, name := range names {
		called, err := memory.MessageByExternalID(bg, s, 1000, name)
		fmt.Fprintln(&b, called, err)
	}
	fmt.Fprintln(&b, find(t, s, in(1000), "asks"), find(t, s, in(1000), "1234"),
		nearest(t, s, in(1000), "asks")[0])
	return b.String()
}

// Every column that can hold text or bytes is sealed, or is visible for a reason.
func TestEveryColumnIsSealedOrVisibleForAReason(t *testing.T) {
	t.Parallel()
	visible := map[string]string{ // of this engine
		"fulltext.content": "keyed hashes; it isn't stored",
		"vector.sketch":    "sealed by putVector", "vector.steps": "sealed by putVector",
		"vector_next.sketch": "sealed by putVector", "vector_next.steps": "sealed by putVector",
	}
	s := open(t, emptyDir(t))
	found := 0
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		var table, column, kind string
		err := scan(&table, &column, &kind)
		found++
		_, known := sqlstore.VisibleColumns[table+"."+column]
		if _, own := visible[table+"."+column]; !known && !own && !sqlstore.IsSealed(table, column) &&
			!strings.HasPrefix(table, "fulltext_") { // tables of full text, which has keyed hashes
			t.Errorf("%s.%s is neither sealed nor visible for a reason: add it to sealedTables or VisibleColumns of "+
				"memory/sqlstore/sealed.go", table, column)
		}
		return err
	}, `SELECT t.name, c.name, c.type FROM pragma_table_list t JOIN pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.type <> 'view' AND t.name NOT LIKE 'sqlite_%' AND c.type <> 'INTEGER'`))
	if found < 30 {
		t.Errorf("only %d columns were found", found)
	}
}
