package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/seal"
	"hark/memory/sqlstore"
)

// flipped is a sealed column with two bytes changed.
func flipped(column string) string {
	return fmt.Sprintf("CAST(substr(%[1]s, 1, 40) || x'00ff' || substr(%[1]s, 43) AS BLOB)", column)
}

// Who changes values of a sealed store can't stop anything from being deleted, nor the store from opening.
func TestChangedValuesDontStopForgetting(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	apply(t, s, posted(general, 5, "canary39q sails"))
	drain(t, s)
	closed(t, s)
	columns := append(sqlstore.SealedColumns(), sqlstore.SealedColumn{Table: "vector", Column: "steps"})
	for _, c := range columns {
		if c.Table == "setting" {
			continue // one that can't be read is an error: its limits must not be lifted
		}
		copied, _ := tampered(t, dir, fmt.Sprintf("UPDATE %s SET %s = %s WHERE typeof(%[2]s) = 'blob'", c.Table, c.Column,
			flipped(c.Column)))
		t.Run(c.Table+"."+c.Column, func(t *testing.T) {
			s := openSealed(t, copied)
			log := rowIDs(t, s)
			apply(t, s, memory.Deleted{Guild: 100, Channel: 1000, IDs: log[:1]})
			forget(t, s, memory.Forgetting{Guild: 100, User: 1, Why: memory.WhyMember, At: id(9000).Time()})
			err := sqlstore.Renew(bg, s.Store, nil)
			if lost := (sqlstore.LostError{}); err != nil && (!errors.As(err, &lost) || lost.Values == 0) {
				t.Error("renew:", err)
			}
			must(t, s.Erase(bg, true))
			checkSound(t, s)
			forget(t, s, memory.Forgetting{Guild: 100, Why: memory.WhyMember, At: id(9000).Time()})
			if left := rowIDs(t, s); len(left) > 0 {
				t.Errorf("%v are left", left)
			}
			must(t, s.Erase(bg, true))
			checkSound(t, s)
			closed(t, s)
		})
	}
}

// rowIDs are the messages of channel 1000, read past the store.
func rowIDs(t *testing.T, s *Store) (ids []memory.MessageID) {
	t.Helper()
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		ids = append(ids, 0)
		return scan(&ids[len(ids)-1])
	}, "SELECT m.id FROM message m JOIN channel c ON c.no = m.channel WHERE c.id = 1000 ORDER BY m.id"))
	return ids
}

// What can't be read is left as it is, is named, and takes its new text when Discord tells it again.
func TestAChangedMessageIsReportedAndHealed(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	apples := posted(general, 1, "apples sail")
	apples.Message.Links = []memory.Link{{Title: "a page of oranges"}}
	apply(t, s, apples, posted(general, 2, "pears sail"))
	closed(t, s)
	copied, _ := tampered(t, dir, fmt.Sprintf("UPDATE message SET content = %s, extra = %s WHERE id = %d",
		flipped("content"), flipped("extra"), id(1)))
	s = openSealed(t, copied)
	_, err := s.Log(bg, general, id(1)-1, id(3), 10)
	if !errors.Is(err, seal.ErrChanged) || !strings.Contains(err.Error(), "restore a backup") {
		t.Fatal("log:", err)
	}
	var lost sqlstore.LostError
	if err := sqlstore.Renew(bg, s.Store, nil); !errors.As(err, &lost) || lost.Values != 2 {
		t.Error("renew:", err)
	}
	if left, err := sqlstore.IsResealing(bg, s.Store); left || err != nil {
		t.Error("renewing has not ended:", err)
	}
	apply(t, s, apples)
	if log, err := s.Log(bg, general, id(1)-1, id(2), 10); err != nil || len(log) != 2 || log[0].Content != "apples sail" ||
		len(log[0].Links) != 1 {
		t.Errorf("told again, it is %+v, %v", log, err)
	}
	for _, word := range []string{"apples", "oranges"} {
		if got := find(t, s, in(general), word); len(got) != 1 {
			t.Errorf("%s are found in %v", word, got)
		}
	}
	must(t, sqlstore.Verify(bg, s.Store))
	must(t, s.Erase(bg, true))
	checkSound(t, s)
	closed(t, s)
}

// A channel whose number was exchanged with another's shows nobody the other's messages.
func TestSwappedChannelsAreNotRead(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	structure := memory.GuildSeen{Guild: memory.Guild{ID: 100, Name: "g", Channels: []memory.Channel{
		{ID: 1000, Guild: 100, Name: "public"}, {ID: 1001, Guild: 100, Name: "secret"}}}}
	apply(t, s, structure)
	for n, c := range []memory.ChannelID{1000, 1001} {
		apply(t, s, memory.Posted{Message: memory.Message{ID: id(1 + n), Guild: 100, Channel: c, Author: 5, Content: "said"}})
	}
	closed(t, s)
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	must(t, err)
	var a, b int64
	must(t, db.QueryRow("SELECT (SELECT no FROM channel WHERE id = 1000), (SELECT no FROM channel WHERE id = 1001)").
		Scan(&a, &b))
	for _, set := range [][2]int64{{1000, -1}, {1001, a}, {1000, b}} {
		_, err := db.Exec("UPDATE channel SET no = ? WHERE id = ?", set[1], set[0])
		must(t, err)
	}
	must(t, db.Close())
	s = openSealed(t, dir)
	for range 2 {
		if got := len(s.Unreadable()); got != 2 {
			t.Errorf("%d names can't be read: %v", got, s.Unreadable())
		}
		for _, c := range []memory.ChannelID{1000, 1001} {
			if log, err := s.Log(bg, c, -1<<62, 1<<62, 10); len(log) > 0 {
				t.Errorf("%d reads %v, %v", c, log, err)
			}
		}
		if err := sqlstore.Verify(bg, s.Store); !errors.Is(err, seal.ErrChanged) {
			t.Error("verify:", err)
		}
		apply(t, s, structure) // Discord tells the names again
		if err := sqlstore.Renew(bg, s.Store, nil); !errors.As(err, new(sqlstore.LostError)) {
			t.Error("renew:", err)
		}
	}
	closed(t, s)
}

// Rotating the operator's key doesn't sign a mark that somebody else wrote.
func TestAForgedMarkIsNotSigned(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openSealed(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	copied, _ := tampered(t, dir, `INSERT INTO meta VALUES ('reseal', '{"plain":"x","stage":0}')`)
	s = openSealed(t, copied)
	_, err := sqlstore.Rewrap(bg, s.Store, secretOf(t, anotherKey))
	must(t, err)
	closed(t, s)
	copied, _ = tampered(t, copied, "UPDATE guild SET name = 'forged' WHERE id = 100")
	s, err = openKeyed(copied, anotherKey, t)
	must(t, err)
	if g, err := s.Guild(bg, 100); err != nil || g.Name != "" || len(s.Unreadable()) != 1 {
		t.Errorf("the server is called %q, %v, %v", g.Name, err, s.Unreadable())
	}
	closed(t, s)
}

func dataKeys(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	must(t, sqlstore.Each(bg, s.engine, func(scan sqlstore.Scanner) error {
		var wrapped string
		err := scan(&wrapped)
		all[wrapped] = true
		return err
	}, "SELECT wrapped FROM data_key"))
	return all
}

// Renewing keys gives new ones also where sealing was still to be finished.
func TestRenewRetiresKeysOfASealingThatIsLeft(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openOnce(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	closed(t, s)
	s = openSealed(t, dir)
	apply(t, s, posted(general, 1, "hello there"))
	before := dataKeys(t, s)
	must(t, sqlstore.Renew(bg, s.Store, nil))
	for wrapped := range dataKeys(t, s) {
		if before[wrapped] {
			t.Error("a key is kept")
		}
	}
	if len(before) == 0 {
		t.Error("there was no key")
	}
	must(t, sqlstore.Verify(bg, s.Store))
	closed(t, s)
}

// Who reads while a store is sealed, or gets new keys, finds nothing changed.
func TestReadersGoOnWhileSealingEnds(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openOnce(t, dir)
	var many []memory.Event
	for n := range 300 {
		many = append(many, posted(general, n, fmt.Sprintf("apples sail %d", n)))
	}
	apply(t, s, many...)
	closed(t, s)
	s = openSealed(t, dir)
	s.engine.writer.busyTimeout = 50 * time.Millisecond // that Erase waits for the reader
	author := many[0].(memory.Posted).Message.Author
	for _, seal := range []func() error{
		func() error { return sqlstore.Reseal(bg, s.Store, nil) }, func() error { return sqlstore.Renew(bg, s.Store, nil) },
	} {
		read := 0
		must(t, s.MessagesBy(bg, guild, author, func(memory.Message) error {
			if read++; read == 1 {
				if err := seal(); !errors.Is(err, errLogInUse) {
					t.Error("sealing ended in spite of a reader:", err)
				}
			}
			return nil
		}))
		if read < 100 {
			t.Errorf("%d messages were read", read)
		}
		must(t, seal())
		if left, err := sqlstore.IsResealing(bg, s.Store); left || err != nil {
			t.Error("sealing has not ended:", err)
		}
		must(t, sqlstore.Verify(bg, s.Store))
	}
	closed(t, s)
}

// A process drops the keys that another destroyed.
func TestDestroyedKeysLeaveOtherProcesses(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	a := openSealed(t, dir)
	apply(t, a, memorytest.Canaries("canary")...)
	b := openSealed(t, dir)
	var old []byte
	must(t, sqlstore.RowOf(bg, a.engine, "SELECT content FROM message WHERE typeof(content) = 'blob'").Scan(&old))
	if a.engine.vault.KeyOf(old) == nil {
		t.Fatal("its key isn't known")
	}
	must(t, sqlstore.Renew(bg, b.Store, nil))
	_, err := a.Guild(bg, 100)
	must(t, err)
	for n, s := range []*Store{a, b} {
		if s.engine.vault.KeyOf(old) != nil {
			t.Errorf("process %d has a destroyed key", n)
		}
		must(t, sqlstore.Verify(bg, s.Store))
		closed(t, s)
	}
}

// Processes that renew and forget at once leave nothing undone.
func TestRenewingAndForgettingAtOnceEnds(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	a := openSealed(t, dir)
	apply(t, a, memorytest.Canaries("canary")...)
	drain(t, a)
	b := openSealed(t, dir)
	done := make(chan error)
	go func() { done <- sqlstore.Renew(bg, b.Store, nil) }()
	for n := range 5 {
		forget(t, a, memory.Forgetting{Guild: 100, Why: memory.WhyMember, At: id(n).Time()})
	}
	must(t, <-done)
	var retired int
	must(t, sqlstore.RowOf(bg, a.engine, "SELECT count(*) FROM data_key WHERE retired <> 0").Scan(&retired))
	if left, err := sqlstore.IsResealing(bg, a.Store); left || err != nil || retired > 0 {
		t.Errorf("left %t, %v, %d keys", left, err, retired)
	}
	for _, s := range []*Store{a, b} {
		must(t, sqlstore.Verify(bg, s.Store))
		closed(t, s)
	}
}

// Forgetting a server that has no key yet doesn't wait until all others are sealed.
func TestForgettingAServerWithoutAKeySealsNothing(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := openOnce(t, dir)
	apply(t, s, memorytest.Canaries("canary")...)
	apply(t, s, memory.GuildSeen{Guild: memory.Guild{ID: 200, Name: "small"}})
	closed(t, s)
	s = openSealed(t, dir)
	forget(t, s, memory.Forgetting{Guild: 200, Why: memory.WhyMember, At: id(30).Time()})
	if left, err := sqlstore.IsResealing(bg, s.Store); !left || err != nil {
		t.Errorf("everything was sealed: %t, %v", left, err)
	}
	closed(t, s)
}
