package vectors

import (
	"fmt"
	"math"
	"math/bits"
)

// Encoder writes vectors as they are stored. It isn't safe for concurrent use.
type Encoder struct{ sketcher *sketcher }

// Encode returns a vector in 8 bits a number, and its sketch. Only a vector's direction counts.
func (e *Encoder) Encode(vector []float32) (steps, sketch []byte) {
	if e.sketcher == nil || e.sketcher.dimensions() != len(vector) {
		e.sketcher = newSketcher(len(vector))
	}
	plain := quantise(vector)
	return pack(plain), e.sketcher.sketch(plain)
}

// Check returns why stored values aren't those of a vector.
func Check(steps, sketch []byte, dimensions int) error {
	if _, err := unpack(steps, make([]float32, dimensions)); err != nil {
		return err
	}
	return checkSketch(sketch, newWidth(dimensions))
}

// quantise scales v to int8, its largest component to ±127.
func quantise(v []float32) []byte {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	steps := make([]byte, len(v))
	scale := 127 / largest
	for i, x := range v {
		steps[i] = byte(int8(math.RoundToEven(float64(x) * scale)))
	}
	return steps
}

// pack shortens a quantised vector. Half of a hashed vector's components are 0: a bitmap marks the others, which
// follow.
func pack(steps []byte) []byte {
	packed := make([]byte, (len(steps)+7)/8, len(steps))
	for i, b := range steps {
		if b == 0 {
			continue
		}
		if len(packed)+1 >= len(steps) { // typical for an endpoint's vectors
			return steps
		}
		packed[i/8] |= 1 << (i % 8)
		packed = append(packed, b)
	}
	return packed
}

// unpack writes a packed vector's components to v, which must be zero, and returns the sum of their squares.
func unpack(packed []byte, v []float32) (square int, err error) {
	if len(packed) == len(v) {
		for i, b := range packed {
			x := int(int8(b))
			v[i] = float32(x)
			square += x * x
		}
		return square, nil
	}
	first := (len(v) + 7) / 8
	next := first
	for i, marks := range packed[:min(first, len(packed))] {
		for marks != 0 {
			at := 8*i + bits.TrailingZeros8(marks)
			if next >= len(packed) || at >= len(v) {
				return 0, wrongSize(packed, v)
			}
			x := int(int8(packed[next]))
			v[at] = float32(x)
			square += x * x
			next++
			marks &= marks - 1
		}
	}
	if next != len(packed) {
		return 0, wrongSize(packed, v)
	}
	return square, nil
}

func wrongSize(packed []byte, v []float32) error {
	return fmt.Errorf("a vector of %d dimensions takes %d bytes: some are missing or too many", len(v), len(packed))
}

// unpackUnit is unpack with length 1. chromem-go copies vectors of other lengths, so the length is computed in float64.
func unpackUnit(packed []byte, v []float32) error {
	square, err := unpack(packed, v)
	if err != nil {
		return err
	}
	if square == 0 {
		return fmt.Errorf("a vector of %d dimensions is zero", len(v))
	}
	scale := 1 / math.Sqrt(float64(square))
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return nil
}

// unit returns v with length 1.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	scale := 1 / math.Sqrt(square)
	to := make([]float32, len(v))
	for i, x := range v {
		to[i] = float32(float64(x) * scale)
	}
	return to
}
