package memory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FingerprintOf identifies a text that a Record mustn't hold: 16 hexadecimal digits, equal for texts with
// the same words, whatever their case and spacing.
//
// The key is the store's own (Store.FingerprintKey): random, created at first use, kept in the file and its
// backups, and never changed, so a question keeps its fingerprint. Without the key a fingerprint doesn't
// reveal its text, even to somebody who guesses. The file contains the key, so a fingerprint goes with its
// message.
func FingerprintOf(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(strings.Join(strings.Fields(Clean(text)), " ")))) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// FingerprintKeyBytes is the length of the key.
const FingerprintKeyBytes = 32
