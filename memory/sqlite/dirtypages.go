package sqlite

import (
	"encoding/binary"
	"errors"
	"hark/memory/sqlite/pagefile"
	"io"
	"os"
)

// dirtyPages holds which pages were written since their unallocated space was last zeroed. It reads them from
// the write-ahead log, where every write goes first. Closing our own file on the log drops none of SQLite's
// locks, as closing one on the database would. Only the holder of the write lock uses it.
type dirtyPages struct {
	known  bool         // outside pages, all unallocated space is zero
	pages  pagefile.Set // that were written since lost last grew
	next   uint32       // where to go on looking at them, so that none waits for others that are written all the time
	misses int          // how often pages may have been written that weren't noted

	path string            // of the log
	log  *os.File          // nil until it is there
	salt uint32            // tells when the log was begun anew: it grows by one each time
	at   int64             // up to where the log was noted; 0 while it is empty
	sums pagefile.Checksum // of the log up to there
}

// markUnknown records that pages were written that weren't noted.
func (d *dirtyPages) markUnknown() {
	d.known, d.pages = false, nil
	d.misses++
}

// note adds the pages in the log that weren't noted yet. Call it after each commit, before the next can
// restart the log. A restart by another process shows in the salt, or in an empty log.
func (d *dirtyPages) note() {
	if err := d.read(); err != nil {
		d.markUnknown()
	}
}

func (d *dirtyPages) read() (err error) {
	if d.log == nil {
		if d.log, err = os.Open(d.path); err != nil {
			d.log = nil
			return err
		}
	}
	var head [32]byte
	if _, err := d.log.ReadAt(head[:], 0); errors.Is(err, io.EOF) {
		if d.at > 0 {
			d.markUnknown()
			d.at = 0
		}
		return nil
	} else if err != nil {
		return err
	}
	salt := binary.BigEndian.Uint32(head[16:])
	if d.at == 0 || salt != d.salt {
		if d.at > 0 {
			d.salt++
		}
		if salt != d.salt {
			d.markUnknown()
		}
		d.salt, d.at, d.sums = salt, int64(len(head)), pagefile.HeaderChecksum(head[:])
	}
	frame, sums := make([]byte, 24+pagefile.Size), d.sums
	var written []uint32 // by a transaction of which the end wasn't read yet
	for at := d.at; ; {
		if _, err := d.log.ReadAt(frame, at); errors.Is(err, io.EOF) || string(frame[8:16]) != string(head[16:24]) {
			return nil
		} else if err != nil {
			return err
		}
		last := binary.BigEndian.Uint32(frame[4:]) > 0
		// What follows may be left of a commit that failed, or whose process was killed, and be written over later.
		// Its sums don't follow those of what is before it. They take long, so only those of the ends are looked at.
		if last || len(written) == 0 {
			sums.Add(frame[:8])
			if sums.Add(frame[24:]); !sums.Matches(frame[16:24]) {
				return pagefile.ErrDamaged
			}
		}
		written = append(written, binary.BigEndian.Uint32(frame))
		sums.S0, sums.S1 = binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])
		if at += int64(len(frame)); !last {
			continue
		}
		for _, number := range written {
			d.pages.Add(number)
		}
		written, d.at, d.sums = written[:0], at, sums
	}
}

// logTruncated records that this process has truncated the log, after it was noted.
func (d *dirtyPages) logTruncated() {
	d.salt++
	d.at = 0
}

func (d *dirtyPages) close() error {
	if d.log == nil {
		return nil
	}
	return d.log.Close()
}
