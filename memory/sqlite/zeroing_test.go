package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/memory"
)

// When rows are deleted, SQLite moves others between pages and leaves copies behind. Those are erased when
// the rows are.
func TestCopiesThatMovedCellsLeaveBehindAreOverwritten(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	const messages = 800
	r := rand.New(rand.NewPCG(1, 2))
	canary := func(n int) string { return fmt.Sprintf("canary%dq", n) }
	for n := range messages {
		apply(t, s, posted(general, n, canary(n)+strings.Repeat(" sails", r.IntN(40))))
	}
	drain(t, s)
	order := r.Perm(messages)
	for i, n := range order[:messages/2] {
		if apply(t, s, deleted(general, n)); i == messages/4 {
			if nonzero := nonzeroPages(t, s); nonzero == 0 {
				t.Fatal("no copies were left behind: this test shows nothing")
			}
		}
	}
	zeroed(t, s)
	checkSound(t, s)
	if nonzero := nonzeroPages(t, s); nonzero != 0 {
		t.Errorf("%d pages hold something in their unused parts", nonzero)
	}
	content, err := os.ReadFile(filepath.Join(dir, FileName))
	must(t, err)
	for i, n := range order {
		if got := bytes.Contains(content, []byte(canary(n))); got != (i >= messages/2) {
			t.Fatalf("%s is in the file: %t", canary(n), got)
		}
	}
	for _, n := range order[messages/2:] {
		got, err := s.Around(bg, general, []memory.MessageID{id(n)}, 0, 0)
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Content, canary(n)) {
			t.Fatalf("message %d is %v, %v", n, got, err)
		}
	}
}

// nonzeroPages counts the pages with data in their unallocated space; the write-ahead log is empty.
func nonzeroPages(t *testing.T, s *Store) int {
	t.Helper()
	s.engine.writer.lock <- struct{}{}
	defer func() { <-s.engine.writer.lock }()
	must(t, s.engine.truncateLog(bg, 0))
	all, err := findNonzero(bg, s.engine.write)
	must(t, err)
	return len(all)
}

// Zeroing runs in steps, between which others write. A kill at any point loses none of the remaining work.
func TestZeroingGoesInSteps(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	const messages = 900
	r := rand.New(rand.NewPCG(3, 4))
	canary := func(n int) string { return fmt.Sprintf("canary%dq", n) }
	var posts []memory.Event
	for _, n := range r.Perm(messages) {
		posts = append(posts, posted(general, n, canary(n)+strings.Repeat(" sails", r.IntN(40))))
	}
	apply(t, s, posts...)
	apply(t, s, deleted(general, r.Perm(messages)[:messages/2]...))

	left, steps, said := nonzeroPages(t, s), 0, messages
	t.Logf("%d pages", left)
	s.engine.writer.step = 1
	var killed []string
	err := s.engine.zeroFreed(bg, func(ctx context.Context, f func(*tx) error) error {
		if err := s.engine.writing(ctx, f); err != nil {
			return err
		}
		now := nonzeroPages(t, s)
		if left-now > 20 {
			t.Errorf("a step overwrote %d pages", left-now)
		}
		if now < left {
			steps++
		}
		if steps == 2 && killed == nil {
			killed = append(killed, copied(t, dir))
		}
		apply(t, s, posted(general, said, "meanwhile"+strings.Repeat(" rows", r.IntN(40)))) // others write
		said++
		left = nonzeroPages(t, s)
		return nil
	})
	if err != nil || steps < 3 {
		t.Fatalf("after %d steps: %v", steps, err)
	}
	zeroed(t, s)
	checkSound(t, s)
	if got := find(t, s, in(general), "meanwhile"); len(got) != min(said-messages, 100) {
		t.Errorf("%d of %d messages that were said meanwhile are there", len(got), said-messages)
	}
	again := openOnce(t, killed[0])
	if again.engine.writer.zeroed {
		t.Error("zeroing that was killed counts as done")
	}
	checkSound(t, again)
	closed(t, again) // which does what is left to do
	for _, dir := range append(killed, dir) {
		content, err := os.ReadFile(filepath.Join(dir, FileName))
		must(t, err)
		there := 0
		for n := range messages {
			if bytes.Contains(content, []byte(canary(n))) {
				there++
			}
		}
		if there != messages/2 {
			t.Errorf("%d of %d messages are in the file", there, messages/2)
		}
	}
}

// If other processes write all the time, their pages are unknown, and in the end they wait.
func TestZeroingThatOthersDisturb(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	apply(t, s, posted(general, 1, "stays"))
	other, writes := raw(t, dir), 0
	disturbed := func(ctx context.Context, f func(*tx) error) error {
		writes++
		execute(t, other, "INSERT OR REPLACE INTO meta VALUES ('other', ?)", strings.Repeat("x", writes))
		return s.engine.writing(ctx, f)
	}
	err := s.engine.zeroFreed(bg, disturbed)
	if err != nil || !s.engine.writer.zeroed || writes != 3*zeroRounds+1 {
		t.Fatalf("zeroed after %d transactions: %t, %v", writes, s.engine.writer.zeroed, err)
	}
	if n := nonzeroPages(t, s); n > 0 {
		t.Errorf("%d pages hold something in their unused parts", n)
	}
	execute(t, other, "PRAGMA wal_checkpoint(TRUNCATE)") // from then on it begins the log as this process does
	if must(t, s.engine.scanForDirty(bg, disturbed)); s.engine.writer.dirty.known {
		t.Error("what another process wrote while the pages were looked at is taken for clean")
	}
	checkSound(t, s)
}

func TestZeroingThatFails(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	apply(t, s, posted(general, 1, "Huitzilopochtli"), posted(general, 2, "stays"))
	zeroed(t, s)
	fails := func(why string) {
		t.Helper()
		if err := s.engine.zeroFreed(bg, s.engine.writing); err == nil {
			t.Errorf("%s: nobody is told", why)
		}
	}
	execute(t, s.engine.write, "PRAGMA busy_timeout = 0")
	other := raw(t, dir)
	execute(t, other, "BEGIN IMMEDIATE")
	fails("locked")
	execute(t, other, "COMMIT")
	execute(t, s.engine.write, "ALTER TABLE meta RENAME TO other")
	fails("no table")
	execute(t, s.engine.write, "ALTER TABLE other RENAME TO meta")
	apply(t, s, deleted(general, 1))
	zeroed(t, s)
	wantNowhere(t, dir, "Huitzilopochtli")
	checkSound(t, s)
}

// All pages are looked at, however many they are.
func TestManyPagesAreLookedAt(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	execute(t, s.engine.write, `CREATE TABLE big AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
		WHERE i < ?) SELECT zeroblob(3000) FROM n`, 2*scanBatch)
	want, err := findNonzero(bg, s.engine.read)
	must(t, err)
	stain := []uint32{scanBatch, scanBatch + 1, 2 * scanBatch}
	want = slices.Sorted(slices.Values(append(want, stain...)))
	for _, number := range stain {
		execute(t, s.engine.write, `UPDATE sqlite_dbpage
			SET data = CAST(substr(data, 1, 99) || x'01' || substr(data, 101) AS BLOB) WHERE pgno = ?`, number)
	}
	if got, err := findNonzero(bg, s.engine.read); err != nil || !slices.Equal(got, want) {
		t.Errorf("nonzero are %d, %v", got, err)
	}
}

// A page of a database of pages of 512 bytes, of which the middle is unused.
func somePage(kind byte, cells, content uint16) []byte {
	page := make([]byte, 512)
	page[0] = kind
	binary.BigEndian.PutUint16(page[3:], cells)
	binary.BigEndian.PutUint16(page[5:], content)
	return page
}

func TestWhatIsUnusedOfAPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page     []byte
		from, to int
	}{
		{somePage(13, 3, 400), 14, 400}, {somePage(10, 0, 512), 8, 512}, {somePage(2, 1, 500), 14, 500},
		{somePage(5, 100, 212), 212, 212},
		{somePage(0, 3, 400), 0, 0}, {somePage(7, 3, 400), 0, 0}, // what isn't of a tree
		// what no page can be
		{nil, 0, 0}, {somePage(13, 3, 513), 0, 0}, {somePage(13, 300, 400), 0, 0}, {somePage(13, 3, 0), 0, 0},
	} {
		for i := range c.page[c.from:c.to] {
			if c.from+i > 7 {
				c.page[c.from+i] = 1
			}
		}
		if got := unallocated(c.page, 2); len(got) != c.to-c.from ||
			bytes.ContainsFunc(got, func(r rune) bool { return r != 1 }) {
			t.Errorf("of %v %d bytes are unused", c.page[:8], len(got))
		}
	}
	first := append(make([]byte, 100), somePage(13, 1, 400)[:412]...) // after the header of the database
	large := make([]byte, 1<<16)                                      // of which the content begins at 65,536
	large[0] = 13
	for number, page := range map[uint32][]byte{1: first, 2: large} {
		before := isNonzero(unallocated(page, number))
		page[110] = 1
		if before || !isNonzero(unallocated(page, number)) {
			t.Errorf("page %d is nonzero before, or not afterwards", number)
		}
	}
}

// A late message counts as no removal of text, unless an edit waited for it.
func TestLateMessagesRemoveNoText(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 5, "new"))
	zeroed(t, s)
	apply(t, s, posted(general, 2, "late"))
	if !s.engine.writer.zeroed {
		t.Error("a late message counts as text that was removed")
	}
	apply(t, s, memory.Edited{Guild: guild, Channel: general, ID: id(3), Content: "early", At: id(9).Time()})
	zeroed(t, s)
	apply(t, s, posted(general, 3, "its message"))
	if s.engine.writer.zeroed {
		t.Error("the edit that waited leaves its text behind")
	}
}

// What a forgetting removes after its first part was erased is erased as well.
func TestWhatIsTakenOutLateIsErased(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for n := range 600 {
		e := posted(general, n, fmt.Sprint("the usual talk of apples and pears ", n))
		e.Message.Author = memory.UserID(1 + n%3)
		apply(t, s, e)
	}
	apply(t, s, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyPurge, At: id(2000).Time()})
	zeroed(t, s)
	must(t, goOn(s))
	if n := nonzeroPages(t, s); n > 0 {
		t.Errorf("%d pages hold copies of what was removed", n)
	}
}
