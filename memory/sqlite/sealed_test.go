package sqlite

import (
	"context"
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
	return Open(bg, dir, Options{Space: memorytest.Embedder{}.Space(), Tokens: words, Secret: secretOf(t, key), Seal: true})
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

// Forgetting a server destroys its key. What is left of it, such as what was said since, has another.
func TestForgettingAServerDestroysItsKey(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	drain(t, s)
	keys := func(guild memory.GuildID) (wrapped []string) {
		must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
			wrapped = append(wrapped, "")
			return scan(&wrapped[len(wrapped)-1])
		}, "SELECT wrapped FROM data_key WHERE guild = ?", guild))
		return wrapped
	}
	old, others := keys(100), keys(0)
	if len(old) != 1 || len(others) != 1 {
		t.Fatalf("there are %d and %d keys", len(old), len(others))
	}
	forget(t, s, memory.Forgetting{Guild: 100, Why: memory.WhyMember, At: id(30).Time()})
	wantNowhere(t, dir, old[0])
	if now := keys(0); len(now) != 1 || now[0] != others[0] {
		t.Errorf("the key of direct messages is %v, not %v", now, others)
	}
	must(t, sqlstore.Verify(bg, s.Store))
	if g, err := s.Guild(bg, 100); err != nil || g.Name != "canary1q" {
		t.Errorf("the server is %v, %v", g, err)
	}
	closed(t, s)
	wantNowhere(t, dir, old[0])
	s = openSealed(t, dir)
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
}

// A damaged sealed store is salvaged with its key.
func TestASealedStoreIsSalvaged(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	log, err := s.Log(bg, 1000, -1<<62, 1<<62, 100)
	must(t, err)
	closed(t, s)
	for key, want := range map[string]error{"": sqlstore.ErrKeyMissing, anotherKey: sqlstore.ErrWrongKey} {
		var secret *seal.Secret
		if key != "" {
			secret = secretOf(t, key)
		}
		if _, err := OpenSalvage(bg, dir, secret, id(0).Time(), 0, nil); !errors.Is(err, want) {
			t.Errorf("with the key %q: %v", key, err)
		}
	}
	salvage, err := OpenSalvage(bg, dir, secretOf(t, oneKey), id(0).Time(), 0, nil)
	must(t, err)
	read := map[memory.MessageID]string{}
	must(t, salvage.Messages(bg, func(_ memory.Channel, m memory.Message) error {
		read[m.ID] = m.Content + fmt.Sprint(m.Files, m.Links)
		return nil
	}))
	for _, m := range log {
		if m.Kind != memory.FromHark && read[m.ID] != m.Content+fmt.Sprint(m.Files, m.Links) {
			t.Errorf("message %d is %q, not %q", m.ID, read[m.ID], m.Content)
		}
	}
	if g := salvage.guild(100); g.Name != "canary1q" || len(salvage.People[100]) != 2 || salvage.Damaged["message"] > 0 {
		t.Errorf("salvaged %+v, %v, %v", g, salvage.People, salvage.Damaged)
	}
	must(t, salvage.Close())
	copied, _ := tampered(t, dir, "UPDATE message SET content = 'planted'")
	salvage, err = OpenSalvage(bg, copied, secretOf(t, oneKey), id(0).Time(), 0, nil)
	must(t, err)
	must(t, salvage.Messages(bg, func(_ memory.Channel, m memory.Message) error {
		if m.Content == "planted" {
			t.Errorf("message %d was planted, and is salvaged", m.ID)
		}
		return nil
	}))
	must(t, salvage.Close())
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

// TestRenewChild is the process that TestKillsWhileRotatingLoseNothing kills.
func TestRenewChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("is run by another test")
	}
	s := openSealed(t, dir)
	for {
		must(t, sqlstore.Renew(bg, s.Store, func(done, total int) { fmt.Printf("renewed %d\n", done) }))
	}
}

func TestKillsWhileRotatingLoseNothing(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openOnce(t, dir) // not sealed: the first runs seal it
	apply(t, s, memorytest.Canaries("canary")...)
	var many []memory.Event
	for n := range 2000 {
		many = append(many, posted(general, n, fmt.Sprintf("canary%dq sails %d", n%40, n)))
	}
	apply(t, s, many...)
	drain(t, s)
	want := tell(t, s)
	closed(t, s)
	kills := 4
	if long {
		kills = 100
	}
	for n := range kills {
		killChild(t, "TestRenewChild", dir, n, 1+rand.IntN(8), func(line string) bool {
			return scanned(line, "renewed %d", new(int))
		})
		s := openSealed(t, dir)
		must(t, sqlstore.Verify(bg, s.Store))
		if got := tell(t, s); got != want {
			t.Fatalf("after kill %d:\n%s\nwant\n%s", n, got, want)
		}
		if n%5 == 4 || n == kills-1 {
			must(t, sqlstore.Reseal(bg, s.Store, nil))
			checkSound(t, s)
			if got := tell(t, s); got != want {
				t.Fatalf("sealed after kill %d:\n%s\nwant\n%s", n, got, want)
			}
			wantSealed(t, dir, "canary")
		}
		closed(t, s)
	}
	t.Logf("%d kills", kills)
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
			"flipped": fmt.Sprintf("CAST(substr(%[1]s, 1, 40) || x'00ff' || substr(%[1]s, 43) AS BLOB)", c.Column),
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

// Who can write to the file, but hasn't the key, can't have a plain value taken for Hark's.
func TestNobodyCanMakeASealedStorePlain(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	for _, state := range []string{`{"plain":"true","stage":0}`, `{"plain":true,"stage":0}`} {
		copied, _ := tampered(t, dir, `INSERT INTO meta VALUES ('reseal', '`+state+`'); UPDATE guild SET name = 'forged' WHERE id = 100`)
		s, err := openKeyed(copied, oneKey, t)
		if err != nil { // it isn't a state of Hark's
			continue
		}
		if g, err := s.Guild(bg, 100); err != nil || g.Name != "" {
			t.Errorf("with %s a plain name was read: %q, %v", state, g.Name, err)
		}
		closed(t, s)
	}
	copied, _ := tampered(t, dir, "DELETE FROM meta WHERE key = 'seal'")
	for _, key := range []string{"", oneKey} {
		o := Options{}
		if key != "" {
			o.Secret = secretOf(t, key)
		}
		if _, err := Open(bg, copied, o); err == nil || !strings.Contains(err.Error(), "no longer says how") {
			t.Errorf("without its state, with the key %q: %v", key, err)
		}
	}
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

// A store that isn't sealed is sealed while it is used, and nothing readable is left.
func TestAPlainStoreIsSealed(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openOnce(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	drain(t, s)
	for n := range 300 {
		apply(t, s, posted(general, n, fmt.Sprintf("canary%dq sails", n)))
	}
	want := tell(t, s)
	closed(t, s)
	s = openSealed(t, dir)
	if got := tell(t, s); got != want {
		t.Errorf("before it is sealed:\n%s\nwant\n%s", got, want)
	}
	var last int
	must(t, sqlstore.Reseal(bg, s.Store, func(done, total int) { last = done }))
	if got := tell(t, s); got != want || last == 0 {
		t.Errorf("sealed (%d):\n%s\nwant\n%s", last, got, want)
	}
	wantSealed(t, dir, "canary")
	must(t, sqlstore.Renew(bg, s.Store, nil))
	if got := tell(t, s); got != want {
		t.Errorf("with new keys:\n%s\nwant\n%s", got, want)
	}
	must(t, sqlstore.Verify(bg, s.Store))
	_, err := sqlstore.Rewrap(bg, s.Store, secretOf(t, anotherKey))
	must(t, err)
	closed(t, s)
	wantSealed(t, dir, "canary")
	if _, err := openKeyed(dir, oneKey, t); !errors.Is(err, sqlstore.ErrWrongKey) {
		t.Errorf("with the old key: %v", err)
	}
	s, err = openKeyed(dir, anotherKey, t)
	must(t, err)
	if got := tell(t, s); got != want {
		t.Errorf("with another key:\n%s\nwant\n%s", got, want)
	}
	checkSound(t, s)
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

// fewLooks is a context that ends after some looks at whether it has.
type fewLooks struct {
	context.Context
	left *int
}

func (f fewLooks) Err() error {
	if *f.left--; *f.left < 0 {
		return context.Canceled
	}
	return nil
}

// Sets of vectors may change places while they are sealed anew. None is left with a key that is destroyed.
func TestVectorsChangePlacesWhileTheyAreSealedAnew(t *testing.T) {
	t.Parallel()
	first, second := memory.Space{Name: "first", Dimensions: 8}, memory.Space{Name: "second", Dimensions: 8}
	dir := emptyDir(t)
	for round := range 4 {
		s, err := Open(bg, dir, Options{Space: first, Tokens: words, Secret: secretOf(t, oneKey)})
		must(t, err)
		var events []memory.Event
		for n := range 40 {
			events = append(events, posted(general, 100*(40*round+n), fmt.Sprintf("apples %d", n)))
		}
		apply(t, s, events...)
		embedAll(t, s, pointing(1))
		closed(t, s)
		s, err = Open(bg, dir, Options{Space: second, Tokens: words, Secret: secretOf(t, oneKey)})
		must(t, err)
		embedSome(t, s, pointing(1), 5)
		looks := 40 + 5*round
		if err := sqlstore.Renew(fewLooks{bg, &looks}, s.Store, nil); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		embedAll(t, s, pointing(1))
		must(t, sqlstore.Reseal(bg, s.Store, nil))
		first, second = second, first
		must(t, sqlstore.Verify(bg, s.Store))
		checkSound(t, s)
		closed(t, s)
	}
}
