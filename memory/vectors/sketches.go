package vectors

import (
	"cmp"
	"encoding/binary"
	"slices"
)

const (
	// shortlisted is the least number of rows ranked, shortlistedEach the number for each one wanted.
	shortlisted, shortlistedEach = 400, 8
	// longlist is how many times as many some bits of one rotation preselect. All bits then choose the
	// shortlist.
	longlist = 25
)

// sketches holds only the sketches of vectors, which choose those that are then read and ranked.
type sketches struct {
	of       [rotations][]uint64 // by slot, one after the other
	words    int                 // of a sketch, per rotation
	sketcher *sketcher
}

func newSketches(dimensions int) *sketches {
	k := newSketcher(dimensions)
	return &sketches{words: k.width / 64, sketcher: k}
}

func (s *sketches) reserve(n int) {
	for turn := range s.of {
		s.of[turn] = make([]uint64, 0, n*s.words)
	}
}

func (s *sketches) bytes(rows int) int64 { return int64(rows) * int64(8*rotations*s.words) }

func (s *sketches) put(slot, _ uint32, r Row) error {
	for turn := range s.of {
		n := (int(slot) + 1) * s.words
		s.of[turn] = slices.Grow(s.of[turn], max(0, n-len(s.of[turn])))[:max(n, len(s.of[turn]))]
	}
	if err := checkSketch(r.Sketch, s.sketcher.width); err != nil {
		return err
	}
	for turn := range s.of {
		sketch := s.at(turn, slot)
		for w := range sketch {
			sketch[w] = binary.LittleEndian.Uint64(r.Sketch[8*(turn*s.words+w):])
		}
	}
	return nil
}

func (s *sketches) remove(slot, _ uint32) {
	for turn := range s.of {
		clear(s.at(turn, slot))
	}
}

func (s *sketches) wipe() {
	for turn := range s.of {
		clear(s.of[turn])
		s.of[turn] = nil
	}
}

func (s *sketches) at(turn int, slot uint32) []uint64 {
	return s.of[turn][int(slot)*s.words : (int(slot)+1)*s.words]
}

// shortlist returns those of slots whose rows may be among the limit nearest to vector.
func (s *sketches) shortlist(t *table, slots []uint32, vector []float32, limit int) []uint32 {
	n := max(shortlisted, min(limit, len(slots))*shortlistedEach)
	if len(slots) <= n {
		return slots
	}
	var question [rotations][]uint64
	var weight [rotations][weightBits][]uint64
	for turn := range rotations {
		turned := s.sketcher.rotate(vector, turn, nil)
		question[turn] = signs(turned)
		weight[turn] = weights(turned)
	}
	distances := make([]int32, len(slots))
	if len(slots) > longlist*n {
		mask := heavyBits(&weight[0])
		for i, slot := range slots {
			distances[i] = int32(hammingDistance(question[0], s.at(0, slot), mask))
		}
		slots = s.smallest(t, slots, distances, longlist*n)
	}
	distances = distances[:len(slots)]
	for i, slot := range slots {
		distances[i] = 0
		for turn := range rotations {
			distances[i] += int32(weightedDistance(question[turn], s.at(turn, slot), &weight[turn]))
		}
	}
	return s.smallest(t, slots, distances, n)
}

// smallest returns the n of slots with the smallest distances. Of equals, those with the highest numbers are chosen.
func (s *sketches) smallest(t *table, slots []uint32, distances []int32, n int) []uint32 {
	counts := make([]int32, rotations*64*s.words<<weightBits)
	for _, d := range distances {
		counts[d]++
	}
	border := int32(0)
	within := 0 // the number nearer than border
	for within+int(counts[border]) < n {
		within += int(counts[border])
		border++
	}
	chosen := make([]uint32, 0, n)
	var equal []uint32
	for i, d := range distances {
		if d < border {
			chosen = append(chosen, slots[i])
		} else if d == border {
			equal = append(equal, slots[i])
		}
	}
	slices.SortFunc(equal, func(a, b uint32) int { return cmp.Compare(t.ids[b], t.ids[a]) })
	return append(chosen, equal[:n-within]...)
}
