// Package seal encrypts values of a memory and finds those that were changed or moved. A data key encrypts values; the
// operator's key wraps data keys. Everything is of the standard library: AES-256-GCM, HKDF and HMAC with SHA-256. It
// imports nothing of Hark. Begin reading at Cipher.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// KeyBytes is the size of keys.
const KeyBytes = 32

// Overhead is how many bytes longer a sealed value is than a plain one: the nonce and the tag.
const Overhead = 12 + 16

// ErrChanged reports that a value isn't what was sealed in its place: it was changed or moved, or has another key.
var ErrChanged = errors.New("it was changed, or moved here from elsewhere")

// Cipher seals values with a data key.
type Cipher struct {
	values cipher.AEAD
	terms  cipher.Block
	tokens []byte
}

// NewDataKey returns a random data key.
func NewDataKey() []byte {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// NewCipher returns the cipher of a data key of KeyBytes.
func NewCipher(key []byte) (*Cipher, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("a data key has %d bytes, not %d", len(key), KeyBytes)
	}
	values, err1 := block(key, "values")
	terms, err2 := block(key, "terms")
	tokens, err3 := hkdf.Key(sha256.New, key, nil, "tokens", KeyBytes)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	sealer, err := cipher.NewGCMWithRandomNonce(values)
	return &Cipher{sealer, terms, tokens}, err
}

// block returns AES-256 with a key that is derived for one use.
func block(key []byte, use string) (cipher.Block, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, use, KeyBytes)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(derived)
}

// Seal encrypts a value for a place. Only Open with the same place decrypts it.
func (c *Cipher) Seal(plain, place []byte) []byte { return c.values.Seal(nil, nil, plain, place) }

// Open decrypts a value that c sealed for a place, or returns ErrChanged.
func (c *Cipher) Open(sealed, place []byte) ([]byte, error) {
	plain, err := c.values.Open(nil, nil, sealed, place)
	if err != nil {
		return nil, ErrChanged
	}
	return plain, nil
}

// KeyTerms replaces hashes of terms by keyed ones, which differ between guilds. Each is one block of AES: as good as
// HMAC for so short an input, and a message has many terms.
func (c *Cipher) KeyTerms(guild uint64, hashes []uint64) {
	b := make([]byte, aes.BlockSize)
	for i, n := range hashes {
		binary.BigEndian.PutUint64(b, n)
		binary.BigEndian.PutUint64(b[8:], guild)
		c.terms.Encrypt(b, b)
		hashes[i] = binary.BigEndian.Uint64(b)
	}
}

// Token returns a keyed hash of a name in a place, by which it can be looked up.
func (c *Cipher) Token(name string, place []byte) []byte {
	mac := hmac.New(sha256.New, c.tokens)
	_ = binary.Write(mac, binary.BigEndian, uint64(len(place))) // a hash never fails
	mac.Write(place)
	mac.Write([]byte(name))
	return mac.Sum(nil)[:16]
}
