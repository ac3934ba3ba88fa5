package sqlite

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math/bits"
	"os"
)

// pageFile reads a database's pages without SQLite, which gives a table up at its first damaged page, and
// writes nothing. What is in the write-ahead log counts as SQLite counts it. The format:
// https://www.sqlite.org/fileformat2.html
type pageFile struct {
	file, log *os.File
	count     uint32           // pages there are
	ahead     map[uint32]int64 // where in log the newest committed version of a page is
	hasLog    bool             // whether there is a write-ahead log, be it an empty one
	logLost   bool             // whether a part of the log can't be read
	asked     func() error     // for each page that is read, if not nil; its error is one of the page
}

// pageSize is that of all databases of Hark's. What the file says of it may be damaged.
const pageSize = 4096

// openPages opens the database at path, which nobody has open: closing it would end this process's own locks on it.
func openPages(path string) (f *pageFile, err error) {
	f = &pageFile{ahead: map[uint32]int64{}}
	if f.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if f.log, err = os.Open(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, f.close())
	}
	f.hasLog = f.log != nil
	info, err := f.file.Stat()
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.count = uint32((info.Size() + pageSize - 1) / pageSize)
	if f.hasLog {
		f.readLog(f.log)
	}
	return f, nil
}

func (f *pageFile) close() error {
	err := f.file.Close()
	if f.log != nil {
		err = errors.Join(err, f.log.Close())
	}
	return err
}

// readLog notes which pages the write-ahead log holds.
func (f *pageFile) readLog(log io.ReaderAt) {
	head := make([]byte, 32)
	n, err := log.ReadAt(head, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return
	}
	if f.logLost = n < len(head) || !startsLog(head); f.logLost {
		return
	}
	salt, sums, frame := head[16:24], sumsOf(head), make([]byte, 24+pageSize)
	written := map[uint32]int64{} // by the transaction that isn't committed yet
	for at, ended := int64(32), false; !f.logLost; at += int64(len(frame)) {
		if n, err := log.ReadAt(frame, at); n < len(frame) {
			f.logLost = !errors.Is(err, io.EOF) // at the end the last frame was being written
			return
		}
		if of := frame[8:16]; ended || string(of) != string(salt) {
			ended, f.logLost = true, !isEarlier(of, salt) // what follows was written before the log was begun anew
			continue
		}
		sums.add(frame[:8])
		if sums.add(frame[24:]); !sums.are(frame[16:24]) {
			f.logLost = true
			return
		}
		written[binary.BigEndian.Uint32(frame)] = at + 24
		if committed := binary.BigEndian.Uint32(frame[4:]) > 0; committed {
			for no, at := range written {
				f.ahead[no], f.count = at, max(f.count, no)
			}
			clear(written)
		}
	}
}

// isEarlier reports whether a frame's salt is one that the log had before it was begun anew, rather than its
// own and damaged: each time its first half grows by one, and the other is drawn anew.
func isEarlier(of, salt []byte) bool {
	behind := binary.BigEndian.Uint32(salt) - binary.BigEndian.Uint32(of)
	return behind > 0 && behind < 1<<20 && string(of[4:]) != string(salt[4:])
}

// startsLog reports whether head is that of a log.
func startsLog(head []byte) bool {
	sums := sumsOf(head)
	return binary.BigEndian.Uint32(head)&^1 == 0x377f0682 && sums.are(head[24:32]) &&
		binary.BigEndian.Uint32(head[8:]) == pageSize
}

// logSums are the checksums of a write-ahead log.
type logSums struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// sumsOf are the checksums of a log's head, of which those of what follows are made.
func sumsOf(head []byte) logSums {
	sums := logSums{order: binary.LittleEndian}
	if head[3]&1 == 1 {
		sums.order = binary.BigEndian
	}
	sums.add(head[:24])
	return sums
}

func (s *logSums) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

func (s *logSums) are(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.s0 && binary.BigEndian.Uint32(b[4:]) == s.s1
}

// page reads a page.
func (f *pageFile) page(no uint32) ([]byte, error) {
	if no == 0 || no > f.count {
		return nil, errDamaged
	}
	if f.asked != nil {
		if err := f.asked(); err != nil {
			return nil, err
		}
	}
	from, at := f.file, int64(no-1)*pageSize
	if there, ok := f.ahead[no]; ok {
		from, at = f.log, there
	}
	p := make([]byte, pageSize)
	_, err := from.ReadAt(p, at)
	return p, err
}

// errDamaged says that something isn't as SQLite writes it.
var errDamaged = errors.New("damaged")

// The kinds of pages of trees.
const (
	indexInner, tableInner = 2, 5
	indexLeaf, tableLeaf   = 10, 13
)

// node is a page of a tree.
type node struct {
	kind     byte
	children []uint32
	cells    []cell
	damaged  bool // whether a part of it can't be read
}

// cell is an entry of a table, or of an index.
type cell struct {
	row    int64 // of a table
	values []any // int64, float64, []byte, or nil
}

// node reads a page of a tree. The cells of leaves are read only if wanted.
func (f *pageFile) node(no uint32, wanted bool) (n node, err error) {
	p, err := f.page(no)
	if err != nil {
		return n, err
	}
	at := 0
	if no == 1 {
		at = 100
	}
	n.kind = p[at]
	head := at + 8
	switch n.kind {
	case tableInner, indexInner:
		head = at + 12
	case tableLeaf, indexLeaf:
		if !wanted {
			return n, nil
		}
	default:
		return n, errDamaged
	}
	count, start := int(binary.BigEndian.Uint16(p[at+3:])), int(binary.BigEndian.Uint16(p[at+5:]))
	if head+2*count > len(p) {
		return n, errDamaged
	}
	free, err := freeBytes(p, int(binary.BigEndian.Uint16(p[at+1:])))
	taken := start + free + int(p[at+7])
	n.damaged = err != nil || start < head+2*count
	for i := range count {
		c := int(binary.BigEndian.Uint16(p[head+2*i:]))
		if c < head+2*count || c+4 > len(p) {
			n.damaged = true
			continue
		}
		size, err := f.cell(&n, p, c)
		if taken += size; err != nil {
			n.damaged = true
		}
	}
	if head == at+12 {
		n.children = append(n.children, binary.BigEndian.Uint32(p[at+8:]))
	}
	n.damaged = n.damaged || taken != len(p) // what a page holds fills it, so that no cell was lost
	return n, nil
}

// freeBytes adds up the free parts of a page that are in its list.
func freeBytes(p []byte, at int) (n int, err error) {
	for last := 0; at != 0; {
		if at <= last || at+4 > len(p) {
			return n, errDamaged
		}
		last = at
		n += int(binary.BigEndian.Uint16(p[at+2:]))
		at = int(binary.BigEndian.Uint16(p[at:]))
	}
	return n, nil
}

// cell reads the cell at some place of a page into n, and tells how much of the page it takes.
func (f *pageFile) cell(n *node, p []byte, at int) (size int, err error) {
	b := p[at:]
	used := 0
	if n.kind == tableInner || n.kind == indexInner {
		n.children = append(n.children, binary.BigEndian.Uint32(b))
		used = 4
	}
	if n.kind == tableInner {
		_, k := varint(b[used:])
		return used + k, nil
	}
	length, k := varint(b[used:])
	used += k
	var c cell
	if n.kind == tableLeaf {
		row, k := varint(b[used:])
		c.row = int64(row)
		used += k
	}
	if length > uint64(f.count)*pageSize || used > len(b) {
		return max(4, used), errDamaged
	}
	payload, local, err := f.payload(b[used:], int(length), n.kind == tableLeaf)
	size = max(4, used+local)
	if err != nil {
		return size, err
	}
	if c.values, err = record(payload); err == nil {
		n.cells = append(n.cells, c)
	}
	return size, err
}

// payload is what a cell holds, of which so many bytes may lie in further pages. local is how many lie in its own.
func (f *pageFile) payload(b []byte, length int, table bool) (payload []byte, local int, err error) {
	most, least := (pageSize-12)*64/255-23, (pageSize-12)*32/255-23
	if table {
		most = pageSize - 35
	}
	if length <= most {
		if length > len(b) {
			return nil, 0, errDamaged
		}
		return b[:length], length, nil
	}
	local = least
	if k := least + (length-least)%(pageSize-4); k <= most {
		local = k
	}
	if local+4 > len(b) {
		return nil, 0, errDamaged
	}
	payload = append(make([]byte, 0, length), b[:local]...)
	for next := binary.BigEndian.Uint32(b[local:]); len(payload) < length; {
		p, err := f.page(next)
		if err != nil {
			return nil, local + 4, err
		}
		next = binary.BigEndian.Uint32(p)
		payload = append(payload, p[4:min(len(p), 4+length-len(payload))]...)
	}
	return payload, local + 4, nil
}

// record takes a record apart.
func record(b []byte) (values []any, err error) {
	head, k := varint(b)
	if k == 0 || head > uint64(len(b)) || head < uint64(k) {
		return nil, errDamaged
	}
	types, b := b[k:head], b[head:]
	for len(types) > 0 {
		kind, k := varint(types)
		if k == 0 {
			return nil, errDamaged
		}
		types = types[k:]
		v, size, err := value(kind, b)
		if err != nil {
			return nil, err
		}
		values, b = append(values, v), b[size:]
	}
	if len(b) > 0 {
		return nil, errDamaged
	}
	return values, nil
}

// numberSizes are how many bytes numbers take, by kind.
var numberSizes = [...]int{1: 1, 2, 3, 4, 6, 8, 8}

func value(kind uint64, b []byte) (v any, size int, err error) {
	switch {
	case kind == 0:
		return nil, 0, nil
	case kind < 8:
		size = numberSizes[kind]
	case kind < 10:
		return int64(kind - 8), 0, nil
	case kind >= 12 && kind <= 1<<40:
		size = int((kind - 12) / 2)
	default:
		return nil, 0, errDamaged
	}
	if size > len(b) {
		return nil, 0, errDamaged
	}
	if kind == 7 || kind >= 12 {
		return b[:size], size, nil // no column of Hark's holds a fraction
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:size] {
		n = n<<8 | int64(c)
	}
	return n, size, nil
}

// varint reads a number of one to nine bytes; size is 0 where there is none.
func varint(b []byte) (n uint64, size int) {
	for i, c := range b {
		if i == 8 {
			return n<<8 | uint64(c), 9
		}
		if n = n<<7 | uint64(c&0x7f); c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// pages is a set of pages.
type pages []uint64

func (f *pageFile) none() pages { return make(pages, f.count/64+1) }

func (s *pages) add(no uint32) {
	*s = append(*s, make(pages, max(0, int(no/64)+1-len(*s)))...)
	(*s)[no/64] |= 1 << (no % 64)
}

func (s pages) has(no uint32) bool { return s[no/64]&(1<<(no%64)) != 0 }

func (s pages) remove(no uint32) {
	if int(no/64) < len(s) {
		s[no/64] &^= 1 << (no % 64)
	}
}

// from are the pages in order, beginning with first and ending with the one before it. Each may be removed on the way.
func (s pages) from(first uint32) iter.Seq[uint32] {
	if int(first/64) >= len(s) {
		first = 0
	}
	below := uint64(1)<<(first%64) - 1
	return func(yield func(uint32) bool) {
		for n := 0; n <= len(s) && len(s) > 0; n++ {
			i := (n + int(first/64)) % len(s)
			left := s[i]
			switch n {
			case 0:
				left &^= below
			case len(s):
				left &= below
			}
			for ; left != 0; left &= left - 1 {
				if !yield(uint32(64*i + bits.TrailingZeros64(left))) {
					return
				}
			}
		}
	}
}

func (s pages) count() (n int) {
	for _, some := range s {
		n += bits.OnesCount64(some)
	}
	return n
}

// walk goes through a tree from its root on. It tells each what is in it, in order, unless that is nil, and adds the
// pages that it saw to seen, but for those that hold something of which each says that it doesn't fit. It tells how
// many of the tree's pages are damaged: what lies below them isn't reached.
func (f *pageFile) walk(root uint32, table bool, seen pages, each func(cell) (fits bool)) (damaged int) {
	own := f.none()
	var visit func(no uint32, depth int)
	visit = func(no uint32, depth int) {
		if no == 0 || no > f.count || depth > 20 || own.has(no) {
			damaged++
			return
		}
		own.add(no)
		n, unread := f.node(no, each != nil)
		if unread != nil || table != (n.kind == tableInner || n.kind == tableLeaf) {
			damaged++ // and it may be another's, so it isn't seen
			return
		}
		for _, child := range n.children {
			visit(child, depth+1)
		}
		foreign := false
		if each != nil {
			for _, c := range n.cells {
				foreign = !each(c) || foreign
			}
		}
		if !foreign {
			seen.add(no)
		}
		if n.damaged || foreign {
			damaged++
		}
	}
	visit(root, 0)
	return damaged
}

// free adds the pages of the list of free pages to seen, as far as it can be read.
func (f *pageFile) free(seen pages) {
	p, err := f.page(1)
	if err != nil {
		return
	}
	for trunk, own := binary.BigEndian.Uint32(p[32:]), f.none(); trunk != 0 && trunk <= f.count && !own.has(trunk); {
		own.add(trunk)
		p, err := f.page(trunk)
		if err != nil || int(binary.BigEndian.Uint32(p[4:])) > len(p)/4-2 {
			return
		}
		seen.add(trunk)
		for i := range int(binary.BigEndian.Uint32(p[4:])) {
			if no := binary.BigEndian.Uint32(p[8+4*i:]); no <= f.count {
				seen.add(no)
			}
		}
		trunk = binary.BigEndian.Uint32(p)
	}
}

// version is the database's, 0 if that can't be read.
func (f *pageFile) version() int {
	if p, err := f.page(1); err == nil && string(p[:16]) == "SQLite format 3\x00" {
		return int(binary.BigEndian.Uint32(p[60:]))
	}
	return 0
}
