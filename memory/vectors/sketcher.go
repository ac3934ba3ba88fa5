package vectors

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// rotations is how many random rotations of a vector its sketch holds.
const rotations = 3

// weightBits is the number of bits of a query component's weight.
const weightBits = 3

// sketcher makes sketches of vectors: the sign bit of each component after a fixed random rotation. Few
// components of a hashed vector carry most of its meaning; rotation spreads it over all, so signs alone show
// how near two vectors are.
type sketcher struct {
	width int                 // of a padded vector, a power of two
	flips [rotations][]uint32 // the sign bit where the sign is flipped, else 0
}

// newWidth returns the width of padded vectors.
func newWidth(dimensions int) int {
	width := 64 // at least a word
	for width < dimensions {
		width *= 2
	}
	return width
}

// checkSketch returns why bytes aren't a sketch of a vector that is padded to width.
func checkSketch(sketch []byte, width int) error {
	if n := rotations * width / 8; len(sketch) != n {
		return fmt.Errorf("a sketch takes %d bytes and not %d", len(sketch), n)
	}
	return nil
}

func newSketcher(dimensions int) *sketcher {
	k := &sketcher{width: newWidth(dimensions)}
	random := rand.New(rand.NewPCG(1, uint64(dimensions)))
	for i := range k.flips {
		k.flips[i] = make([]uint32, dimensions)
		for n := range k.flips[i] {
			k.flips[i][n] = uint32(random.IntN(2)) << 31
		}
	}
	return k
}

func (k *sketcher) dimensions() int { return len(k.flips[0]) }

// rotate returns v in one of the rotations. It overwrites scratch if that is large enough.
func (k *sketcher) rotate(v []float32, turn int, scratch []float32) []float32 {
	if cap(scratch) < k.width {
		scratch = make([]float32, k.width)
	}
	turned := scratch[:k.width]
	flips := k.flips[turn]
	for i, x := range v[:len(flips)] {
		turned[i] = math.Float32frombits(math.Float32bits(x) ^ flips[i])
	}
	clear(turned[len(flips):])
	hadamard(turned)
	return turned
}

// hadamard computes the unscaled Walsh–Hadamard transform of v in place. len(v) must be a power of two.
func hadamard(v []float32) {
	for i := 0; i+4 <= len(v); i += 4 { // the first two rounds at once
		q := v[i : i+4 : i+4]
		a := q[0] + q[1]
		b := q[0] - q[1]
		c := q[2] + q[3]
		d := q[2] - q[3]
		q[0] = a + c
		q[1] = b + d
		q[2] = a - c
		q[3] = b - d
	}
	for half := 4; half < len(v); half *= 2 {
		for from := 0; from < len(v); from += 2 * half {
			a := v[from : from+half]
			b := v[from+half : from+2*half]
			for i, x := range a {
				y := b[i]
				a[i] = x + y
				b[i] = x - y
			}
		}
	}
}

// sketch returns a quantised vector's sketch as it is stored, one rotation after the other.
func (k *sketcher) sketch(steps []byte) []byte {
	v := make([]float32, len(steps))
	for i, b := range steps {
		v[i] = float32(int8(b))
	}
	sketch := make([]byte, 0, rotations*k.width/8)
	var turned []float32
	for turn := range rotations {
		turned = k.rotate(v, turn, turned)
		for _, word := range signs(turned) {
			sketch = binary.LittleEndian.AppendUint64(sketch, word)
		}
	}
	return sketch
}

func signs(turned []float32) []uint64 {
	words := make([]uint64, len(turned)/64)
	for i, x := range turned {
		words[i/64] |= uint64(math.Float32bits(x)>>31) << (i % 64)
	}
	return words
}

// weights returns the weight of each component of a rotated query, 0 to 7 with mean 3, as bit planes from the
// lowest.
func weights(turned []float32) [weightBits][]uint64 {
	sum := float32(0)
	for _, x := range turned {
		sum += max(x, -x)
	}
	scale := 3 * float32(len(turned)) / sum
	var bit [weightBits][]uint64
	for p := range bit {
		bit[p] = make([]uint64, len(turned)/64)
	}
	for i, x := range turned {
		weight := uint64(min(1<<weightBits-1, max(x, -x)*scale+0.5))
		for p := range bit {
			bit[p][i/64] |= weight >> p & 1 << (i % 64)
		}
	}
	return bit
}

// heavyBits masks the bits with a weight of at least 2, which tell more than all bits with equal weight.
func heavyBits(weights *[weightBits][]uint64) []uint64 {
	mask := slices.Clone(weights[1])
	for i, x := range weights[2] {
		mask[i] |= x
	}
	return mask
}

// hammingDistance counts the bits of mask that differ in two sketches.
func hammingDistance(a, b, mask []uint64) int {
	n := 0
	for ; len(a) >= 8; a, b, mask = a[8:], b[8:], mask[8:] {
		x := (*[8]uint64)(a)
		y := (*[8]uint64)(b)
		m := (*[8]uint64)(mask)
		n += bits.OnesCount64((x[0]^y[0])&m[0]) + bits.OnesCount64((x[1]^y[1])&m[1]) +
			bits.OnesCount64((x[2]^y[2])&m[2]) + bits.OnesCount64((x[3]^y[3])&m[3]) +
			bits.OnesCount64((x[4]^y[4])&m[4]) + bits.OnesCount64((x[5]^y[5])&m[5]) +
			bits.OnesCount64((x[6]^y[6])&m[6]) + bits.OnesCount64((x[7]^y[7])&m[7])
	}
	for i, x := range a {
		n += bits.OnesCount64((x ^ b[i]) & mask[i])
	}
	return n
}

// weightedDistance sums the weights of the bits that differ in two sketches.
func weightedDistance(a, b []uint64, weights *[weightBits][]uint64) int {
	n := 0
	b = b[:len(a)]
	w0 := weights[0][:len(a)]
	w1 := weights[1][:len(a)]
	w2 := weights[2][:len(a)]
	for i, x := range a {
		x ^= b[i]
		n += bits.OnesCount64(x&w0[i]) + bits.OnesCount64(x&w1[i])<<1 + bits.OnesCount64(x&w2[i])<<2
	}
	return n
}
