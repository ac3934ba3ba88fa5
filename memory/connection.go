package memory

import (
	"encoding/hex"
	"time"
)

// TokenHash is the SHA-256 of a token; zero: there is none.
type TokenHash [32]byte

// String returns the hash in hexadecimal digits; empty if there is none.
func (h TokenHash) String() string {
	if h == (TokenHash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// Connection is a member's token of a guild. See Connected.
type Connection struct {
	Hash TokenHash
	At   time.Time // when it was made, or taken back
	Uses int
	Used time.Time // the last time; zero: never
}

// IsOpen reports whether there is a token.
func (c Connection) IsOpen() bool { return c.Hash != TokenHash{} }
