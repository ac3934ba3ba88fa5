package memory

import (
	"errors"
	"time"
)

// Scope limits a search to channels, times and authors. The zero Scope matches nothing.
type Scope struct {
	Channels []ChannelID // only these; those that don't exist are passed over
	Since    time.Time   // inclusive; zero: from the beginning
	Until    time.Time   // exclusive; zero: to the end
	Authors  []UserID    // only what they said; empty: what anybody said
}

// TextHit is a message found by full text.
type TextHit struct {
	Channel ChannelID
	ID      MessageID
	Score   float64 // BM25 as the store computes it, higher is better; only its order means anything
}

// VectorHit is a segment found by its vector.
type VectorHit struct {
	Channel    ChannelID
	Messages   []MessageID // of the segment, those in scope, by id
	Similarity float64     // cosine, in [-1, 1]
}

// ErrNoVectors means that nothing has been embedded yet in the space in use, or that it isn't ready to be
// searched. Only full text can find messages.
var ErrNoVectors = errors.New("no vectors yet")
