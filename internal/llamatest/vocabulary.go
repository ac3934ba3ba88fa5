package llamatest

import (
	_ "embed"
	"fmt"
	"strings"
)

// words are common ones, so that a token has some four letters, as with real models.
//
//go:embed words.txt
var words string

// The kinds of tokens, as llama.cpp numbers them.
const (
	normal  = 1
	control = 3 // it is no text
)

// vocabulary is a list of tokens. The server splits a text into the longest of them that fit, from left to right.
type vocabulary struct {
	tokens []string // escaped
	kinds  []int32
	ids    map[string]int
}

// The first tokens.
const (
	startToken = iota
	endToken
)

// newVocabulary returns one that has a token for each byte, so that it can spell everything.
func newVocabulary() *vocabulary {
	v := &vocabulary{ids: map[string]int{}}
	v.add("<|start of a text|>", control)
	v.add("<|end of a text|>", control)
	for b := range 256 {
		v.add(string([]byte{byte(b)}), normal)
	}
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			v.add(string(a)+string(b), normal)
		}
	}
	for _, word := range strings.Fields(words) {
		v.add(word, normal)
		v.add(" "+word, normal)
	}
	for _, marks := range []string{`":"`, `","`, `":{"`, `"},"`, `": "`, `", "`, "\n- ", "\n\n", ". ", ", ", ": "} {
		v.add(marks, normal)
	}
	return v
}

// add returns the number of a token, which it adds unless it is there.
func (v *vocabulary) add(text string, kind int32) int {
	token := escaped(text)
	id, known := v.ids[token]
	if known {
		return id
	}
	id = len(v.tokens)
	v.ids[token] = id
	v.tokens = append(v.tokens, token)
	v.kinds = append(v.kinds, kind)
	return id
}

func (v *vocabulary) has(text string) bool {
	_, known := v.ids[escaped(text)]
	return known
}

// escaped returns a token in the form that llama.cpp reads for this kind of vocabulary.
func escaped(text string) string {
	var to strings.Builder
	for i := range len(text) {
		b := text[i]
		if b < ' ' || b > '~' || b == '\\' {
			fmt.Fprintf(&to, `\x%02x`, b)
		} else {
			to.WriteByte(b)
		}
	}
	return to.String()
}

// describe writes the vocabulary's facts.
func (v *vocabulary) describe(to *gguf) {
	to.string("tokenizer.ggml.model", "rwkv")
	to.strings("tokenizer.ggml.tokens", v.tokens)
	to.integers("tokenizer.ggml.token_type", v.kinds)
	to.number("tokenizer.ggml.bos_token_id", startToken)
	to.number("tokenizer.ggml.eos_token_id", endToken)
	to.boolean("tokenizer.ggml.add_bos_token", false)
}
