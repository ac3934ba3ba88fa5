package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// While the dirty pages are known, all others have zeroed unallocated space, whatever happens to the log
// and whoever writes.
func TestNoOtherPageThanTheDirtyOnesIsStained(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	s := open(t, dir)
	d, other, r := &s.engine.writer.dirty, raw(t, dir), rand.New(rand.NewPCG(5, 6))
	known, lost, said := 0, 0, 0
	for range 300 {
		if r.IntN(4) == 0 {
			must(t, s.engine.scanForDirty(bg, s.engine.writing))
		}
		switch r.IntN(12) {
		case 0:
			execute(t, other, fmt.Sprintf("INSERT OR REPLACE INTO meta VALUES ('other%d', '%s')", said,
				strings.Repeat("x", r.IntN(900))))
		case 1:
			execute(t, other, "PRAGMA wal_checkpoint(PASSIVE)")
		case 2:
			execute(t, other, "PRAGMA wal_checkpoint(TRUNCATE)")
		case 3:
			execute(t, s.engine.write, "PRAGMA wal_checkpoint(PASSIVE)")
		case 4:
			must(t, s.engine.lockAndTruncateLog(bg, 0))
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
		must(t, s.engine.writing(bg, func(t *tx) error {
			return t.exec("UPDATE meta SET value = value WHERE key = 'terms'")
		}))
		all, err := findNonzero(bg, s.engine.write)
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

// Whatever others do to the log before a commit is noted, no dirty page counts as clean.
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
		must(t, s.engine.scanForDirty(bg, s.engine.writing))
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

// What a process killed during its commit left in the log doesn't count as written.
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
