package llamatest

import "fmt"

// shape is how a model's layers are laid out.
type shape struct {
	arch  string // "llama" or "qwen3"
	width int    // numbers of a token, a multiple of 32
}

const (
	layers  = 2
	forward = 32      // width of a layer's second half
	trained = 1 << 17 // tokens of the longest text
)

// begin returns the beginning of a model whose layers add nothing, so that what follows a token depends on it alone.
func (s shape) begin(name string, words *vocabulary) *gguf {
	const head = 32
	g := &gguf{}
	g.string("general.architecture", s.arch)
	g.string("general.name", name)
	g.number(s.arch+".context_length", trained)
	g.number(s.arch+".embedding_length", s.width)
	g.number(s.arch+".block_count", layers)
	g.number(s.arch+".feed_forward_length", forward)
	g.number(s.arch+".attention.head_count", s.width/head)
	g.number(s.arch+".attention.head_count_kv", 1)
	g.number(s.arch+".attention.key_length", head)
	g.number(s.arch+".attention.value_length", head)
	g.float(s.arch+".attention.layer_norm_rms_epsilon", 1e-6)
	words.describe(g)
	g.tensor("output_norm.weight", s.width, 1).fill(1)
	for i := range layers {
		layer := fmt.Sprintf("blk.%d.", i)
		g.tensor(layer+"attn_norm.weight", s.width, 1).fill(1)
		g.tensor(layer+"attn_q.weight", s.width, s.width)
		g.tensor(layer+"attn_k.weight", s.width, head)
		g.tensor(layer+"attn_v.weight", s.width, head)
		g.tensor(layer+"attn_output.weight", s.width, s.width)
		if s.arch == "qwen3" {
			g.tensor(layer+"attn_q_norm.weight", head, 1).fill(1)
			g.tensor(layer+"attn_k_norm.weight", head, 1).fill(1)
		}
		g.tensor(layer+"ffn_norm.weight", s.width, 1).fill(1)
		g.tensor(layer+"ffn_gate.weight", s.width, forward)
		g.tensor(layer+"ffn_up.weight", s.width, forward)
		g.tensor(layer+"ffn_down.weight", forward, s.width)
	}
	return g
}
