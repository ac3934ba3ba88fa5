package static

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hark/memory"
)

// object is a JSON object.
type object = map[string]any

// wordPieces are the pieces of a tokenizer that is like BERT's, by their numbers; "filler" makes it some hundred.
var wordPieces = func() []string {
	pieces := strings.Fields("[PAD] [UNK] hello world wor ##ld ##s cafe , ! 日 a ##b b ##ba")
	for i := range 300 {
		pieces = append(pieces, fmt.Sprintf("filler%d", i))
	}
	return pieces
}()

func bertTokenizer() object {
	ids := map[string]int{}
	for id, piece := range wordPieces {
		ids[piece] = id
	}
	return object{
		"normalizer": object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
			"strip_accents": nil, "lowercase": true},
		"pre_tokenizer": object{"type": "BertPreTokenizer"},
		"model": object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 10, "vocab": ids},
	}
}

// data is a tensor's type, shape and numbers.
type data struct {
	kind  string
	shape []int
	of    func(i int) float64
}

// row is a made-up table's number, which each type holds exactly.
func number(i int) float64 { return float64(i*37%251 - 125) }

func tensors(all map[string]data) []byte {
	header, body := object{}, []byte(nil)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d, from, n := all[name], len(body), 1
		for _, x := range d.shape {
			n *= x
		}
		for i := range n {
			switch x := d.of(i); d.kind {
			case "F64":
				body = binary.LittleEndian.AppendUint64(body, math.Float64bits(x))
			case "F32":
				body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(x)))
			case "F16":
				body = binary.LittleEndian.AppendUint16(body, halfOf(x))
			case "I32":
				body = binary.LittleEndian.AppendUint32(body, uint32(int32(x)))
			case "I8":
				body = append(body, byte(int8(x)))
			}
		}
		header[name] = object{"dtype": d.kind, "shape": d.shape, "data_offsets": []int{from, len(body)}}
	}
	text, _ := json.Marshal(header)
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, body)
}

// halfOf returns a whole number as IEEE 754's 16 bits.
func halfOf(x float64) uint16 {
	if x == 0 {
		return 0
	}
	fraction, exponent := math.Frexp(math.Abs(x))
	bits := uint16(exponent+14)<<10 | uint16((fraction*2-1)*1024)
	if x < 0 {
		bits |= 1 << 15
	}
	return bits
}

func written(t testing.TB, tokenizer any, table []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	text, isText := tokenizer.(string)
	if !isText {
		body, _ := json.Marshal(tokenizer)
		text = string(body)
	}
	for _, err := range []error{
		os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, tokenizerFile), []byte(text), 0o600),
		os.WriteFile(filepath.Join(dir, tableFile), table, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opened(t testing.TB, tokenizer any, table []byte) *Model {
	t.Helper()
	m, err := Open(written(t, tokenizer, table))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A text's vector is the mean of its pieces' rows with their weights, of length 1, whatever the table's numbers are.
func TestVectorsAreTheMeanOfThePieces(t *testing.T) {
	t.Parallel()
	const dimensions = 3
	n := len(wordPieces)
	weight := func(i int) float64 { return 1 + float64(i%4)/2 }
	turned := func(i int) float64 { return float64((i * 5) % 11) }
	plain := func(kind string) map[string]data {
		return map[string]data{"embeddings": {kind, []int{n, dimensions}, number}}
	}
	quantised := map[string]data{"embeddings": {"F32", []int{11, dimensions}, number},
		"weights": {"F64", []int{n}, weight}, "mapping": {"I32", []int{n}, turned}}
	for name, of := range map[string]map[string]data{
		"F32": plain("F32"), "F16": plain("F16"), "I8": plain("I8"), "quantised": quantised,
	} {
		m := opened(t, bertTokenizer(), tensors(of))
		if s := m.Space(); s.Name != "static tiny" || s.Dimensions != dimensions || s.Version <= 0 {
			t.Errorf("%s: %+v", name, s)
		}
		for text, pieces := range map[string]string{
			"hello world": "hello world", "Hello, WORLDS!": "hello , world ##s !", "wor": "wor",
			"Café\tcafé\u0301": "cafe cafe", "x日a": "日 a", "ab abba": "a ##b a ##b ##ba",
			"aabbaa hello zzz": "hello", strings.Repeat("a", 11): "", "": "", " \x00 ": "", "\xff\xfehello": "hello",
			strings.Repeat("hello ", maxPieces) + "world": strings.Repeat("hello ", maxPieces),
		} {
			sums := make([]float64, dimensions)
			for piece := range strings.FieldsSeq(pieces) {
				id := slices.Index(wordPieces, piece)
				for k := range sums {
					if name == "quantised" {
						sums[k] += weight(id) * number(int(turned(id))*dimensions+k)
					} else {
						sums[k] += number(id*dimensions + k)
					}
				}
			}
			got, err := m.Embed(t.Context(), memory.ForStorage, []string{text})
			if err != nil {
				t.Fatal(err)
			}
			length := math.Sqrt(sums[0]*sums[0] + sums[1]*sums[1] + sums[2]*sums[2])
			if length == 0 {
				if got[0] != nil {
					t.Errorf("%s: %.20q has the vector %v, want none", name, text, got[0])
				}
				continue
			}
			for k, x := range got[0] {
				if math.Abs(float64(x)-sums[k]/length) > 1e-6 {
					t.Errorf("%s: %.20q has the vector %v, want %v / %v", name, text, got[0], sums, length)
					break
				}
			}
		}
	}
}

// nested is a sequence of sequences.
func nested(parts string, depth int) object {
	if depth == 0 {
		return object{"type": "Sequence", parts: []any{}}
	}
	return object{"type": "Sequence", parts: []any{nested(parts, depth-1)}}
}

// unigramTokenizer has pieces with scores.
func unigramTokenizer(scores map[string]float64) (object, []string) {
	pieces := append([]string{"[UNK]"}, slices.Sorted(maps.Keys(scores))...)
	var vocabulary [][2]any
	for _, piece := range pieces {
		vocabulary = append(vocabulary, [2]any{piece, scores[piece]})
	}
	return object{
		"pre_tokenizer": object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false},
		"model":         object{"type": "Unigram", "unk_id": 0, "vocab": vocabulary},
	}, pieces
}

func TestUnigram(t *testing.T) {
	t.Parallel()
	tokenizer, pieces := unigramTokenizer(map[string]float64{"▁he": -3, "▁hello": -4, "llo": -2, "▁": -5, "h": -6, "e": -6, "l": -6,
		"o": -6, "▁wor": -3, "ld": -3, "é": -7})
	body, _ := json.Marshal(tokenizer)
	tok, err := newTokenizer(body, len(pieces))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"hello world": "▁hello ▁wor ld", "helllo": "▁he l llo", "he?llo": "▁he llo", "é": "▁ é", "": "", "?": "▁", "日本": "▁",
	} {
		var got []string
		for _, id := range tok.encode(text) {
			got = append(got, pieces[id])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is cut into %q, want %q", text, got, want)
		}
	}
}

// No other way to cut a text scores higher.
func TestUnigramIsBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := map[string]float64{}
		for _, piece := range rapid.SliceOfNDistinct(rapid.StringMatching("[abc]{1,4}"), 1, 12, rapid.ID).Draw(t, "pieces") {
			scores[piece] = -float64(rapid.IntRange(1, 40).Draw(t, "score"))
		}
		text := rapid.StringMatching("[abcd]{0,12}").Draw(t, "text")
		tokenizer, pieces := unigramTokenizer(scores)
		delete(tokenizer, "pre_tokenizer")
		body, _ := json.Marshal(tokenizer)
		tok, err := newTokenizer(body, len(pieces))
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.Min(append(slices.Collect(maps.Values(scores)), 0)) - 10
		best := make([]float64, len(text)+1)
		for end := 1; end <= len(text); end++ {
			best[end] = math.Inf(-1)
			for start := range end {
				score, is := scores[text[start:end]]
				if _, single := scores[text[start:start+1]]; !is && end == start+1 && !single {
					score, is = missing, true
				}
				if is {
					best[end] = max(best[end], best[start]+score)
				}
			}
		}
		known, sum := 0, 0.0
		for _, id := range tok.encode(text) {
			known, sum = known+len(pieces[id]), sum+scores[pieces[id]]
		}
		if sum += missing * float64(len(text)-known); math.Abs(sum-best[len(text)]) > 1e-9 {
			t.Fatalf("%q is cut with %v, the best is %v", text, sum, best[len(text)])
		}
	})
}

func TestNormalizers(t *testing.T) {
	t.Parallel()
	// "A" becomes "b", and "é" becomes "e" and a star: a double array made by hand
	nodes := make([]uint32, 1024)
	nodes[0] = 256 << 10                // the root's children are at 256 ^ byte
	nodes[256^'A'] = 'A' | 1<<8 | 1<<10 // its leaf is 1 further
	nodes[256^'A'^1] = 0 | 1<<31
	nodes[256^0xc3] = 0xc3 | 512<<10
	nodes[256^0xc3^512^0xa9] = 0xa9 | 1<<8 | 1<<10
	nodes[256^0xc3^512^0xa9^1] = 2 | 1<<31
	characters := binary.LittleEndian.AppendUint32(nil, uint32(4*len(nodes)))
	for _, node := range nodes {
		characters = binary.LittleEndian.AppendUint32(characters, node)
	}
	characters = append(characters, "b\x00e*\x00"...)
	for _, c := range []struct {
		of         any
		text, want string
	}{
		{nil, " As Is ", " As Is "},
		{object{"type": "Lowercase"}, "ÀB", "àb"},
		{object{"type": "NFKC"}, "ﬁ①", "fi1"},
		{object{"type": "Strip", "strip_left": true}, " \ta ", "a "},
		{object{"type": "Prepend", "prepend": "▁"}, "a", "▁a"},
		{object{"type": "Replace", "pattern": object{"String": "$1"}, "content": "$0"}, "a$1", "a$0"},
		{object{"type": "Replace", "pattern": object{"Regex": `\s+`}, "content": " "}, "a \n b", "a b"},
		{object{"type": "BertNormalizer", "clean_text": true, "strip_accents": false}, "É\u200b日", "É日"},
		{object{"type": "Precompiled", "precompiled_charsmap": characters}, "AéxÀ", "be*xÀ"},
		{object{"type": "Sequence", "normalizers": []any{object{"type": "NFD"}, object{"type": "StripAccents"}}}, "é", "e"},
	} {
		body, _ := json.Marshal(c.of)
		normalize, err := newStep(body, 0)
		if err != nil {
			t.Fatalf("%v: %v", c.of, err)
		}
		if got := normalize(c.text); got != c.want {
			t.Errorf("%v makes %q of %q, want %q", c.of, got, c.text, c.want)
		}
	}
}

func TestSplitters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of   any
		text string
		want []string
	}{
		{nil, "as is", []string{"as is"}},
		{object{"type": "WhitespaceSplit"}, " a  b,c ", []string{"a", "b,c"}},
		{object{"type": "BertPreTokenizer"}, "a b,c «d» $1", []string{"a", "b", ",", "c", "«", "d", "»", "$", "1"}},
		{object{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, "a bc", []string{"▁a", "▁bc"}},
		{object{"type": "Metaspace", "replacement": "_", "prepend_scheme": "never", "split": false}, "a b", []string{"a_b"}},
		{object{"type": "Sequence", "pretokenizers": []any{object{"type": "WhitespaceSplit"},
			object{"type": "Metaspace"}}}, "a b", []string{"▁a", "▁b"}},
	} {
		body, _ := json.Marshal(c.of)
		split, err := newSplitter(body, 0)
		if err != nil {
			t.Fatalf("%v: %v", c.of, err)
		}
		if got := split(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%v makes %q of %q, want %q", c.of, got, c.text, c.want)
		}
	}
}

// What can't be used is told in one sentence.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	n := len(wordPieces)
	fine := tensors(map[string]data{"embeddings": {"F32", []int{n, 2}, number}})
	header := func(text string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	}
	with := func(part string, to any) object {
		of := bertTokenizer()
		of[part] = to
		return of
	}
	for name, c := range map[string]struct {
		tokenizer any
		table     []byte
		want      string
	}{
		"empty table":      {bertTokenizer(), nil, "it is cut off or no safetensors file"},
		"a page":           {bertTokenizer(), []byte("<!DOCTYPE html><html>…"), "it is cut off or no safetensors file"},
		"a pointer":        {bertTokenizer(), []byte("version https://git-lfs.github.com/spec/v1\noid …"), "it is cut off"},
		"cut header":       {bertTokenizer(), fine[:20], "it is cut off"},
		"cut body":         {bertTokenizer(), fine[:len(fine)-1], "it is cut off"},
		"huge header":      {bertTokenizer(), binary.LittleEndian.AppendUint64(nil, 1<<62), "it is cut off"},
		"no embeddings":    {bertTokenizer(), tensors(map[string]data{"x": {"F32", []int{1, 1}, number}}), `no tensor "embeddings"`},
		"no type":          {bertTokenizer(), header(`{"embeddings":{"shape":[2,-3],"data_offsets":[0,0]}}`), `the type ""`},
		"past any end":     {bertTokenizer(), header(`{"embeddings":{"dtype":"I8","shape":[4,4],"data_offsets":[9223372036854775690,9223372036854775706]}}`), "it is cut off"},
		"much else":        {bertTokenizer(), append(bytes.Clone(fine), make([]byte, 2<<20)...), "much else"},
		"no number":        {bertTokenizer(), tensors(map[string]data{"embeddings": {"F32", []int{2, 2}, number}, "mapping": {"F64", []int{n}, func(int) float64 { return math.NaN() }}}), "maps a piece"},
		"deep parts":       {with("normalizer", nested("normalizers", 9)), fine, "too many parts"},
		"deep words":       {with("pre_tokenizer", nested("pretokenizers", 9)), fine, "too many parts"},
		"growing":          {with("normalizer", object{"type": "Replace", "pattern": object{"String": ""}, "content": "x"}), fine, "replaces nothing"},
		"a long piece":     {with("model", object{"type": "Unigram", "vocab": []any{[]any{strings.Repeat("a", 5000), -1}}}), fine, "has 5000 bytes"},
		"one dimension":    {bertTokenizer(), tensors(map[string]data{"embeddings": {"F32", []int{4}, number}}), "no table"},
		"too wide":         {bertTokenizer(), tensors(map[string]data{"embeddings": {"I8", []int{1, 5000}, number}}), "no table"},
		"strange numbers":  {bertTokenizer(), header(`{"embeddings":{"dtype":"BOOL","shape":[1,1],"data_offsets":[0,1]}}`), `the type "BOOL"`},
		"negative":         {bertTokenizer(), header(`{"embeddings":{"dtype":"I8","shape":[-1,-1],"data_offsets":[0,1]}}`), "it is cut off"},
		"overflowing":      {bertTokenizer(), header(`{"embeddings":{"dtype":"I8","shape":[16777216,4096,16777216],"data_offsets":[0,1]}}`), "it is cut off"},
		"backwards":        {bertTokenizer(), header(`{"embeddings":{"dtype":"I8","shape":[1,1],"data_offsets":[9,8]}}`), "it is cut off"},
		"before the body":  {bertTokenizer(), header(`{"embeddings":{"dtype":"I8","shape":[1,4],"data_offsets":[-4,0]}}`), "it is cut off"},
		"too few rows":     {bertTokenizer(), tensors(map[string]data{"embeddings": {"F32", []int{5, 2}, number}}), "has no vector"},
		"a wrong mapping":  {bertTokenizer(), tensors(map[string]data{"embeddings": {"F32", []int{2, 2}, number}, "mapping": {"I32", []int{n}, number}}), "maps a piece"},
		"no JSON":          {"{", fine, "tokenizer.json: it is cut off or no JSON"},
		"no model":         {"{}", fine, "it has no model"},
		"another model":    {with("model", object{"type": "BPE"}), fine, `model is of the kind "BPE"`},
		"another splitter": {with("pre_tokenizer", object{"type": "ByteLevel"}), fine, `pre_tokenizer is of the kind "ByteLevel"`},
		"another step":     {with("normalizer", object{"type": "Nmt"}), fine, `normalizer is of the kind "Nmt"`},
		"a wrong pattern":  {with("normalizer", object{"type": "Replace", "pattern": object{"Regex": "(?<!a"}}), fine, "a pattern that Hark can't read"},
		"a cut map":        {with("normalizer", object{"type": "Precompiled", "precompiled_charsmap": "AAAAAQ=="}), fine, "is cut off"},
		"no pieces":        {with("model", object{"type": "WordPiece", "vocab": object{}}), fine, "vocabulary is empty"},
		"no vocabulary":    {with("model", object{"type": "Unigram", "vocab": 5}), fine, "vocabulary can't be read"},
		"a torn row":       {with("model", object{"type": "Unigram", "vocab": []any{[]any{"a", "b"}}}), fine, "vocabulary can't be read"},
	} {
		_, err := Open(written(t, c.tokenizer, c.table))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is no embedding model: it needs the files") {
		t.Error(err)
	}
	m := opened(t, bertTokenizer(), tensors(map[string]data{"embeddings": {"F32", []int{n, 2}, func(int) float64 { return math.NaN() }}}))
	if _, err := m.Embed(t.Context(), memory.ForSearch, []string{"hello"}); err == nil || !strings.Contains(err.Error(), "isn't finite") {
		t.Error(err)
	}
}

// Whatever is in the table's file, it is read or refused.
func FuzzTable(f *testing.F) {
	f.Add(tensors(map[string]data{"embeddings": {"F16", []int{4, 2}, number}, "weights": {"F32", []int{4}, number}}))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), tableFile)
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := newTable(path)
		if err != nil {
			return
		}
		sums := make([]float64, table.dimensions)
		for piece := range min(table.tokens(), 100) {
			if err := table.add(sums, int32(piece)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// BenchmarkEmbed embeds segments of 600 bytes; beside it, what reading as many rows takes.
func BenchmarkEmbed(b *testing.B) {
	const dimensions = 256
	n := len(wordPieces)
	m := opened(b, bertTokenizer(), tensors(map[string]data{"embeddings": {"F32", []int{n, dimensions}, number}}))
	text := strings.Repeat("hello worlds, filler7 café! ", 21)
	b.Run("segments", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.Embed(b.Context(), memory.ForStorage, []string{text}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
	})
	pieces, sums := m.tokens.encode(text), make([]float64, dimensions)
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			for _, piece := range pieces {
				_ = m.table.add(sums, piece)
			}
		}
	})
}
