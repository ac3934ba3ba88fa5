package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"hark/memory/sqlstore"
)

// SQLite's secure delete zeroes a deleted cell. But when SQLite moves cells to another page, copies stay in the
// old page's unallocated space, which deleting the cell later doesn't reach. So after a removal, the unallocated
// space of every written page (dirty_pages.go) is zeroed, in short transactions. If these pages aren't known, as
// after a start, all pages are read first, while others write. zeroedKey is set at the end.

const (
	// stepTime is about how long a transaction of long work takes, so others wait briefly.
	stepTime = 20 * time.Millisecond
	// scanBatch is how many pages one read covers, so the log can be truncated in between.
	scanBatch = 2000
	// zeroRounds is how often all pages are scanned while others write. After that, writers wait.
	zeroRounds = 5
	// restAfterZeroing is the pause after zeroing, as a multiple of its duration, unless a forgetting waits.
	restAfterZeroing = 20
)

// zeroFreed zeroes the copies of moved cells in unallocated space. A page that SQLite writes meanwhile becomes
// dirty.
func (e *engine) zeroFreed(ctx context.Context, write transact) error {
	for range zeroRounds {
		if err := e.mergeText(ctx, write); err != nil {
			return err
		}
		if err := e.scanForDirty(ctx, write); err != nil {
			return err
		}
		if done, err := e.zeroInSteps(ctx, write); err != nil || done {
			return err
		}
	}
	return write(ctx, (*tx).zeroAll)
}

// zeroInSteps zeroes the dirty pages, also those written meanwhile, and reports whether none is left.
func (e *engine) zeroInSteps(ctx context.Context, write transact) (done bool, err error) {
	limit := e.writer.step
	before := 0 // pages dirty when the round began
	again := true
	for round := 0; again && err == nil; {
		err = write(ctx, func(t *tx) (err error) {
			if before <= 0 { // few are left, unless pages are written faster than zeroed
				before = e.writer.dirty.pages.count()
				if round == zeroRounds {
					limit = time.Hour
				}
				round++
			}
			var looked int
			looked, done, err = t.zeroDirty(limit)
			before -= looked
			again = looked > 0 && !done
			return err
		})
	}
	return done, err
}

// scanForDirty reads all pages, unless the dirty ones are known. They stay unknown if other processes write
// meanwhile.
func (e *engine) scanForDirty(ctx context.Context, write transact) error {
	d := &e.writer.dirty
	lost := 0
	if err := write(ctx, func(*tx) error {
		lost = d.misses
		if d.known {
			lost = -1
		}
		return nil
	}); err != nil || lost < 0 {
		return err
	}
	found, err := findNonzero(ctx, e.read)
	if err != nil {
		return err
	}
	return write(ctx, func(*tx) error {
		if d.misses == lost {
			d.learn(found)
		}
		return nil
	})
}

// learn adds the pages whose unallocated space isn't zero. Then the dirty pages are known.
func (d *dirtyPages) learn(found []uint32) {
	for d.known = true; len(found) > 0; found = found[1:] {
		d.pages.add(found[0])
	}
}

func (t *tx) zeroAll() error {
	found, err := findNonzero(t.ctx, t)
	if err != nil {
		return err
	}
	t.engine.writer.dirty.learn(found)
	_, _, err = t.zeroDirty(time.Hour)
	return err
}

// zeroDirty zeroes dirty pages for up to limit. It returns how many it read and whether it is done, which it
// then records in the file. It reads none if the dirty pages are unknown.
func (t *tx) zeroDirty(limit time.Duration) (looked int, done bool, err error) {
	w := &t.engine.writer
	end := time.Now().Add(limit)
	if !w.dirty.known {
		return 0, false, nil
	}
	for number := range w.dirty.pages.from(w.dirty.next) {
		var page []byte
		if there, err := sqlstore.Found(t.row("SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).
			Scan(&page)); err != nil {
			return 0, false, fmt.Errorf("read page %d of the database: %w", number, err)
		} else if middle := unallocated(page, number); there && isNonzero(middle) {
			clear(middle)
			if err := t.exec("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number); err != nil {
				return 0, false, err
			}
			t.zeroed = append(t.zeroed, number)
		}
		looked++
		w.dirty.next = number + 1
		w.dirty.pages.remove(number)
		if time.Now().After(end) {
			return looked, false, nil
		}
	}
	w.removed = time.Now() // old versions of the pages stay in the log until it is truncated
	unmerged, err := sqlstore.Found(t.row(readUnmerged).Scan(new(int)))
	if err != nil || unmerged || w.zeroed {
		return 0, !unmerged, err
	}
	t.zeroed = nil // the mark may be written to one of them
	w.zeroed = true
	return looked, true, t.exec("INSERT OR REPLACE INTO meta VALUES ('" + zeroedKey + "', '')")
}

// findNonzero returns the pages whose unallocated space isn't zero. Others may write meanwhile.
func findNonzero(ctx context.Context, db sqlstore.Querier) (found []uint32, err error) {
	var number uint32
	var page sql.RawBytes
	for last := uint32(0); ; last = number {
		err := sqlstore.Each(context.WithoutCancel(ctx), db, func(scan sqlstore.Scanner) error {
			if err := scan(&number, &page); err != nil {
				return err
			}
			if number >= maxPages {
				return fmt.Errorf("the database has more than %d pages: copies of removed text can't be overwritten "+
					"in so many", maxPages)
			}
			if isNonzero(unallocated(page, number)) {
				found = append(found, number)
			}
			return ctx.Err()
		}, `WITH RECURSIVE n (no) AS (SELECT ?1 + 1 UNION ALL SELECT no + 1 FROM n WHERE no < ?1 + ?2)
			SELECT pgno, data FROM n CROSS JOIN sqlite_dbpage ON pgno = no`, last, scanBatch)
		if err != nil || number == last {
			return found, err
		}
	}
}

func isNonzero(middle []byte) bool {
	return slices.ContainsFunc(middle, func(b byte) bool { return b != 0 })
}

// maxPages is the number of pages from which other pages may look like B-tree pages: they may begin with a page
// number whose first byte is at least 2.
const maxPages = 2 << 24

// unallocated returns the space between a B-tree page's cell pointers and its cells
// (https://www.sqlite.org/fileformat2.html#b_tree_pages); nil for other pages.
func unallocated(page []byte, number uint32) []byte {
	at := 0
	if number == 1 {
		at = 100
	}
	if len(page) == 0 {
		return nil
	}
	header := page[at:]
	length := 8
	switch header[0] {
	case 2, 5: // interior pages
		length = 12
	case 10, 13: // leaves
	default:
		return nil
	}
	from := at + length + 2*int(binary.BigEndian.Uint16(header[3:]))
	to := int(binary.BigEndian.Uint16(header[5:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return nil
	}
	return page[from:to]
}
