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

// SQLite's secure delete overwrites a cell that is deleted. But where it moves cells from a page to another,
// as when it evens out pages after a delete, copies of them stay behind in the unused middle of the page, and
// deleting the cell later doesn't reach those. So after text was removed, the unused middle of every page that
// was written (dirty.go) is overwritten, in short transactions. Whoever doesn't know which pages these are, as
// after the start, first looks at all of them, while others write. A process that dies in between has written
// no mark.

// zeroedKey stands in meta while no text has been removed since unused parts of pages were last overwritten.
const zeroedKey = "scrubbed"

const (
	// stepTime is about how long one transaction of long work takes, so that nobody waits long.
	stepTime = 20 * time.Millisecond
	// scanBatch is how many pages are read at one moment, so that the log can be emptied meanwhile.
	scanBatch = 2000
	// zeroRounds is how often all pages are looked at while others write, before it is done while nobody does.
	zeroRounds = 5
	// restAfterZeroing is how many times as long as a scrub took nobody scrubs again, unless a receipt waits for it.
	restAfterZeroing = 20
)

// transact is how to write: engine.writing, or engine.transact for who holds the turn.
type transact func(ctx context.Context, f func(*tx) error) error

// scrub overwrites what moved cells had left behind in unused parts of pages when it was called. SQLite may
// take that along to another page, when it exchanges the numbers of pages: it writes that page then, so that
// it is dirty.
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

// zeroInSteps overwrites what is dirty, or was written meanwhile, and tells whether nothing is left.
func (e *engine) zeroInSteps(ctx context.Context, write transact) (done bool, err error) {
	limit, before := e.writer.step, 0 // pages that were dirty when the round began
	for round, again := 0, true; again && err == nil; {
		err = write(ctx, func(t *tx) (err error) {
			if before <= 0 { // few are left, unless they are written faster than they can be looked at
				if before = e.writer.dirty.pages.Count(); round == zeroRounds {
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

// scanForDirty looks at all pages unless it is known which are dirty. Where other processes write meanwhile, it
// isn't known afterwards either.
func (e *engine) scanForDirty(ctx context.Context, write transact) error {
	d := &e.writer.dirty
	lost := 0
	if err := write(ctx, func(*tx) error {
		if lost = d.misses; d.known {
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

// learn says that of the pages that weren't noted some hold something in their unused middle.
func (d *dirtyPages) learn(found []uint32) {
	for d.known = true; len(found) > 0; found = found[1:] {
		d.pages.Add(found[0])
	}
}

// zeroAll overwrites the unused middle of all pages at once.
func (t *tx) zeroAll() error {
	found, err := findNonzero(t.ctx, t)
	if err != nil {
		return err
	}
	t.engine.writer.dirty.learn(found)
	_, _, err = t.zeroDirty(time.Hour)
	return err
}

// wipe overwrites the unused middle of dirty pages for some time and tells how many it looked at, and whether it is
// done, which it then says in the file. It looks at none if it isn't known which are dirty.
func (t *tx) zeroDirty(limit time.Duration) (looked int, done bool, err error) {
	w, end := &t.engine.writer, time.Now().Add(limit)
	if !w.dirty.known {
		return 0, false, nil
	}
	for number := range w.dirty.pages.From(w.dirty.next) {
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
		if w.dirty.pages.Remove(number); time.Now().After(end) {
			return looked, false, nil
		}
	}
	w.removed = time.Now() // of the pages themselves, until the log is emptied
	unmerged, err := sqlstore.Found(t.row(readUnmerged).Scan(new(int)))
	if err != nil || unmerged || w.zeroed {
		return 0, !unmerged, err
	}
	t.zeroed = nil // the mark may be written to one of them
	w.zeroed = true
	return looked, true, t.exec("INSERT OR REPLACE INTO meta VALUES ('" + zeroedKey + "', '')")
}

// stained are the pages whose unused middle holds something. Others may write meanwhile.
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

// maxPages is the number of pages from which on a page that isn't a B-tree's may begin like one that is: with
// the number of a page, of which the first byte is 2 at least.
const maxPages = 2 << 24

// unallocated is the part of a page between its cells' places and the cells, which is unused, if it is a
// page of a B-tree (https://www.sqlite.org/fileformat2.html#b_tree_pages); else nothing.
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
	case 2, 5: // pages that lead to others
		length = 12
	case 10, 13: // leaves
	default:
		return nil
	}
	from, to := at+length+2*int(binary.BigEndian.Uint16(header[3:])), int(binary.BigEndian.Uint16(header[5:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return nil
	}
	return page[from:to]
}
