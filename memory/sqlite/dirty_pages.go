package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// dirtyPages holds which pages were written since their unallocated space was last zeroed. It reads them from
// the write-ahead log, which every write goes to first. Closing a file on the log is safe; closing one on the
// database would drop SQLite's locks. Only the holder of the write lock uses it.
type dirtyPages struct {
	known  bool    // outside pages, all unallocated space is zero
	pages  pageSet // written since misses last grew
	next   uint32  // where zeroing goes on, so that often written pages don't delay others
	misses int     // how often written pages may have been missed

	path string
	log  *os.File    // nil until it is there
	salt uint32      // of the log header; grows by one when the log restarts
	at   int64       // how far the log was read; 0: it is empty
	sums logChecksum // of the log up to at
}

// pageSize is the page size in bytes of every Hark database.
const pageSize = 4096

var errDamagedLog = errors.New("the write-ahead log is damaged")

// markUnknown records that pages may have been missed.
func (d *dirtyPages) markUnknown() {
	d.known = false
	d.pages = nil
	d.misses++
}

// note adds the log's new pages. Call it after each commit, before the next can restart the log.
func (d *dirtyPages) note() {
	if err := d.read(); err != nil {
		d.markUnknown()
	}
}

func (d *dirtyPages) read() (err error) {
	if d.log == nil {
		d.log, err = os.Open(d.path)
		if err != nil {
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
		d.salt = salt
		d.at = int64(len(head))
		d.sums = headerChecksum(head[:])
	}
	frame := make([]byte, 24+pageSize)
	sums := d.sums
	var written []uint32 // by the transaction that is being read
	for at := d.at; ; {
		if _, err := d.log.ReadAt(frame, at); errors.Is(err, io.EOF) || string(frame[8:16]) != string(head[16:24]) {
			return nil
		} else if err != nil {
			return err
		}
		last := binary.BigEndian.Uint32(frame[4:]) > 0
		// The rest may be from a failed or killed commit, whose checksums don't continue the previous ones.
		// Checking is slow, so it covers only the first and the last frame of a transaction.
		if last || len(written) == 0 {
			sums.add(frame[:8])
			sums.add(frame[24:])
			if !sums.matches(frame[16:24]) {
				return errDamagedLog
			}
		}
		written = append(written, binary.BigEndian.Uint32(frame))
		sums.s0 = binary.BigEndian.Uint32(frame[16:])
		sums.s1 = binary.BigEndian.Uint32(frame[20:])
		at += int64(len(frame))
		if !last {
			continue
		}
		for _, number := range written {
			d.pages.add(number)
		}
		written = written[:0]
		d.at = at
		d.sums = sums
	}
}

// logTruncated records that this process has truncated the log, after note.
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
