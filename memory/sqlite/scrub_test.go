package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hark/internal/text"
	"hark/internal/wait"
	"hark/memory"
	"hark/memory/sqlstore"
)

// Deleting rows has SQLite move others from page to page, and it leaves copies behind where they were. Nothing of them
// is left when they are deleted as well.
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
			if stained := stains(t, s); stained == 0 {
				t.Fatal("no copies were left behind: this test shows nothing")
			}
		}
	}
	scrubbed(t, s)
	checkSound(t, s)
	if stained := stains(t, s); stained != 0 {
		t.Errorf("%d pages hold something in their unused parts", stained)
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

// stains counts the pages that hold something in their unused parts, the write-ahead log being empty.
func stains(t *testing.T, s *Store) int {
	t.Helper()
	s.engine.writer.turn <- struct{}{}
	defer func() { <-s.engine.writer.turn }()
	must(t, s.engine.truncateLog(bg, 0))
	all, err := stained(bg, s.engine.write)
	must(t, err)
	return len(all)
}

// A scrub overwrites in steps, between which others write. Wherever it is killed, nothing is forgotten of
// what is left to do.
func TestScrubsGoInSteps(t *testing.T) {
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

	left, steps, said := stains(t, s), 0, messages
	t.Logf("%d pages", left)
	s.engine.writer.step = 1
	var killed []string
	err := s.engine.scrub(bg, func(ctx context.Context, f func(*tx) error) error {
		if err := s.engine.writing(ctx, f); err != nil {
			return err
		}
		now := stains(t, s)
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
		left = stains(t, s)
		return nil
	})
	if err != nil || steps < 3 {
		t.Fatalf("after %d steps: %v", steps, err)
	}
	scrubbed(t, s)
	checkSound(t, s)
	if got := find(t, s, in(general), "meanwhile"); len(got) != min(said-messages, 100) {
		t.Errorf("%d of %d messages that were said meanwhile are there", len(got), said-messages)
	}
	again := openOnce(t, killed[0])
	if again.engine.writer.scrubbed {
		t.Error("a scrub that was killed counts as done")
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

// As long as it is known which pages are dirty, no other holds anything in its unused part, whatever happens to the
// log, and whoever writes to it.
func TestNoOtherPageThanTheDirtyOnesIsStained(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	d, other, r := &s.engine.writer.dirty, raw(t, dir), rand.New(rand.NewPCG(5, 6))
	known, lost, said := 0, 0, 0
	for range 300 {
		if r.IntN(4) == 0 {
			must(t, s.engine.learnDirty(bg, s.engine.writing))
		}
		switch r.IntN(12) {
		case 0:
			execute(t, other, fmt.Sprintf("INSERT OR REPLACE INTO meta VALUES ('other%d', '%s')", said, strings.Repeat("x", r.IntN(900))))
		case 1:
			execute(t, other, "PRAGMA wal_checkpoint(PASSIVE)")
		case 2:
			execute(t, other, "PRAGMA wal_checkpoint(TRUNCATE)")
		case 3:
			execute(t, s.engine.write, "PRAGMA wal_checkpoint(PASSIVE)")
		case 4:
			must(t, s.engine.emptyLog(bg, 0))
		case 5:
			must(t, s.engine.erase(bg))
		case 6:
			apply(t, s, deleted(general, r.IntN(said+1), r.IntN(said+1)))
		default:
			for range 1 + r.IntN(20) {
				apply(t, s, posted(general, said^1, "words"+strings.Repeat(" sails", r.IntN(90))))
				said++
			}
		}
		must(t, s.engine.writing(bg, func(t *tx) error { return t.exec("UPDATE meta SET value = value WHERE key = 'terms'") }))
		all, err := stained(bg, s.engine.write)
		must(t, err)
		if !d.known {
			lost++
			continue
		}
		known++
		for _, number := range all {
			if int(number/64) >= len(d.pages) || !d.pages.has(number) {
				t.Fatalf("page %d is stained, and nobody knows", number)
			}
		}
	}
	if t.Logf("known %d times, lost %d times", known, lost); known < 100 || lost < 50 {
		t.Error("this test shows too little")
	}
}

// Whatever others do to the log before a commit is noted, nobody takes its pages for clean.
func TestLogsThatOthersTouchedFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		emptied bool // before
		steps   string
		known   bool // afterwards
	}{
		"nothing":             {steps: "wn", known: true},
		"moved":               {steps: "wpn", known: true},
		"begun anew":          {steps: "wnpwn", known: true},
		"emptied":             {steps: "wtn"},
		"empty, then emptied": {emptied: true, steps: "wtnwn"},
		"empty after removal": {emptied: true, steps: "r"},
	} {
		dir := emptyDir(t)
		s := open(t, dir)
		d, other := &s.engine.writer.dirty, raw(t, dir)
		apply(t, s, posted(general, 1, "words"), deleted(general, 1))
		must(t, s.engine.learnDirty(bg, s.engine.writing))
		if !c.emptied {
			apply(t, s, posted(general, 2, "words"))
		}
		for _, step := range c.steps {
			switch step {
			case 'w':
				execute(t, s.engine.write, "INSERT OR REPLACE INTO meta VALUES ('some', hex(randomblob(9)))")
			case 'p':
				execute(t, other, "PRAGMA wal_checkpoint(PASSIVE)")
			case 't':
				execute(t, other, "PRAGMA wal_checkpoint(TRUNCATE)")
			case 'n':
				d.note()
			case 'r':
				must(t, s.engine.writing(bg, func(t *tx) error { t.Text = true; return nil }))
			}
		}
		if d.known != c.known {
			t.Errorf("%s: it is known which pages are dirty: %v", name, d.known)
		}
	}
}

// What a process that was killed while it committed has left in the log isn't taken for what was written.
func TestWhatAFailedCommitLeavesInTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	defer reading(t, s)() // so that the log isn't emptied
	apply(t, s, posted(general, 1, "words"))
	d := &s.engine.writer.dirty
	log, err := os.OpenFile(d.path, os.O_RDWR, 0)
	must(t, err)
	defer log.Close()
	frame := make([]byte, 24+pageSize)
	_, err = log.ReadAt(frame[8:16], 16)
	must(t, err)
	for i := range int64(60) {
		frame[3], frame[7] = 2, byte(i/59) // the last one ends a transaction
		_, err := log.WriteAt(frame, d.at+i*int64(len(frame)))
		must(t, err)
	}
	for n := range 4 {
		apply(t, s, posted(general, 2+n, "more words"))
		var frames int64
		must(t, s.engine.write.QueryRowContext(bg, "PRAGMA wal_checkpoint(PASSIVE)").Scan(new(int), &frames, new(int)))
		if end := 32 + frames*int64(len(frame)); d.at != end {
			t.Errorf("noted up to %d of %d", d.at, end)
		}
	}
}

// Where other processes write all the time, nobody knows which pages they wrote, and in the end they wait.
func TestScrubsThatOthersDisturb(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	apply(t, s, posted(general, 1, "stays"))
	other, writes := raw(t, dir), 0
	disturbed := func(ctx context.Context, f func(*tx) error) error {
		writes++
		execute(t, other, fmt.Sprintf("INSERT OR REPLACE INTO meta VALUES ('other', '%s')", strings.Repeat("x", writes)))
		return s.engine.writing(ctx, f)
	}
	err := s.engine.scrub(bg, disturbed)
	if err != nil || !s.engine.writer.scrubbed || writes != 3*scrubRounds+1 {
		t.Fatalf("scrubbed after %d transactions: %t, %v", writes, s.engine.writer.scrubbed, err)
	}
	if n := stains(t, s); n > 0 {
		t.Errorf("%d pages hold something in their unused parts", n)
	}
	execute(t, other, "PRAGMA wal_checkpoint(TRUNCATE)") // from then on it begins the log as this process does
	if must(t, s.engine.learnDirty(bg, disturbed)); s.engine.writer.dirty.known {
		t.Error("what another process wrote while the pages were looked at is taken for clean")
	}
	checkSound(t, s)
}

// While full text has parts that hold what was removed, the file doesn't say that it is scrubbed.
func TestNothingIsScrubbedBeforeItIsMerged(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	must(t, s.engine.writing(bg, func(t *tx) error { t.Text = true; return t.RemoveMuch() }))
	must(t, s.engine.writing(bg, (*tx).wipeAll))
	if s.engine.writer.scrubbed {
		t.Error("it does")
	}
	var secure bool // for what is removed afterwards
	must(t, s.engine.read.QueryRow("SELECT v FROM fulltext_config WHERE k = 'secure-delete'").Scan(&secure))
	if !secure {
		t.Error("full text goes on without secure delete")
	}
	if must(t, s.engine.erase(bg)); !s.engine.writer.scrubbed {
		t.Error("and not afterwards")
	}
}

// What is removed while full text is merged is taken out of it as well.
func TestTextRemovedDuringAMerge(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	var batch text.Batch
	hashes := func(n int) string { return sqlstore.Hashes(batch.Terms(fmt.Sprintf("canary%dq", n))) }
	for n := range 200 {
		apply(t, s, posted(general, n, fmt.Sprintf("canary%dq", n)))
	}
	var first int64
	must(t, s.engine.read.QueryRow("SELECT min(row) FROM message").Scan(&first))
	remove := func(from int) {
		must(t, s.engine.writing(bg, func(t *tx) error {
			err := t.RemoveMuch()
			for n := from; n < 200; n += 2 {
				err = errors.Join(err, t.RemoveText(first+int64(n), hashes(n)))
			}
			return err
		}))
	}
	remove(0)
	steps := 0
	must(t, s.engine.mergeText(bg, func(ctx context.Context, f func(*tx) error) error {
		if steps++; steps == 2 {
			remove(1)
		}
		return s.engine.writing(ctx, f)
	}))
	for n := range 200 {
		var left int
		must(t, s.engine.read.QueryRow("SELECT count(*) FROM fulltext_data WHERE instr(block, CAST(? AS BLOB))",
			hashes(n)[1:]).Scan(&left))
		if left > 0 {
			t.Fatalf("the term of message %d is there still, after %d steps", n, steps)
		}
	}
}

func TestScrubsThatFail(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	apply(t, s, posted(general, 1, "Huitzilopochtli"), posted(general, 2, "stays"))
	scrubbed(t, s)
	fails := func(why string) {
		t.Helper()
		if err := s.engine.scrub(bg, s.engine.writing); err == nil {
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
	scrubbed(t, s)
	wantNowhere(t, dir, "Huitzilopochtli")
	checkSound(t, s)
}

// All pages are looked at, however many they are.
func TestManyPagesAreLookedAt(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	execute(t, s.engine.write, `CREATE TABLE big AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
		WHERE i < ?) SELECT zeroblob(3000) FROM n`, 2*lookStep)
	want, err := stained(bg, s.engine.read)
	must(t, err)
	stain := []uint32{lookStep, lookStep + 1, 2 * lookStep}
	want = slices.Sorted(slices.Values(append(want, stain...)))
	for _, number := range stain {
		execute(t, s.engine.write, `UPDATE sqlite_dbpage
			SET data = CAST(substr(data, 1, 99) || x'01' || substr(data, 101) AS BLOB) WHERE pgno = ?`, number)
	}
	if got, err := stained(bg, s.engine.read); err != nil || !slices.Equal(got, want) {
		t.Errorf("stained are %d, %v", got, err)
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
		{somePage(13, 3, 400), 14, 400}, {somePage(10, 0, 512), 8, 512}, {somePage(2, 1, 500), 14,
			500}, {somePage(5, 100, 212), 212, 212},
		{somePage(0, 3, 400), 0, 0}, {somePage(7, 3, 400), 0, 0}, // what isn't of a tree
		{nil, 0, 0}, {somePage(13, 3, 513), 0, 0}, {somePage(13, 300, 400), 0, 0}, {somePage(13, 3, 0), 0, 0}, // what no page can be
	} {
		for i := range c.page[c.from:c.to] {
			if c.from+i > 7 {
				c.page[c.from+i] = 1
			}
		}
		if got := unusedMiddle(c.page, 2); len(got) != c.to-c.from ||
			bytes.ContainsFunc(got, func(r rune) bool { return r != 1 }) {
			t.Errorf("of %v %d bytes are unused", c.page[:8], len(got))
		}
	}
	first := append(make([]byte, 100), somePage(13, 1, 400)[:412]...) // after the header of the database
	large := make([]byte, 1<<16)                                      // of which the content begins at 65,536
	large[0] = 13
	for number, page := range map[uint32][]byte{1: first, 2: large} {
		before := isStained(unusedMiddle(page, number))
		page[110] = 1
		if before || !isStained(unusedMiddle(page, number)) {
			t.Errorf("page %d is stained before, or not afterwards", number)
		}
	}
}

// A message that comes after newer ones takes no text away, unless an edit waited for it.
func TestLateMessagesRemoveNoText(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 5, "new"))
	scrubbed(t, s)
	apply(t, s, posted(general, 2, "late"))
	if !s.engine.writer.scrubbed {
		t.Error("a late message counts as text that was removed")
	}
	apply(t, s, memory.Edited{Guild: guild, Channel: general, ID: id(3), Content: "early", At: id(9).Time()})
	scrubbed(t, s)
	apply(t, s, posted(general, 3, "its message"))
	if s.engine.writer.scrubbed {
		t.Error("the edit that waited leaves its text behind")
	}
}

// Removed text stays in the write-ahead log no longer than somebody reads, and who waits for that is told.
func TestALogThatCannotBeEmptied(t *testing.T) {
	t.Parallel()
	dir := written(t)
	s, err := quick(t, dir)
	must(t, err)
	reader := raw(t, dir)
	execute(t, reader, "BEGIN")
	execute(t, reader, "SELECT count(*) FROM message")
	apply(t, s, deleted(general, 3))
	wantError(t, s.engine.erase(bg))
	s.engine.writer.turn <- struct{}{}
	ended, cancel := context.WithCancel(bg)
	cancel()
	if err := s.engine.erase(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-s.engine.writer.turn
	s.engine.writer.patience = wait.Limit
	if err := s.engine.erase(&endsAfter{Context: bg, asked: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.engine.writer.patience = time.Millisecond
	execute(t, reader, "ROLLBACK")
	if err := s.engine.erase(bg); err != nil || !s.engine.writer.removed.IsZero() {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, FileName+"-wal")); err != nil || info.Size() != 0 {
		t.Errorf("the log: %v, %v", info, err)
	}
	closed(t, s)
	if err := s.engine.erase(bg); err == nil {
		t.Error("the log of a closed file was emptied")
	}
}

// Readers of whom one begins before the other ends keep nobody from emptying the log.
func TestTheLogIsEmptiedBesideManyReaders(t *testing.T) {
	t.Parallel()
	s := open(t, written(t))
	end := reading(t, s)
	ctx, stop := context.WithCancel(bg)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			next, err := s.engine.read.BeginTx(bg, nil)
			if err == nil {
				err = next.QueryRow("SELECT count(*) FROM message").Scan(new(int))
			}
			if err != nil {
				t.Error(err)
				return
			}
			end()
			end = func() { _ = next.Rollback() }
		}
		end()
	})
	defer running.Wait()
	defer stop()
	for n := range 5 {
		apply(t, s, deleted(general, n))
		must(t, s.engine.erase(bg))
	}
}

// endsAfter is a context that has ended once it has been asked for its end some times.
type endsAfter struct {
	context.Context
	asked int
}

func (c *endsAfter) Done() <-chan struct{} {
	ended := make(chan struct{})
	if c.asked--; c.asked < 0 {
		close(ended)
	}
	return ended
}

func (c *endsAfter) Err() error { return context.Canceled }

// What a forgetting takes out after what it began with was erased is erased as well.
func TestWhatIsTakenOutLateIsErased(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for n := range 600 {
		e := posted(general, n, fmt.Sprint("the usual talk of apples and pears ", n))
		e.Message.Author = memory.UserID(1 + n%3)
		apply(t, s, e)
	}
	apply(t, s, memory.Forgetting{Guild: guild, User: 1, Why: memory.WhyPurge, At: id(2000).Time()})
	scrubbed(t, s)
	must(t, goOn(s))
	if n := stains(t, s); n > 0 {
		t.Errorf("%d pages hold copies of what was removed", n)
	}
}
