package pagefile

import "encoding/binary"

// Checksum is the running checksum of a write-ahead log.
type Checksum struct {
	order  binary.ByteOrder
	S0, S1 uint32
}

// HeaderChecksum returns the checksum of a log header, from which the frames' checksums continue.
func HeaderChecksum(head []byte) Checksum {
	sums := Checksum{order: binary.LittleEndian}
	if head[3]&1 == 1 {
		sums.order = binary.BigEndian
	}
	sums.Add(head[:24])
	return sums
}

func (s *Checksum) Add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		s.S0 += s.order.Uint32(b) + s.S1
		s.S1 += s.order.Uint32(b[4:]) + s.S0
	}
}

func (s *Checksum) Matches(b []byte) bool {
	return binary.BigEndian.Uint32(b) == s.S0 && binary.BigEndian.Uint32(b[4:]) == s.S1
}
