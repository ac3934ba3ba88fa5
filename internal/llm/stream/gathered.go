package stream

import "hark/internal/chat"

// maxBeside bounds the fields that a server puts beside a message and its calls, in bytes of all pieces.
const maxBeside = 32 << 20

// bytesOf returns the length of fields.
func bytesOf(fields chat.Extra) (n int) {
	for name, value := range fields {
		n += len(name) + len(value)
	}
	return n
}

// gathered are fields that a stream brings in pieces. Pieces are joined by twos, fours and so on, so that many of them
// cost no more than their length.
type gathered struct{ parts []gatheredPart }

type gatheredPart struct {
	fields chat.Extra
	pieces int
}

func (g *gathered) add(piece chat.Extra) {
	if len(piece) == 0 {
		return
	}
	g.parts = append(g.parts, gatheredPart{piece, 1})
	for g.isUneven() {
		g.joinLast()
	}
}

// isUneven reports whether the last two parts are to be joined.
func (g *gathered) isUneven() bool {
	last := len(g.parts) - 1
	if last < 1 {
		return false
	}
	return g.parts[last-1].pieces <= g.parts[last].pieces
}

func (g *gathered) joinLast() {
	last := len(g.parts) - 1
	before := g.parts[last-1]
	after := g.parts[last]
	both := gatheredPart{
		fields: before.fields.Merge(after.fields),
		pieces: before.pieces + after.pieces,
	}
	g.parts = append(g.parts[:last-1], both)
}

// all returns the fields.
func (g *gathered) all() chat.Extra {
	for len(g.parts) > 1 {
		g.joinLast()
	}
	if len(g.parts) == 0 {
		return nil
	}
	return g.parts[0].fields
}
