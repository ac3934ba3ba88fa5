package sqlite

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"hark/memory"
	"hark/memory/sqlstore"
)

// storedVector is the part of a vector that is held in memory.
type storedVector struct {
	segment, channel int64
	first, last      memory.MessageID // the segment's messages lie between them
	sketch           []byte
}

// PutVector implements sqlstore.Tx.
func (t *tx) PutVector(v sqlstore.Vector, shadow bool) error {
	steps := quantise(v.Values)
	s := storedVector{v.Segment, v.Channel, v.First, v.Last, t.engine.writer.sketcherOf(len(steps)).sketch(steps)}
	table := "vector"
	if shadow {
		table = "vector_next"
	} else {
		t.put = append(t.put, s)
	}
	sketch, packed := s.sketch, pack(steps)
	if v.Key != nil {
		sketch = v.Key.Seal(sketch, sqlstore.VectorPlace("sketch", v.Segment))
		packed = v.Key.Seal(packed, sqlstore.VectorPlace("steps", v.Segment))
	}
	return t.exec("INSERT OR REPLACE INTO "+table+" (segment, sketch, steps) VALUES (?, ?, ?)", s.segment, sketch, packed)
}

// Vectors implements sqlstore.Engine. Their components are whole numbers.
func (e *engine) Vectors(ctx context.Context, q sqlstore.Querier, space memory.Space, shadow bool, after int64,
	limit int) (all []sqlstore.Vector, err error) {
	table := "vector"
	if shadow {
		table = "vector_next"
	}
	err = sqlstore.Each(ctx, q, func(scan sqlstore.Scanner) error {
		var v sqlstore.Vector
		var packed []byte
		err := scan(&v.Segment, &v.Channel, &v.First, &v.Last, &packed)
		v.Key = e.vault.KeyOf(packed)
		if err == nil {
			packed, err = e.vault.Open(packed, sqlstore.VectorPlace("steps", v.Segment))
		}
		if err == nil {
			v.Values, err = unpack(packed, space.Dimensions)
		}
		all = append(all, v)
		return err
	}, "SELECT v.segment, s.channel, s.first, s.last, v.steps FROM "+table+` v JOIN segment s ON s.id = v.segment
		WHERE v.segment > ? ORDER BY v.segment LIMIT ?`, after, limit)
	return all, err
}

// unpack is the inverse of pack.
func unpack(packed []byte, dimensions int) ([]float32, error) {
	v := make([]float32, dimensions)
	if len(packed) == dimensions {
		for i, b := range packed {
			v[i] = float32(int8(b))
		}
		return v, nil
	}
	n := (dimensions + 7) / 8
	for i := range v {
		if i/8 >= len(packed) || packed[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if n >= len(packed) {
			break
		}
		v[i] = float32(int8(packed[n]))
		n++
	}
	if n != len(packed) {
		return nil, fmt.Errorf("a vector of %d dimensions takes %d bytes: some are missing or too many", dimensions,
			len(packed))
	}
	return v, nil
}

// quantise scales v to int8, its largest component to ±127. Only a vector's direction counts.
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

// pack encodes a quantised vector for the file. Half of a hashed vector's components are 0: a bitmap marks the
// others, which follow.
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

// comparer returns a function for the cosine of the angle between v and a packed vector.
func comparer(v []float32) func(packed []byte) (float32, error) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	length := math.Sqrt(square)
	return func(packed []byte) (float32, error) {
		var product float32
		var square int
		if len(packed) == len(v) {
			for i, b := range packed {
				x := int(int8(b))
				product, square = product+v[i]*float32(x), square+x*x
			}
			return float32(float64(product) / (length * math.Sqrt(float64(square)))), nil
		}
		first := (len(v) + 7) / 8
		n := first
		for i, b := range packed[:min(first, len(packed))] {
			for ; b != 0 && n < len(packed) && 8*i+bits.TrailingZeros8(b) < len(v); n++ {
				x := int(int8(packed[n]))
				product, square = product+v[8*i+bits.TrailingZeros8(b)]*float32(x), square+x*x
				b &= b - 1
			}
			if b != 0 {
				n = -1
				break
			}
		}
		if n != len(packed) {
			return 0, fmt.Errorf("a vector of %d dimensions takes %d bytes: some are missing or too many",
				len(v), len(packed))
		}
		return float32(float64(product) / (length * math.Sqrt(float64(square)))), nil
	}
}
