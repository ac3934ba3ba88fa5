package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// SQLite's secure delete overwrites a cell that is deleted. But where it moves cells from a page to another, as when it
// evens out pages after a delete, copies of them stay behind in the unused middle of the page, and deleting the cell later
// doesn't reach those. So whoever removes text overwrites the unused middle of every page that holds anything there.

// scrubbedKey stands in meta while no text has been removed since unused parts of pages were last overwritten.
const scrubbedKey = "scrubbed"

// restAfterScrub is how many times as long as a scrub took nobody scrubs again, unless a receipt waits for it.
const restAfterScrub = 20

// scrub overwrites what moved cells have left behind in unused parts of pages. The caller holds the turn. It needs the
// write-ahead log to be empty, and returns errBusy where somebody has filled it.
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
	if log, err := os.Stat(s.path + "-wal"); err == nil && log.Size() > 0 {
		return errBusy
	}
	// Nobody else writes now, and with nothing in the log the file is all there is.
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	stained, err := stainedPages(file)
	if err := errors.Join(err, file.Close(), s.wipe(ctx, stained)); err != nil {
		return err
	}
	for _, query := range []string{"INSERT OR REPLACE INTO meta VALUES ('" + scrubbedKey + "', '')", "COMMIT"} {
		if _, err := s.write.ExecContext(ctx, query); err != nil {
			return err
		}
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
			return err // uncovered: it was read a moment ago, and the disk has no part in it
		}
	}
	return nil
}

// errBusy says that somebody else has written meanwhile.
var errBusy = errors.New("somebody else writes to the database")

// stainedPages are the numbers of the pages of a database, from 1 on, whose unused middle holds something.
func stainedPages(database io.Reader) (stained []int64, err error) {
	r := bufio.NewReaderSize(database, 1<<20)
	header, err := r.Peek(100)
	if err != nil {
		return nil, fmt.Errorf("read the header of the database: %w", err)
	}
	size := int(binary.BigEndian.Uint16(header[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if pages := binary.BigEndian.Uint32(header[28:]); pages >= maxPages {
		return nil, fmt.Errorf("the database has %d pages: copies of removed text can be overwritten in fewer than %d", pages, maxPages)
	}
	page, zeros := make([]byte, size), make([]byte, size)
	for number := int64(1); ; number++ {
		if _, err := io.ReadFull(r, page); errors.Is(err, io.EOF) {
			return stained, nil
		} else if err != nil {
			return nil, fmt.Errorf("read page %d of the database: %w", number, err)
		}
		if middle := unusedMiddle(page, number); !bytes.Equal(middle, zeros[:len(middle)]) {
			stained = append(stained, number)
		}
	}
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
