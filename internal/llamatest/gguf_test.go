package llamatest

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
)

// reader reads a file in the form GGUF, as far as this package writes it.
type reader struct {
	*testing.T
	data []byte
	at   int
}

// parsed is what was read.
type parsed struct {
	facts   map[string]any
	tensors map[string]tensor
}

func (r *reader) bytes(n int) []byte {
	r.Helper()
	if r.at+n > len(r.data) {
		r.Fatalf("the file ends at %d, and %d bytes more are needed at %d", len(r.data), n, r.at)
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }

func (r *reader) uint64() int { return int(binary.LittleEndian.Uint64(r.bytes(8))) }

func (r *reader) string() string { return string(r.bytes(r.uint64())) }

// read reads numbers of one type.
func read[T int32 | uint32 | float32](r *reader, n int) []T {
	list := make([]T, n)
	err := binary.Read(bytes.NewReader(r.bytes(4*n)), binary.LittleEndian, list)
	if err != nil {
		r.Fatal(err)
	}
	return list
}

func (r *reader) value(kind uint32) any {
	switch kind {
	case typeUint32:
		return int(r.uint32())
	case typeFloat32:
		return read[float32](r, 1)[0]
	case typeBool:
		return r.bytes(1)[0] == 1
	case typeString:
		return r.string()
	case typeArray:
		return r.list(r.uint32(), r.uint64())
	}
	r.Fatalf("%d is no type", kind)
	return nil
}

func (r *reader) list(kind uint32, n int) any {
	switch kind {
	case typeInt32:
		return read[int32](r, n)
	case typeFloat32:
		return read[float32](r, n)
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.string()
	}
	return list
}

// parse reads a whole file.
func parse(t *testing.T, path string) parsed {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{T: t, data: data}
	if string(r.bytes(4)) != "GGUF" || r.uint32() != 3 {
		t.Fatal("it is no file of version 3")
	}
	tensors := r.uint64()
	facts := r.uint64()
	p := parsed{facts: map[string]any{}, tensors: map[string]tensor{}}
	for range facts {
		key := r.string()
		p.facts[key] = r.value(r.uint32())
	}
	var list []tensor
	var offsets []int
	for range tensors {
		list = append(list, r.shape())
		offsets = append(offsets, r.uint64())
	}
	begin := aligned(r.at)
	for i, at := range list {
		if offsets[i]%alignment != 0 {
			t.Errorf("the weights of %s begin at %d", at.name, offsets[i])
		}
		r.at = begin + offsets[i]
		at.weights = read[float32](r, at.columns*at.rows)
		p.tensors[at.name] = at
	}
	if aligned(r.at) != len(data) {
		t.Errorf("%d bytes follow the last weight", len(data)-r.at)
	}
	return p
}

// shape reads what is said of a tensor before its offset.
func (r *reader) shape() tensor {
	s := tensor{name: r.string(), rows: 1}
	dimensions := r.uint32()
	s.columns = r.uint64()
	if dimensions == 2 {
		s.rows = r.uint64()
	}
	if kind := r.uint32(); kind != 0 {
		r.Errorf("the weights of %s are of the type %d", s.name, kind)
	}
	return s
}

func TestFactsAndWeightsAreWritten(t *testing.T) {
	t.Parallel()
	g := &gguf{}
	g.number("n", 7)
	g.float("f", 0.5)
	g.boolean("b", true)
	g.string("s", "Grüße")
	g.strings("ss", []string{"", "a"})
	g.integers("is", []int32{-1, 2})
	g.floats("fs", []float32{1.5})
	g.tensor("matrix", 3, 2).row(1)[2] = 4
	g.tensor("vector", 5, 1).fill(2)
	p := parse(t, write(t, g))
	if p.facts["n"] != 7 || p.facts["f"] != float32(0.5) || p.facts["b"] != true || p.facts["s"] != "Grüße" {
		t.Errorf("facts %v", p.facts)
	}
	if got := p.facts["ss"].([]string); len(got) != 2 || got[1] != "a" {
		t.Errorf("strings %v", got)
	}
	if got := p.facts["is"].([]int32); len(got) != 2 || got[0] != -1 {
		t.Errorf("integers %v", got)
	}
	if got := p.facts["fs"].([]float32); len(got) != 1 || got[0] != 1.5 {
		t.Errorf("floats %v", got)
	}
	matrix := p.tensors["matrix"]
	if matrix.columns != 3 || matrix.rows != 2 || matrix.weights[5] != 4 || matrix.weights[4] != 0 {
		t.Errorf("matrix %+v", matrix)
	}
	vector := p.tensors["vector"]
	if vector.columns != 5 || vector.rows != 1 || vector.weights[4] != 2 {
		t.Errorf("vector %+v", vector)
	}
}
