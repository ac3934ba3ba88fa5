package static

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenizer cuts texts into pieces, as Hugging Face's tokenizers do with the same file. It adds no special tokens.
// https://huggingface.co/docs/tokenizers/components
type tokenizer struct {
	normalize step
	split     splitter
	cut       func(word string, pieces []int32) []int32 // appends a word's pieces, without unknown ones
}

// step changes a text before it is cut.
type step func(string) string

// splitter cuts a text into words.
type splitter func(string) []string

// encode returns a text's pieces.
func (t *tokenizer) encode(text string) (pieces []int32) {
	for _, word := range t.split(t.normalize(text)) {
		pieces = t.cut(word, pieces)
		if len(pieces) >= maxPieces {
			break
		}
	}
	return pieces
}

// newTokenizer reads tokenizer.json. Its pieces have numbers below n.
func newTokenizer(body []byte, n int) (*tokenizer, error) {
	var f struct {
		Normalizer   json.RawMessage `json:"normalizer"`
		PreTokenizer json.RawMessage `json:"pre_tokenizer"`
		Model        json.RawMessage `json:"model"`
	}
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, errors.New("it is cut off or no JSON; download it again")
	}
	t := &tokenizer{}
	var err error
	t.normalize, err = newStep(f.Normalizer, 0)
	if err != nil {
		return nil, err
	}
	t.split, err = newSplitter(f.PreTokenizer, 0)
	if err != nil {
		return nil, err
	}
	t.cut, err = newModel(f.Model, n)
	return t, err
}

// unread is the error of a part of tokenizer.json that Hark can't use.
func unread(part, kind string) error {
	return fmt.Errorf("its %s is of the kind %q, which Hark doesn't know", part, kind)
}

// newSplitter reads a pre-tokenizer, which lies depth levels deep.
func newSplitter(body json.RawMessage, depth int) (splitter, error) {
	var p struct {
		Type        string
		Parts       []json.RawMessage `json:"pretokenizers"`
		Replacement string
		Prepend     string `json:"prepend_scheme"`
		Split       *bool
	}
	if len(body) > 0 && json.Unmarshal(body, &p) != nil {
		return nil, unread("pre_tokenizer", string(body[:min(len(body), 40)]))
	}
	switch p.Type {
	case "":
		return func(text string) []string { return []string{text} }, nil
	case "BertPreTokenizer":
		return bertWords, nil
	case "WhitespaceSplit":
		return strings.Fields, nil
	case "Metaspace":
		prepend := p.Prepend != "never"
		split := p.Split == nil || *p.Split
		return func(text string) []string { return metaspace(text, cmp.Or(p.Replacement, "▁"), prepend, split) }, nil
	case "Sequence":
		if depth >= maxDepth || len(p.Parts) > maxParts {
			return nil, errors.New("its pre_tokenizer has too many parts")
		}
		var parts []splitter
		for _, part := range p.Parts {
			s, err := newSplitter(part, depth+1)
			if err != nil {
				return nil, err
			}
			parts = append(parts, s)
		}
		return func(text string) []string {
			words := []string{text}
			for _, s := range parts {
				var next []string
				for _, word := range words {
					next = append(next, s(word)...)
				}
				words = next
			}
			return words
		}, nil
	}
	return nil, unread("pre_tokenizer", p.Type)
}

// bertWords cuts at white space and around each mark of punctuation.
func bertWords(text string) (words []string) {
	start := 0
	end := func(at int) {
		if at > start {
			words = append(words, text[start:at])
		}
	}
	for i, r := range text {
		switch space := unicode.IsSpace(r); {
		case space, isPunctuation(r):
			end(i)
			start = i + utf8.RuneLen(r)
			if !space {
				words = append(words, text[i:start])
			}
		}
	}
	end(len(text))
	return words
}

func isPunctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') ||
		unicode.IsPunct(r)
}

// metaspace writes spaces as mark, and cuts before each if split is set.
func metaspace(text, mark string, prepend, split bool) (words []string) {
	text = strings.ReplaceAll(text, " ", mark)
	if text == "" {
		return nil
	}
	if prepend && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	for split {
		at := strings.Index(text[min(1, len(text)):], mark)
		if at < 0 {
			break
		}
		words = append(words, text[:at+1])
		text = text[at+1:]
	}
	return append(words, text)
}

// newModel reads the model of a tokenizer: its pieces, and how words are cut into them.
func newModel(body json.RawMessage, n int) (func(string, []int32) []int32, error) {
	var m struct {
		Type       string
		Vocabulary json.RawMessage `json:"vocab"`
		Unknown    string          `json:"unk_token"`
		UnknownID  *int32          `json:"unk_id"`
		Prefix     *string         `json:"continuing_subword_prefix"`
		Longest    int             `json:"max_input_chars_per_word"`
		Bytes      bool            `json:"byte_fallback"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, errors.New("it has no model; is it of a model2vec model?")
	}
	var pieces []piece
	unknown := int32(-1)
	switch m.Type {
	case "WordPiece":
		var ids map[string]int32
		if err := json.Unmarshal(m.Vocabulary, &ids); err != nil {
			return nil, errors.New("its vocabulary can't be read")
		}
		for text, id := range ids {
			pieces = append(pieces, piece{text, id})
		}
		if id, is := ids[m.Unknown]; is {
			unknown = id
		}
	case "Unigram":
		if m.Bytes {
			return nil, unread("model", "Unigram with byte_fallback")
		}
		var err error
		var scores []float64
		pieces, scores, err = unigramPieces(m.Vocabulary)
		if err != nil {
			return nil, err
		}
		if m.UnknownID != nil {
			unknown = *m.UnknownID
		}
		t, err := trieOf(pieces, n)
		if err != nil {
			return nil, err
		}
		u := &unigram{
			trie:    t,
			scores:  scores,
			unknown: unknown,
			missing: slices.Min(scores) - 10,
		}
		return u.cut, nil
	default:
		return nil, unread("model", m.Type)
	}
	t, err := trieOf(pieces, n)
	if err != nil {
		return nil, err
	}
	prefix := "##"
	if m.Prefix != nil {
		prefix = *m.Prefix
	}
	w := &wordPiece{
		trie:    t,
		within:  t.walk(prefix),
		longest: cmp.Or(m.Longest, 100),
		unknown: unknown,
	}
	return w.cut, nil
}

func unigramPieces(body json.RawMessage) (pieces []piece, scores []float64, err error) {
	var rows [][2]any
	if json.Unmarshal(body, &rows) != nil {
		return nil, nil, errors.New("its vocabulary can't be read")
	}
	for i, row := range rows {
		text, isText := row[0].(string)
		score, isScore := row[1].(float64)
		if !isText || !isScore {
			return nil, nil, errors.New("its vocabulary can't be read")
		}
		pieces = append(pieces, piece{text, int32(i)})
		scores = append(scores, score)
	}
	return pieces, scores, nil
}

// trieOf returns a trie of pieces with numbers below n.
func trieOf(pieces []piece, n int) (*trie, error) {
	if len(pieces) == 0 {
		return nil, errors.New("its vocabulary is empty")
	}
	for _, p := range pieces {
		if len(p.text) > maxPiece {
			return nil, fmt.Errorf("its piece %d has %d bytes", p.id, len(p.text))
		}
		if p.id < 0 || int(p.id) >= n {
			return nil, fmt.Errorf("its piece %d has no vector, as %s has %d: are the two files of the same model?",
				p.id, tableFile, n)
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(b.id, a.id))
	})
	return newTrie(pieces), nil
}

// maxPiece is the longest piece, in bytes.
const maxPiece = 1024

// wordPiece cuts a word from its beginning, each time as long a piece as there is.
type wordPiece struct {
	*trie
	within  int32 // the node of what pieces begin with that don't begin a word
	longest int   // characters of a word
	unknown int32
}

// cut appends a word's pieces; none if it can't be cut.
func (w *wordPiece) cut(word string, pieces []int32) []int32 {
	if utf8.RuneCountInString(word) > w.longest {
		return pieces
	}
	before := len(pieces)
	node := int32(0)
	for start := 0; start < len(word); {
		found := int32(-1)
		end := 0
		for i := start; i < len(word) && node >= 0; i++ {
			node = w.step(node, word[i])
			if node >= 0 && w.pieces[node] >= 0 {
				found = w.pieces[node]
				end = i + 1
			}
		}
		if found < 0 {
			return pieces[:before]
		}
		if found != w.unknown {
			pieces = append(pieces, found)
		}
		start = end
		node = w.within
	}
	return pieces
}

// unigram cuts a text so that the sum of its pieces' scores is the highest (Viterbi's algorithm).
type unigram struct {
	*trie
	scores  []float64
	unknown int32
	missing float64 // the score of a character without a piece
}

// cut appends a text's pieces.
func (u *unigram) cut(text string, pieces []int32) []int32 {
	type state struct {
		score float64 // of the best way to cut what is before
		start int     // of its last piece
		piece int32
	}
	best := make([]state, len(text)+1)
	for i := range best[1:] {
		best[i+1].score = math.Inf(-1)
	}
	for start := 0; start < len(text); {
		_, size := utf8.DecodeRuneInString(text[start:])
		score := best[start].score
		single := false
		node := int32(0)
		for i := start; i < len(text); i++ {
			node = u.step(node, text[i])
			if node < 0 {
				break
			}
			id := u.pieces[node]
			if id < 0 {
				continue
			}
			single = single || i+1 == start+size
			if s := score + u.scores[id]; s > best[i+1].score {
				best[i+1] = state{s, start, id}
			}
		}
		if s := score + u.missing; !single && s > best[start+size].score {
			best[start+size] = state{s, start, u.unknown}
		}
		start += size
	}
	from := len(pieces)
	for end := len(text); end > 0; end = best[end].start {
		if id := best[end].piece; id != u.unknown {
			pieces = append(pieces, id)
		}
	}
	slices.Reverse(pieces[from:])
	return pieces
}
