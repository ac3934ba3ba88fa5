package memory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FingerprintOf identifies a text that a Record mustn't hold: 16 hexadecimal digits, equal for texts with the
// same words, whatever their case and spacing.
//
// The key is the store's own (Store.FingerprintKey): random, made when first asked for, kept in the file and
// its backups, and never changed, so that a question keeps its fingerprint. Without the key a fingerprint
// doesn't reveal its text, even to somebody who guesses. Whoever has the file has the key, so fingerprints go
// with the message that they are of.
func FingerprintOf(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(strings.Join(strings.Fields(Clean(text)), " ")))) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// FingerprintKeyBytes is the length of the key.
const FingerprintKeyBytes = 32
