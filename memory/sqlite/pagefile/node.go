package pagefile

import "encoding/binary"

// Kinds of B-tree pages.
const (
	indexInner, TableInner = 2, 5
	indexLeaf, TableLeaf   = 10, 13
)

// Node is a B-tree page.
type Node struct {
	Kind     byte
	children []uint32
	Cells    []Cell
	damaged  bool // part of it is unreadable
}

// Cell is an entry of a table or an index.
type Cell struct {
	Row    int64 // of a table
	Values []any // int64, float64, []byte, or nil
}

// Node reads a B-tree page, and a leaf's cells if wanted.
func (f *File) Node(no uint32, wanted bool) (n Node, err error) {
	p, err := f.page(no)
	if err != nil {
		return n, err
	}
	at := 0
	if no == 1 {
		at = 100
	}
	n.Kind = p[at]
	head := at + 8
	switch n.Kind {
	case TableInner, indexInner:
		head = at + 12
	case TableLeaf, indexLeaf:
		if !wanted {
			return n, nil
		}
	default:
		return n, ErrDamaged
	}
	count, start := int(binary.BigEndian.Uint16(p[at+3:])), int(binary.BigEndian.Uint16(p[at+5:]))
	if head+2*count > len(p) {
		return n, ErrDamaged
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
	n.damaged = n.damaged || taken != len(p) // gaps mean that a cell is missing
	return n, nil
}

// freeBytes sums a page's free blocks.
func freeBytes(p []byte, at int) (n int, err error) {
	for last := 0; at != 0; {
		if at <= last || at+4 > len(p) {
			return n, ErrDamaged
		}
		last = at
		n += int(binary.BigEndian.Uint16(p[at+2:]))
		at = int(binary.BigEndian.Uint16(p[at:]))
	}
	return n, nil
}

// cell reads the cell at offset at into n and returns its size in the page.
func (f *File) cell(n *Node, p []byte, at int) (size int, err error) {
	b := p[at:]
	used := 0
	if n.Kind == TableInner || n.Kind == indexInner {
		n.children = append(n.children, binary.BigEndian.Uint32(b))
		used = 4
	}
	if n.Kind == TableInner {
		_, k := varint(b[used:])
		return used + k, nil
	}
	length, k := varint(b[used:])
	used += k
	var c Cell
	if n.Kind == TableLeaf {
		row, k := varint(b[used:])
		c.Row = int64(row)
		used += k
	}
	if length > uint64(f.Count)*Size || used > len(b) {
		return max(4, used), ErrDamaged
	}
	payload, local, err := f.payload(b[used:], int(length), n.Kind == TableLeaf)
	size = max(4, used+local)
	if err != nil {
		return size, err
	}
	if c.Values, err = record(payload); err == nil {
		n.Cells = append(n.Cells, c)
	}
	return size, err
}

// payload returns a cell's payload with its overflow pages, and how many of its bytes are in the page.
func (f *File) payload(b []byte, length int, table bool) (payload []byte, local int, err error) {
	most, least := (Size-12)*64/255-23, (Size-12)*32/255-23
	if table {
		most = Size - 35
	}
	if length <= most {
		if length > len(b) {
			return nil, 0, ErrDamaged
		}
		return b[:length], length, nil
	}
	local = least
	if k := least + (length-least)%(Size-4); k <= most {
		local = k
	}
	if local+4 > len(b) {
		return nil, 0, ErrDamaged
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

func record(b []byte) (values []any, err error) {
	head, k := varint(b)
	if k == 0 || head > uint64(len(b)) || head < uint64(k) {
		return nil, ErrDamaged
	}
	types, b := b[k:head], b[head:]
	for len(types) > 0 {
		kind, k := varint(types)
		if k == 0 {
			return nil, ErrDamaged
		}
		types = types[k:]
		v, size, err := value(kind, b)
		if err != nil {
			return nil, err
		}
		values, b = append(values, v), b[size:]
	}
	if len(b) > 0 {
		return nil, ErrDamaged
	}
	return values, nil
}

// numberSizes are the sizes of integers in bytes, by serial type.
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
		return nil, 0, ErrDamaged
	}
	if size > len(b) {
		return nil, 0, ErrDamaged
	}
	if kind == 7 || kind >= 12 {
		return b[:size], size, nil // Hark has no REAL columns
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:size] {
		n = n<<8 | int64(c)
	}
	return n, size, nil
}

// varint reads an integer of one to nine bytes; size is 0 if there is none.
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
