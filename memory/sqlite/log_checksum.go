package sqlite

import "encoding/binary"

// logChecksum is the running checksum of a write-ahead log.
type logChecksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

// headerChecksum returns the checksum of a log header, from which the frames' checksums continue.
func headerChecksum(head []byte) logChecksum {
	sums := logChecksum{order: binary.LittleEndian}
	if head[3]&1 == 1 {
		sums.order = binary.BigEndian
	}
	sums.add(head[:24])
	return sums
}

func (s *logChecksum) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.s0 += s.order.Uint32(b) + s.s1
		s.s1 += s.order.Uint32(b[4:]) + s.s0
	}
}

func (s *logChecksum) matches(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.s0 && binary.BigEndian.Uint32(b[4:]) == s.s1
}
