package memory

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"
)

// TokenHash is the SHA-256 of a token; zero: there is none.
type TokenHash [sha256.Size]byte

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

// A token is tokenPrefix and, in base64, the ids of its guild and user and random bytes.
const (
	tokenPrefix = "hark_"
	tokenIDs    = 16
	tokenBytes  = tokenIDs + 32
)

// NewToken returns a new token of a member, and its hash. Only the hash is kept.
func NewToken(guild GuildID, user UserID) (string, TokenHash) {
	token := make([]byte, tokenBytes)
	binary.BigEndian.PutUint64(token, uint64(guild))
	binary.BigEndian.PutUint64(token[8:], uint64(user))
	_, _ = rand.Read(token[tokenIDs:]) // never fails
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(token), sha256.Sum256(token)
}

// ParseToken returns whose token it claims to be, and its hash; false if it is none.
func ParseToken(text string) (guild GuildID, user UserID, hash TokenHash, ok bool) {
	text, ok = strings.CutPrefix(text, tokenPrefix)
	token, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(token) != tokenBytes {
		return 0, 0, TokenHash{}, false
	}
	return GuildID(binary.BigEndian.Uint64(token)), UserID(binary.BigEndian.Uint64(token[8:])), sha256.Sum256(token), true
}

// Member is what a user decided about themselves in a guild.
type Member struct {
	OptedOut   bool
	Connection Connection // zero if they have none
}
