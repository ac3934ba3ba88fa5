package imports

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"hark/memory"
)

// A recall set has no ids of Discord's. Its ids depend on nothing but its names: importing it anywhere, in any
// order, gives the same.

const (
	lowBits    = 22 // of a snowflake, below its milliseconds
	lowMask    = 1<<lowBits - 1
	numberBits = 12
	hashBits   = lowBits - numberBits
)

// Snowflakes hold 41 bits of milliseconds and a sign.
var (
	earliest = time.Date(1946, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2084, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ChannelID returns the id of a recall set's channel, from its name.
func ChannelID(name string) memory.ChannelID {
	return memory.ChannelID(hash63("recall channel " + name))
}

// UserID returns the id of a recall set's author, from their name.
func UserID(name string) memory.UserID {
	return memory.UserID(hash63("recall user " + name))
}

// messageID returns the preferred id of a set's message: its time, then the number that its own id ends with,
// which keeps the file's order within a millisecond, then a hash.
func messageID(at time.Time, name string) (memory.MessageID, error) {
	if at.Before(earliest) || !at.Before(latest) {
		return 0, fmt.Errorf("a time %s outside of %d to %d", at.Format(time.RFC3339), earliest.Year(), latest.Year()-1)
	}
	low := trailingNumber(name)&(1<<numberBits-1)<<hashBits | hash63(name)&(1<<hashBits-1)
	id := memory.FirstMessageID(at) + memory.MessageID(low)
	if id == 0 {
		id = nextID(id)
	}
	return id, nil
}

// nextID returns the next id of the same millisecond, leaving out 0, which means "none".
func nextID(id memory.MessageID) memory.MessageID {
	next := id&^lowMask | (id+1)&lowMask
	if next == 0 {
		return 1
	}
	return next
}

// trailingNumber returns the number that a name ends with, modulo a power of two; 0 if there is none.
func trailingNumber(name string) int64 {
	var number uint64
	for i, place := len(name)-1, uint64(1); i >= 0 && name[i] >= '0' && name[i] <= '9'; i-- {
		number += uint64(name[i]-'0') * place
		place *= 10
	}
	return int64(number & (1<<63 - 1))
}

// hash63 hashes s to a positive number.
func hash63(s string) int64 {
	sum := sha256.Sum256([]byte(s))
	if n := int64(binary.BigEndian.Uint64(sum[:8]) >> 1); n != 0 {
		return n
	}
	return 1
}
