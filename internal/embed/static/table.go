package static

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"golang.org/x/exp/mmap"
)

// table has the vectors of pieces, in a file of the form safetensors.
// https://github.com/huggingface/safetensors#format
type table struct {
	file       *mmap.ReaderAt
	rows       tensor
	dimensions int
	weights    []float64 // by piece; nil: each counts the same
	mapping    []int32   // from a piece to its row; nil: they have the same numbers
	buffers    sync.Pool // of []byte, for a row
}

// tensor is where numbers lie in the file.
type tensor struct {
	Type   string   `json:"dtype"`
	Shape  []int    `json:"shape"`
	Places [2]int64 `json:"data_offsets"` // from the end of the header
	size   int      // of a number, in bytes
}

const (
	maxHeader = 1 << 20 // bytes
	maxRows   = 1 << 24
	maxOther  = 1 << 20 // bytes behind the tensors that are read
)

var errCut = errors.New("it is cut off or no safetensors file; download it again")

func newTable(path string) (*table, error) {
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	t := &table{file: file}
	if err := t.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

func (t *table) read() error {
	var start [8]byte
	if _, err := t.file.ReadAt(start[:], 0); err != nil {
		return errCut
	}
	n := binary.LittleEndian.Uint64(start[:])
	if n > maxHeader {
		return errCut
	}
	header := make([]byte, n)
	if _, err := t.file.ReadAt(header, 8); err != nil {
		return errCut
	}
	var found struct {
		Rows    *tensor `json:"embeddings"`
		Weights *tensor `json:"weights"`
		Mapping *tensor `json:"mapping"`
	}
	if json.Unmarshal(header, &found) != nil {
		return errCut
	}
	end := int64(8 + n)
	for name, x := range map[string]*tensor{
		"embeddings": found.Rows, "weights": found.Weights, "mapping": found.Mapping,
	} {
		if x == nil {
			continue
		}
		if err := t.check(x, int64(8+n)); err != nil {
			return fmt.Errorf("its tensor %q: %w", name, err)
		}
		end = max(end, x.Places[1])
	}
	if found.Rows == nil {
		return errors.New("it has no tensor \"embeddings\": is it a model2vec model?")
	}
	if int64(t.file.Len())-end > maxOther {
		return errors.New("it holds much else than a table: is it a model2vec model?")
	}
	t.rows = *found.Rows
	if len(t.rows.Shape) != 2 || t.rows.Shape[1] > maxDimensions {
		return fmt.Errorf("its tensor \"embeddings\" is no table with up to %d columns: is it a model2vec model?",
			maxDimensions)
	}
	t.dimensions = t.rows.Shape[1]
	t.buffers.New = func() any { return new(make([]byte, t.rows.size*t.dimensions)) }
	var err error
	t.weights, err = t.numbers(found.Weights)
	if err != nil {
		return err
	}
	mapping, err := t.numbers(found.Mapping)
	for _, x := range mapping {
		if !(x >= 0) || int(x) >= t.rows.Shape[0] {
			return fmt.Errorf("it maps a piece to row %v of %d", x, t.rows.Shape[0])
		}
		t.mapping = append(t.mapping, int32(x))
	}
	return err
}

// check makes a tensor's places those in the file, if it is there and fits.
func (t *table) check(x *tensor, from int64) error {
	x.size = map[string]int{"F64": 8, "F32": 4, "F16": 2, "I64": 8, "I32": 4, "I8": 1}[x.Type]
	if x.size == 0 {
		return fmt.Errorf("its numbers are of the type %q, which Hark doesn't read", x.Type)
	}
	all := int64(x.size)
	for _, n := range x.Shape {
		if n <= 0 || n > maxRows {
			return errCut
		}
		all *= int64(n)
		if all > 1<<40 {
			return errCut
		}
	}
	if x.Places[0] < 0 || x.Places[1] > int64(t.file.Len())-from || x.Places[1]-x.Places[0] != all {
		return errCut
	}
	x.Places[0] += from
	x.Places[1] += from
	return nil
}

// numbers returns a tensor with one dimension; nil if it isn't there.
func (t *table) numbers(x *tensor) ([]float64, error) {
	if x == nil {
		return nil, nil
	}
	body := make([]byte, x.Places[1]-x.Places[0])
	if _, err := t.file.ReadAt(body, x.Places[0]); err != nil || len(x.Shape) != 1 {
		return nil, errCut
	}
	all := make([]float64, x.Shape[0])
	for i := range all {
		all[i] = x.number(body, i)
	}
	return all, nil
}

// number returns a number of what was read.
func (x tensor) number(body []byte, i int) float64 {
	switch x.Type {
	case "F32":
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])))
	case "F16":
		return half(binary.LittleEndian.Uint16(body[2*i:]))
	case "I8":
		return float64(int8(body[i]))
	case "I32":
		return float64(int32(binary.LittleEndian.Uint32(body[4*i:])))
	case "I64":
		return float64(int64(binary.LittleEndian.Uint64(body[8*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(body[8*i:]))
}

// half returns a number of 16 bits, as IEEE 754 has them.
func half(bits uint16) float64 {
	exponent := int(bits >> 10 & 31)
	fraction := float64(bits&1023) / 1024
	value := math.Ldexp(1+fraction, exponent-15)
	switch exponent {
	case 0:
		value = math.Ldexp(fraction, -14)
	case 31:
		value = math.Inf(1)
		if fraction != 0 {
			value = math.NaN()
		}
	}
	if bits>>15 == 1 {
		return -value
	}
	return value
}

// tokens returns how many pieces have a vector.
func (t *table) tokens() int {
	n := t.rows.Shape[0]
	if t.mapping != nil {
		n = len(t.mapping)
	}
	if t.weights != nil {
		n = min(n, len(t.weights))
	}
	return n
}

// add adds a piece's vector to sums, with its weight.
func (t *table) add(sums []float64, piece int32) error {
	row := piece
	weight := 1.0
	if t.mapping != nil {
		row = t.mapping[piece]
	}
	if t.weights != nil {
		weight = t.weights[piece]
	}
	buffer := t.buffers.Get().(*[]byte)
	defer t.buffers.Put(buffer)
	if _, err := t.file.ReadAt(*buffer, t.rows.Places[0]+int64(row)*int64(len(*buffer))); err != nil {
		return fmt.Errorf("read row %d of the embedding model: %w", row, err)
	}
	switch body := *buffer; t.rows.Type {
	case "F32":
		for i := range sums {
			sums[i] += weight * float64(math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])))
		}
	default:
		for i := range sums {
			sums[i] += weight * t.rows.number(body, i)
		}
	}
	return nil
}
