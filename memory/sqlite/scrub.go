package sqlite

import (
	"bytes"
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
// deleting the cell later doesn't reach those. So after text was removed, the unused middle of every page
// that holds anything there is overwritten: the pages are read while others write, and overwritten in short
// transactions. A process that dies in between has written no mark, and whoever opens the file next begins
// anew.

// scrubbedKey stands in meta while no text has been removed since unused parts of pages were last overwritten.
const scrubbedKey = "scrubbed"

const (
	// wipeStep is how many pages one transaction overwrites, so that nobody waits long.
	wipeStep = 50
	// scrubRounds is how often the pages are read while others write, before they are read while nobody does.
	scrubRounds = 5
	// restAfterScrub is how many times as long as a scrub took nobody scrubs again, unless a receipt waits for it.
	restAfterScrub = 20
	// keptStains bounds the memory that a scrub takes, in bytes.
	keptStains = 16 << 20
)

// stain is a page of which the unused middle holds something.
type stain struct {
	number int64
	from   int    // where the middle begins
	middle []byte // nil where there were too many to be kept
}

// transact is how to write: engine.writing, or engine.transact for who holds the turn.
type transact func(ctx context.Context, f func(*tx) error) error

// scrub overwrites what moved cells had left behind in unused parts of pages when it was called. It reads the
// pages through SQLite: closing a file of one's own on the database would take away the locks that SQLite
// holds on it (https://www.sqlite.org/howtocorrupt.html, section 2.2).
//
// The pages are read as they are at one moment. When one is overwritten later, what was found there may have
// gone elsewhere: SQLite exchanges the numbers of pages. So it counts as done only where it still was, and
// all is read again otherwise.
func (e *engine) scrub(ctx context.Context, write transact) error {
	if err := e.mergeText(ctx, write); err != nil {
		return err
	}
	for range scrubRounds {
		var removals int
		if err := write(ctx, func(t *tx) error {
			if removals = e.writer.removals; t.others {
				removals++ // when this is committed
			}
			return nil
		}); err != nil {
			return err
		}
		stains, err := stainsIn(ctx, e.read)
		if err != nil {
			return err
		}
		moved := false
		for len(stains) > 0 {
			n := min(len(stains), wipeStep)
			err := write(ctx, func(t *tx) error {
				elsewhere, err := t.wipe(stains[:n])
				moved = moved || elsewhere
				return err
			})
			if err != nil {
				return err
			}
			stains = stains[n:]
		}
		if !moved {
			return write(ctx, func(t *tx) error { return t.markScrubbed(removals) })
		}
	}
	return write(ctx, func(t *tx) error {
		stains, err := stainsIn(ctx, e.write)
		if err != nil {
			return err
		}
		if _, err := t.wipe(stains); err != nil {
			return err
		}
		return t.markScrubbed(e.writer.removals)
	})
}

// markScrubbed says in the file that there is nothing to overwrite, unless text was removed since there were
// so many removals.
func (t *tx) markScrubbed(removals int) error {
	w := &t.engine.writer
	w.removed = time.Now() // of the pages themselves, until the log is emptied
	if w.scrubbed || t.others || w.removals != removals {
		return nil
	}
	w.scrubbed = true
	return t.exec("INSERT OR REPLACE INTO meta VALUES ('" + scrubbedKey + "', '')")
}

// wipe overwrites the unused middle of pages, and reports whether what was found there may have moved.
func (t *tx) wipe(stains []stain) (moved bool, err error) {
	for _, was := range stains {
		var page []byte
		if err := t.row("SELECT data FROM sqlite_dbpage WHERE pgno = ?", was.number).Scan(&page); err != nil {
			return false, fmt.Errorf("read page %d of the database: %w", was.number, err)
		}
		now := stainOf(page, was.number)
		moved = moved || !was.contains(now)
		if now == nil {
			continue
		}
		clear(now.middle)
		if err := t.exec("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, was.number); err != nil {
			return false, err
		}
	}
	return moved, nil
}

// contains reports whether now is surely what is left of s, of which cells that were added may have overwritten some.
func (s stain) contains(now *stain) bool {
	if now == nil || s.middle == nil || now.from < s.from || now.from+len(now.middle) > s.from+len(s.middle) {
		return false
	}
	return bytes.Equal(s.middle[now.from-s.from:][:len(now.middle)], now.middle)
}

// stainsIn are the pages whose unused middle holds something, at one moment.
func stainsIn(ctx context.Context, db sqlstore.Querier) (stains []stain, err error) {
	var number int64
	var page sql.RawBytes
	kept := 0
	err = sqlstore.Each(context.WithoutCancel(ctx), db, func(scan sqlstore.Scanner) error {
		if err := scan(&number, &page); err != nil {
			return err
		}
		if number >= maxPages {
			return fmt.Errorf("the database has more than %d pages: copies of removed text can't be overwritten in so many", maxPages)
		}
		if found := stainOf(page, number); found != nil {
			if kept += len(found.middle); kept <= keptStains {
				found.middle = bytes.Clone(found.middle)
			} else {
				found.middle = nil
			}
			stains = append(stains, *found)
		}
		return ctx.Err()
	}, "SELECT pgno, data FROM sqlite_dbpage")
	return stains, err
}

// stainOf is the stain of a page, from 1 on, which the page's memory holds; nil if there is none.
func stainOf(page []byte, number int64) *stain {
	from, middle := unusedMiddle(page, number)
	if !slices.ContainsFunc(middle, func(b byte) bool { return b != 0 }) {
		return nil
	}
	return &stain{number, from, middle}
}

// maxPages is the number of pages from which on a page that isn't a B-tree's may begin like one that is: with
// the number of a page, of which the first byte is 2 at least.
const maxPages = 2 << 24

// unusedMiddle is the part of a page between its cells' places and the cells, which is unused, if it is a
// page of a B-tree (https://www.sqlite.org/fileformat2.html#b_tree_pages), and where it begins; else nothing.
func unusedMiddle(page []byte, number int64) (int, []byte) {
	at := 0
	if number == 1 {
		at = 100
	}
	header := page[at:]
	length := 8
	switch header[0] {
	case 2, 5: // pages that lead to others
		length = 12
	case 10, 13: // leaves
	default:
		return 0, nil
	}
	from, to := at+length+2*int(binary.BigEndian.Uint16(header[3:])), int(binary.BigEndian.Uint16(header[5:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return 0, nil
	}
	return from, page[from:to]
}
