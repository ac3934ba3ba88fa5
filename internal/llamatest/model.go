package llamatest

import (
	"math"
	"testing"
	"unicode/utf8"
)

// Script is what a Model writes, word by word, whatever it is asked.
type Script struct {
	Name    string
	Text    string
	Endless bool // begins again at the end
}

// Model is a model without knowledge, whose weights are made so that it writes one of its scripts: the first, or the
// one whose first token a request prefers (logit_bias). A script is a chain of tokens: the weights of each make the
// next one certain, at any temperature. It knows neither prompt nor order otherwise.
type Model struct {
	scripts []Script
	starts  map[string]int // a script's name and its first token, which is no text
	words   *vocabulary
	chains  []chain
}

// chain is a script's tokens.
type chain struct {
	tokens  []int
	endless bool
}

// NewModel returns a model that writes scripts. The first is the one that it prefers.
func NewModel(scripts ...Script) *Model {
	m := &Model{scripts: scripts, starts: map[string]int{}, words: newVocabulary()}
	for _, s := range scripts {
		start := m.words.add("<|script "+s.Name+"|>", control)
		m.starts[s.Name] = start
		c := chain{tokens: []int{start}, endless: s.Endless}
		for _, piece := range pieces(s.Text, m.words) {
			c.tokens = append(c.tokens, m.words.add(piece, normal))
		}
		m.chains = append(m.chains, c)
	}
	return m
}

// pieces cuts a text into pieces that are no tokens yet: a token has one successor only.
func pieces(text string, known *vocabulary) []string {
	const length = 6
	var list []string
	taken := map[string]bool{}
	begin := 0
	for end := range len(text) + 1 {
		piece := text[begin:end]
		whole := end == len(text) || utf8.RuneStart(text[end])
		if len(piece) >= length && whole && !taken[piece] && !known.has(piece) {
			taken[piece] = true
			list = append(list, piece)
			begin = end
		}
	}
	if begin == len(text) {
		return list
	}
	if len(list) == 0 {
		return []string{text}
	}
	list[len(list)-1] += text[begin:]
	return list
}

// Bias returns the value of a request's logit_bias with which the model writes a script.
func (m *Model) Bias(script string) map[int]float64 {
	return map[int]float64{m.starts[script]: 50}
}

// Write writes the model to a file of its own and returns the path.
func (m *Model) Write(tb testing.TB) string {
	tb.Helper()
	return write(tb, m.build())
}

// How certain the next token is. A request's bias is more than the first and less than the second.
const (
	preferred = 20
	certain   = 200
)

func (m *Model) build() *gguf {
	width := 1
	for _, c := range m.chains {
		width += len(c.tokens)
	}
	s := shape{arch: "llama", width: aligned(width)}
	g := s.begin("scripted", m.words)
	in := g.tensor("token_embd.weight", s.width, len(m.words.tokens))
	out := g.tensor("output.weight", s.width, len(m.words.tokens))
	// All tokens of a prompt are alike: they have the first number. A script's tokens have a number of their own each.
	for i := range m.words.tokens {
		in.row(i)[0] = 1
	}
	scale := float32(1 / math.Sqrt(float64(s.width))) // a token's only number is that much larger after its norm
	out.row(m.chains[0].tokens[0])[0] = preferred * scale
	own := 1
	for _, c := range m.chains {
		for i, token := range c.tokens {
			in.row(token)[0] = 0
			in.row(token)[own] = 1
			out.row(c.next(i))[own] = certain * scale
			own++
		}
	}
	return g
}

// next returns the token after the i-th.
func (c chain) next(i int) int {
	if i+1 < len(c.tokens) {
		return c.tokens[i+1]
	}
	if c.endless {
		return c.tokens[1]
	}
	return endToken
}
