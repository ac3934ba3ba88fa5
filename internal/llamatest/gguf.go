package llamatest

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// gguf is a file in llama.cpp's form, version 3: facts about a model, and its weights as 32-bit floats. Everything is
// in little-endian order.
type gguf struct {
	facts   bytes.Buffer
	count   uint64
	tensors []tensor
}

// tensor is a matrix of weights. Its columns lie beside each other; a vector has one row.
type tensor struct {
	name    string
	columns int
	rows    int
	weights []float32
}

// The types of facts.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
)

const alignment = 32 // of each tensor's weights, in bytes

// put writes numbers in their own size.
func put(to *bytes.Buffer, numbers ...any) {
	for _, n := range numbers {
		_ = binary.Write(to, binary.LittleEndian, n) // a Buffer takes everything
	}
}

func putString(to *bytes.Buffer, s string) {
	put(to, uint64(len(s)))
	to.WriteString(s)
}

func (g *gguf) begin(key string, kind uint32) {
	g.count++
	putString(&g.facts, key)
	put(&g.facts, kind)
}

func (g *gguf) number(key string, n int) {
	g.begin(key, typeUint32)
	put(&g.facts, uint32(n))
}

func (g *gguf) float(key string, f float32) {
	g.begin(key, typeFloat32)
	put(&g.facts, f)
}

func (g *gguf) boolean(key string, b bool) {
	g.begin(key, typeBool)
	put(&g.facts, b)
}

func (g *gguf) string(key, s string) {
	g.begin(key, typeString)
	putString(&g.facts, s)
}

func (g *gguf) strings(key string, list []string) {
	g.begin(key, typeArray)
	put(&g.facts, uint32(typeString), uint64(len(list)))
	for _, s := range list {
		putString(&g.facts, s)
	}
}

func (g *gguf) integers(key string, list []int32) {
	g.begin(key, typeArray)
	put(&g.facts, uint32(typeInt32), uint64(len(list)), list)
}

func (g *gguf) floats(key string, list []float32) {
	g.begin(key, typeArray)
	put(&g.facts, uint32(typeFloat32), uint64(len(list)), list)
}

// tensor adds a matrix of zeros, and returns it to be filled.
func (g *gguf) tensor(name string, columns, rows int) tensor {
	t := tensor{name: name, columns: columns, rows: rows, weights: make([]float32, columns*rows)}
	g.tensors = append(g.tensors, t)
	return t
}

// row returns a row to be filled.
func (t tensor) row(i int) []float32 { return t.weights[i*t.columns : (i+1)*t.columns] }

// fill sets all weights.
func (t tensor) fill(f float32) {
	for i := range t.weights {
		t.weights[i] = f
	}
}

// file returns the whole file.
func (g *gguf) file() []byte {
	var to bytes.Buffer
	to.WriteString("GGUF")
	put(&to, uint32(3), uint64(len(g.tensors)), g.count)
	to.Write(g.facts.Bytes())
	offset := 0
	for _, t := range g.tensors {
		g.describe(&to, t, offset)
		offset = aligned(offset + 4*len(t.weights))
	}
	pad(&to)
	for _, t := range g.tensors {
		for _, w := range t.weights {
			to.Write(binary.LittleEndian.AppendUint32(to.AvailableBuffer(), math.Float32bits(w)))
		}
		pad(&to)
	}
	return to.Bytes()
}

func (g *gguf) describe(to *bytes.Buffer, t tensor, offset int) {
	const float32s = uint32(0)
	putString(to, t.name)
	if t.rows == 1 {
		put(to, uint32(1), uint64(t.columns))
	} else {
		put(to, uint32(2), uint64(t.columns), uint64(t.rows))
	}
	put(to, float32s, uint64(offset))
}

// aligned returns the next offset at which weights may begin.
func aligned(offset int) int { return (offset + alignment - 1) / alignment * alignment }

func pad(to *bytes.Buffer) { to.Write(make([]byte, aligned(to.Len())-to.Len())) }

// write writes a file of its own and returns its path.
func write(tb testing.TB, g *gguf) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "model.gguf")
	err := os.WriteFile(path, g.file(), 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
