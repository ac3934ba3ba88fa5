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

// Overhead is how many bytes longer a sealed value is than a plain one.
const Overhead = headerBytes + 12 + 16 // with the nonce and the tag

// headerBytes are those in front: magic, and the number of the data key.
const headerBytes = len(magic) + 4

// magic begins sealed values. No text of a memory begins so: it isn't UTF-8.
const magic = "\xffhk\x01"

// ErrChanged reports that a value isn't what was sealed in its place: it was changed or moved, or has another key.
var ErrChanged = errors.New("it was changed, or moved here from elsewhere")

// Cipher seals values with a data key.
type Cipher struct {
	number uint32
	values cipher.AEAD
	terms  cipher.Block
	tokens []byte
}

// NewCipher returns the cipher of a data key of KeyBytes. Its number must differ from those of the memory's other keys.
func NewCipher(number uint32, key []byte) (*Cipher, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("a data key has %d bytes, not %d", len(key), KeyBytes)
	}
	values, err1 := block(key, "values")
	terms, err2 := block(key, "terms")
	tokens, err3 := hkdf.Key(sha256.New, key, nil, "tokens", KeyBytes)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	sealer, err := cipher.NewGCM(values)
	return &Cipher{number, sealer, terms, tokens}, err
}

// block returns AES-256 with a key that is derived for one use.
func block(key []byte, use string) (cipher.Block, error) {
	derived, err := hkdf.Key(sha256.New, key, nil, use, KeyBytes)
	if err != nil {
		return nil, err
	}
	return aes.NewCipher(derived)
}

// Number returns the number of c's key, which its values begin with.
func (c *Cipher) Number() uint32 { return c.number }

// Seal encrypts a value for a place. Only Open with the same place decrypts it.
func (c *Cipher) Seal(plain, place []byte) []byte {
	sealed := make([]byte, headerBytes+12, Overhead+len(plain))
	copy(sealed, magic)
	binary.BigEndian.PutUint32(sealed[len(magic):], c.number)
	nonce := sealed[headerBytes:]
	_, _ = rand.Read(nonce) // never fails
	return c.values.Seal(sealed, nonce, plain, place)
}

// Open decrypts a value that c sealed for a place, or returns ErrChanged.
func (c *Cipher) Open(sealed, place []byte) ([]byte, error) {
	if number, ok := KeyOf(sealed); !ok || number != c.number {
		return nil, ErrChanged
	}
	plain, err := c.values.Open(nil, sealed[headerBytes:headerBytes+12], sealed[headerBytes+12:], place)
	if err != nil {
		return nil, ErrChanged
	}
	return plain, nil
}

// KeyOf returns the number of the data key that sealed a value; false for a plain one.
func KeyOf(value []byte) (number uint32, ok bool) {
	if len(value) < Overhead || string(value[:len(magic)]) != magic {
		return 0, false
	}
	return binary.BigEndian.Uint32(value[len(magic):]), true
}

// KeyTerms replaces hashes of terms by keyed ones. Each is one block of AES: as good as HMAC for so short an input,
// and a message has many terms.
func (c *Cipher) KeyTerms(hashes []uint64) {
	b := make([]byte, aes.BlockSize)
	for i, n := range hashes {
		clear(b)
		binary.BigEndian.PutUint64(b, n)
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
