package vectors

// arena holds vectors in few large blocks. A vector that isn't in use is zero.
type arena struct {
	dimensions int
	blocks     [][]float32
	vectors    [][]float32 // by slot, parts of blocks
	room       []float32   // not yet divided
}

const (
	leastBlock = 16 // vectors
	mostBlock  = 256
)

// at returns the vector of a slot. Slots come one after the other.
func (a *arena) at(slot uint32) []float32 {
	if int(slot) == len(a.vectors) {
		if len(a.room) == 0 {
			a.grow(min(max(leastBlock, len(a.vectors)/8), mostBlock))
		}
		vector := a.room[:a.dimensions:a.dimensions]
		a.room = a.room[a.dimensions:]
		a.vectors = append(a.vectors, vector)
	}
	return a.vectors[slot]
}

// grow adds a block for n vectors.
func (a *arena) grow(n int) {
	a.room = make([]float32, n*a.dimensions)
	a.blocks = append(a.blocks, a.room)
}

// wipe makes all zero, and empties the arena.
func (a *arena) wipe() {
	for _, block := range a.blocks {
		clear(block)
	}
	a.blocks = nil
	a.vectors = nil
	a.room = nil
}
