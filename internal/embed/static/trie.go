package static

import "bytes"

// trie finds the pieces that a text begins with. Node 0 is its root. The children of a node lie beside each other.
type trie struct {
	labels []byte  // of the edge to a node
	first  []int32 // a node's first child; the next node's is behind its last
	pieces []int32 // that end in a node; below 0: none
}

// piece is a part of words.
type piece struct {
	text string
	id   int32
}

// newTrie returns a trie of pieces, which are sorted by their texts.
func newTrie(pieces []piece) *trie {
	type span struct{ from, to, depth int } // of pieces that begin with a node's text
	t := &trie{labels: []byte{0}}
	nodes := []span{{0, len(pieces), 0}}
	for i := 0; i < len(nodes); i++ {
		s := nodes[i]
		id := int32(-1)
		for ; s.from < s.to && len(pieces[s.from].text) == s.depth; s.from++ {
			id = pieces[s.from].id
		}
		t.pieces, t.first = append(t.pieces, id), append(t.first, int32(len(nodes)))
		for at := s.from; at < s.to; {
			label := pieces[at].text[s.depth]
			from := at
			for at < s.to && pieces[at].text[s.depth] == label {
				at++
			}
			nodes = append(nodes, span{from, at, s.depth + 1})
			t.labels = append(t.labels, label)
		}
	}
	t.first = append(t.first, int32(len(nodes)))
	return t
}

// step returns the child of a node by a byte; below 0 if there is none.
func (t *trie) step(node int32, by byte) int32 {
	from := t.first[node]
	at := bytes.IndexByte(t.labels[from:t.first[node+1]], by)
	if at < 0 {
		return -1
	}
	return from + int32(at)
}

// walk returns the node of a text; below 0 if there is none.
func (t *trie) walk(text string) int32 {
	node := int32(0)
	for i := 0; i < len(text) && node >= 0; i++ {
		node = t.step(node, text[i])
	}
	return node
}
