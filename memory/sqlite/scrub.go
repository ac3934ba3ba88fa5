package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// SQLite's secure delete overwrites a cell that is deleted. But where it moves cells from a page to another, as when it
// evens out pages after a delete, copies of them stay behind in the unused middle of the page, and deleting the cell later
// doesn't reach those. So whoever removes text overwrites the unused middle of every page that holds anything there.

// scrubbedKey stands in meta while no text has been removed since unused parts of pages were last overwritten.
const scrubbedKey = "scrubbed"

// restAfterScrub is how many times as long as a scrub took nobody scrubs again, unless a receipt waits for it.
const restAfterScrub = 20

// scrub overwrites what moved cells have left behind in unused parts of pages. The caller holds the turn. It reads the pages
// through SQLite: closing a file of one's own on the database would take away the locks that SQLite holds on it
// (https://www.sqlite.org/howtocorrupt.html, section 2.2).
func (s *Store) scrub(ctx context.Context) (err error) {
	started := time.Now()
	if _, err := s.write.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = s.write.ExecContext(ctx, "ROLLBACK") // fails if SQLite has done so itself
		}
	}()
	stained, err := s.stainedPages(ctx)
	if err == nil {
		err = s.wipe(ctx, stained)
	}
	for _, query := range []string{"INSERT OR REPLACE INTO meta VALUES ('" + scrubbedKey + "', '')", "COMMIT"} {
		if err == nil {
			_, err = s.write.ExecContext(ctx, query)
		}
	}
	if err != nil {
		return err
	}
	w := &s.writer
	w.scrubbed, w.removed, w.rest = true, time.Now(), time.Now().Add(restAfterScrub*time.Since(started))
	return nil
}

// wipe overwrites the unused middle of pages, in the transaction under way.
func (s *Store) wipe(ctx context.Context, pages []int64) error {
	for _, number := range pages {
		var page []byte
		if err := s.write.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).Scan(&page); err != nil {
			return fmt.Errorf("read page %d of the database: %w", number, err)
		}
		clear(unusedMiddle(page, number))
		if _, err := s.write.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number); err != nil {
			return err
		}
	}
	return nil
}

// stainedPages are the numbers of the pages, from 1 on, whose unused middle holds something.
func (s *Store) stainedPages(ctx context.Context) (stained []int64, err error) {
	rows, err := s.write.QueryContext(ctx, "SELECT pgno, data FROM sqlite_dbpage")
	if err != nil {
		return nil, err
	}
	var number int64
	var page sql.RawBytes
	err = eachRow(rows, func(scan func(...any) error) error {
		if err := scan(&number, &page); err != nil {
			return err
		}
		if number >= maxPages {
			return fmt.Errorf("the database has more than %d pages: copies of removed text can't be overwritten in so many", maxPages)
		}
		if isStained(page, number) {
			stained = append(stained, number)
		}
		return nil
	})
	return stained, err
}

func isStained(page []byte, number int64) bool {
	return slices.ContainsFunc(unusedMiddle(page, number), func(b byte) bool { return b != 0 })
}

// maxPages is the number of pages from which on a page that isn't a B-tree's may begin like one that is: with the number
// of a page, of which the first byte is 2 at least.
const maxPages = 2 << 24

// unusedMiddle is the part of a page between its cells' places and the cells, which is unused, if it is a page of a B-tree
// (https://www.sqlite.org/fileformat2.html#b_tree_pages); else nothing.
func unusedMiddle(page []byte, number int64) []byte {
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
