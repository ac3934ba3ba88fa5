// Package static embeds with a static model in the form of model2vec: a table has a vector for each piece of a word,
// and a text's vector is the mean of its pieces'. It needs no server, and reads nothing but its directory.
// https://github.com/MinishLab/model2vec
package static

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"hark/memory"
)

// The files of a model.
const (
	tableFile     = "model.safetensors"
	tokenizerFile = "tokenizer.json"
)

const (
	maxPieces     = 512      // of a text, as the model's makers count; what comes after isn't embedded
	maxText       = 16 << 10 // bytes of a text that are read for them
	maxTokenizer  = 64 << 20 // bytes of tokenizer.json
	maxDimensions = 4096
)

// Model is a static embedding model. It may be used by several goroutines.
type Model struct {
	tokens *tokenizer
	table  *table
	space  memory.Space
}

// Open reads the model in a directory: tokenizer.json and model.safetensors. The table stays in its file, which is
// mapped into memory and mustn't be written to meanwhile.
func Open(dir string) (*Model, error) {
	m, err := open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is no embedding model: it needs the files %s and %s in the form of model2vec (%w)",
			dir, tokenizerFile, tableFile, err)
	case err != nil:
		return nil, fmt.Errorf("embedding model %s: %w", dir, err)
	}
	return m, nil
}

func open(dir string) (*Model, error) {
	for _, name := range []string{tokenizerFile, tableFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return nil, err
		} else if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no regular file", name)
		}
	}
	file, err := os.Open(filepath.Join(dir, tokenizerFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var body bytes.Buffer
	if n, err := io.Copy(&body, io.LimitReader(file, maxTokenizer+1)); err != nil || n > maxTokenizer {
		return nil, fmt.Errorf("%s can't be read, or is larger than %d MiB (%v)", tokenizerFile, maxTokenizer>>20, err)
	}
	t, err := newTable(filepath.Join(dir, tableFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tableFile, err)
	}
	tokens, err := newTokenizer(body.Bytes(), t.tokens())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerFile, err)
	}
	// Vectors made by other files lie elsewhere, even under the same name.
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, _ = sum.Write(body.Bytes()) // it never fails
	if _, err := io.Copy(sum, io.NewSectionReader(t.file, 0, int64(t.file.Len()))); err != nil {
		return nil, err
	}
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(abs)
	}
	space := memory.Space{
		Name:       "static " + name,
		Version:    int(sum.Sum32() >> 1),
		Dimensions: t.dimensions,
	}
	return &Model{tokens, t, space}, nil
}

// Space implements memory.Embedder. Its name is the directory's, its version a checksum of the files.
func (m *Model) Space() memory.Space { return m.space }

// Embed implements memory.Embedder. It fails when ctx is done, or if the table has a number that isn't finite.
func (m *Model) Embed(ctx context.Context, _ memory.Purpose, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		err := ctx.Err()
		if err == nil {
			vectors[i], err = m.embed(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// embed returns a text's vector; nil if no piece of it is known.
func (m *Model) embed(text string) ([]float32, error) {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	pieces := m.tokens.encode(text)
	if len(pieces) > maxPieces {
		pieces = pieces[:maxPieces]
	}
	sums := make([]float64, m.table.dimensions)
	for _, piece := range pieces {
		if err := m.table.add(sums, piece); err != nil {
			return nil, err
		}
	}
	length := 0.0
	for _, x := range sums {
		length += x * x
	}
	if length == 0 {
		return nil, nil
	}
	if math.IsInf(length, 0) || math.IsNaN(length) {
		return nil, fmt.Errorf("embedding model %q has a row with a number that isn't finite", m.space.Name)
	}
	vector := make([]float32, len(sums)) // the mean has the same direction as the sum
	for i, x := range sums {
		vector[i] = float32(x / math.Sqrt(length))
	}
	return vector, nil
}

var _ memory.Embedder = (*Model)(nil)
