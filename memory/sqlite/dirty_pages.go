package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"hark/memory/sqlite/pagefile"
)

// dirtyPages holds which pages were written since their unallocated space was last zeroed. It reads them from
// the write-ahead log, which every write goes to first. Closing a file on the log is safe; closing one on the
// database would drop SQLite's locks. Only the holder of the write lock uses it.
type dirtyPages struct {
	known  bool         // outside pages, all unallocated space is zero
	pages  pagefile.Set // written since misses last grew
	next   uint32       // where zeroing goes on, so that often written pages don't delay others
	misses int          // how often written pages may have been missed

	path string
	log  *os.File          // nil until it is there
	salt uint32            // of the log header; grows by one when the log restarts
	at   int64             // how far the log was read; 0: it is empty
	sums pagefile.Checksum // of the log up to at
}

// markUnknown records that pages may have been missed.
func (d *dirtyPages) markUnknown() {
	d.known, d.pages = false, nil
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
