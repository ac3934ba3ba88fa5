// Package pagefile reads the pages of a SQLite file and its write-ahead log without SQLite: for salvage, and to find
// the pages to zero. It imports nothing of Hark. Begin with File.
package pagefile

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// File reads a database's pages, with committed ones in the write-ahead log in place of those in the file. It
// never writes. SQLite would give up a table at its first damaged page. Format:
// https://www.sqlite.org/fileformat2.html
type File struct {
	file, log *os.File
	Count     uint32           // of pages
	inLog     map[uint32]int64 // offset in log of a page's newest committed version
	HasLog    bool             // a write-ahead log exists, even if empty
	LogLost   bool             // part of the log is unreadable
	OnRead    func() error     // if not nil, called for each page; its error fails the read
}

// Size is the page size in bytes of every Hark database. The header's value may be damaged.
const Size = 4096

// Open opens the database at path. No process may have it open: closing the file drops this process's locks
// on it.
func Open(path string) (f *File, err error) {
	f = &File{}
	if f.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if f.log, err = os.Open(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, f.Close())
	}
	f.HasLog = f.log != nil
	info, err := f.file.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.Count = uint32((info.Size() + Size - 1) / Size)
	if f.HasLog {
		f.ReadLog(f.log)
	}
	return f, nil
}

func (f *File) Close() error {
	err := f.file.Close()
	if f.log != nil {
		err = errors.Join(err, f.log.Close())
	}
	return err
}

func (f *File) ReadLog(log io.ReaderAt) {
	if f.inLog == nil {
		f.inLog = map[uint32]int64{}
	}
	head := make([]byte, 32)
	n, err := log.ReadAt(head, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return
	}
	if f.LogLost = n < len(head) || !startsLog(head); f.LogLost {
		return
	}
	salt, sums, frame := head[16:24], HeaderChecksum(head), make([]byte, 24+Size)
	written := map[uint32]int64{} // by the uncommitted transaction
	for at, ended := int64(32), false; !f.LogLost; at += int64(len(frame)) {
		if n, err := log.ReadAt(frame, at); n < len(frame) {
			f.LogLost = !errors.Is(err, io.EOF) // an incomplete last frame wasn't committed
			return
		}
		if of := frame[8:16]; ended || string(of) != string(salt) {
			ended, f.LogLost = true, !isEarlier(of, salt) // the rest is from before the restart
			continue
		}
		sums.Add(frame[:8])
		if sums.Add(frame[24:]); !sums.Matches(frame[16:24]) {
			f.LogLost = true
			return
		}
		written[binary.BigEndian.Uint32(frame)] = at + 24
		if committed := binary.BigEndian.Uint32(frame[4:]) > 0; committed {
			for no, at := range written {
				f.inLog[no], f.Count = at, max(f.Count, no)
			}
			clear(written)
		}
	}
}

// isEarlier reports whether a frame's salt is from before the log's last restart, and not a damaged current one:
// each restart increments the first half and draws the second at random.
func isEarlier(of, salt []byte) bool {
	behind := binary.BigEndian.Uint32(salt) - binary.BigEndian.Uint32(of)
	return behind > 0 && behind < 1<<20 && string(of[4:]) != string(salt[4:])
}

func startsLog(head []byte) bool {
	sums := HeaderChecksum(head)
	return binary.BigEndian.Uint32(head)&^1 == 0x377f0682 && sums.Matches(head[24:32]) &&
		binary.BigEndian.Uint32(head[8:]) == Size
}

func (f *File) page(no uint32) ([]byte, error) {
	if no == 0 || no > f.Count {
		return nil, ErrDamaged
	}
	if f.OnRead != nil {
		if err := f.OnRead(); err != nil {
			return nil, err
		}
	}
	from, at := f.file, int64(no-1)*Size
	if there, ok := f.inLog[no]; ok {
		from, at = f.log, there
	}
	p := make([]byte, Size)
	_, err := from.ReadAt(p, at)
	return p, err
}

// ErrDamaged reports bytes that SQLite wouldn't write.
var ErrDamaged = errors.New("damaged")

// Walk visits a tree from its root. It calls each, if not nil, for every cell in order, and adds the pages read
// to seen, except those with a cell that each rejects. It returns how many pages are damaged; it can't reach the
// pages below those.
func (f *File) Walk(root uint32, table bool, seen Set, each func(Cell) (fits bool)) (damaged int) {
	own := f.NewSet()
	var visit func(no uint32, depth int)
	visit = func(no uint32, depth int) {
		if no == 0 || no > f.Count || depth > 20 || own.Has(no) {
			damaged++
			return
		}
		own.Add(no)
		n, unread := f.Node(no, each != nil)
		if unread != nil || table != (n.Kind == TableInner || n.Kind == TableLeaf) {
			damaged++ // it may belong to another tree, so it stays out of seen
			return
		}
		for _, child := range n.children {
			visit(child, depth+1)
		}
		foreign := false
		if each != nil {
			for _, c := range n.Cells {
				foreign = !each(c) || foreign
			}
		}
		if !foreign {
			seen.Add(no)
		}
		if n.damaged || foreign {
			damaged++
		}
	}
	visit(root, 0)
	return damaged
}

// Free adds the pages of the free list to seen, as far as it is readable.
func (f *File) Free(seen Set) {
	p, err := f.page(1)
	if err != nil {
		return
	}
	for trunk, own := binary.BigEndian.Uint32(p[32:]), f.NewSet(); trunk != 0 && trunk <= f.Count && !own.Has(trunk); {
		own.Add(trunk)
		p, err := f.page(trunk)
		if err != nil || int(binary.BigEndian.Uint32(p[4:])) > len(p)/4-2 {
			return
		}
		seen.Add(trunk)
		for i := range int(binary.BigEndian.Uint32(p[4:])) {
			if no := binary.BigEndian.Uint32(p[8+4*i:]); no <= f.Count {
				seen.Add(no)
			}
		}
		trunk = binary.BigEndian.Uint32(p)
	}
}

// Version returns the schema version (user_version); 0 if it is unreadable.
func (f *File) Version() int {
	if p, err := f.page(1); err == nil && string(p[:16]) == "SQLite format 3\x00" {
		return int(binary.BigEndian.Uint32(p[60:]))
	}
	return 0
}
