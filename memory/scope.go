package memory

import (
	"errors"
	"time"
)

// Scope limits a search to channels, times and authors. The zero Scope matches nothing.
type Scope struct {
	Channels []ChannelID // unknown ones are ignored
	Since    time.Time   // inclusive; zero: no limit
	Until    time.Time   // exclusive; zero: no limit
	Authors  []UserID    // empty: everybody
}

// TextHit is a message found by full text.
type TextHit struct {
	Channel ChannelID
	ID      MessageID
	Score   float64 // the store's BM25, higher is better; only the order matters
}

// VectorHit is a segment found by its vector.
type VectorHit struct {
	Channel    ChannelID
	Messages   []MessageID // those in scope, by id
	Similarity float64     // cosine, in [-1, 1]
}

// ErrNoVectors means that nothing has been embedded yet in the active space, or that it isn't ready to be
// searched. Only full text can find messages.
var ErrNoVectors = errors.New("no vectors yet")
