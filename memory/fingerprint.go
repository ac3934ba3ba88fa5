package memory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// FingerprintOf tells texts apart that a Record mustn't hold: 16 hexadecimal digits, the same for texts with
// the same words, whatever their case and the spaces between.
//
// The key is the store's own (Store.FingerprintKey): random, made when it is first asked for, kept in the
// file beside what it belongs to, and never changed, so that the same question has the same fingerprint for
// as long as the file lives, also in a backup of it. Without the key nobody can tell from a fingerprint what
// was written, nor try which of a few texts it was; whoever has the file could do the latter, so fingerprints
// go with the message that they are of like all else.
func FingerprintOf(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.ToLower(strings.Join(strings.Fields(Clean(text)), " ")))) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// FingerprintKeyBytes is how long a key of FingerprintOf is.
const FingerprintKeyBytes = 32
