package sqlite

import (
	"iter"
	"math/bits"
)

// pageSet is a set of pages of the file, by number.
type pageSet []uint64

func (s *pageSet) add(no uint32) {
	*s = append(*s, make(pageSet, max(0, int(no/64)+1-len(*s)))...)
	(*s)[no/64] |= 1 << (no % 64)
}

func (s pageSet) has(no uint32) bool { return s[no/64]&(1<<(no%64)) != 0 }

func (s pageSet) remove(no uint32) {
	if int(no/64) < len(s) {
		s[no/64] &^= 1 << (no % 64)
	}
}

// from yields the pages in order, from first to the end and then from the start. The loop may remove the current
// page.
func (s pageSet) from(first uint32) iter.Seq[uint32] {
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

func (s pageSet) count() (n int) {
	for _, some := range s {
		n += bits.OnesCount64(some)
	}
	return n
}
