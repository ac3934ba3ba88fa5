package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// Secret is what the operator's key file holds: a key, or a passphrase that each memory makes another key of.
type Secret struct {
	key        []byte
	passphrase string
}

// minPassphrase is the least number of characters of a passphrase.
const minPassphrase = 12

// A text of so many characters, all of them of base64 or hex, is meant as a key: taken for a passphrase, it would
// seal a memory with another key than its owner has.
const (
	likeKey    = 40
	keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_="
)

// NewKey returns a random key as a key file holds it.
func NewKey() string { return base64.StdEncoding.EncodeToString(NewDataKey()) }

// ReadSecret reads a key file: 32 bytes in base64, or a passphrase in one line.
func ReadSecret(path string) (*Secret, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	secret, err := ParseSecret(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the key file %s: %w", path, err)
	}
	return secret, nil
}

// ParseSecret reads what a key file holds. Its errors don't show it.
func ParseSecret(text string) (*Secret, error) {
	text = strings.TrimSpace(text)
	if key, err := base64.StdEncoding.DecodeString(text); err == nil && len(key) == KeyBytes {
		return &Secret{key: key}, nil
	}
	if strings.HasPrefix(text, "\ufeff") || utf8.RuneCountInString(text) >= likeKey && strings.Trim(text, keyLetters) == "" {
		return nil, errors.New("it holds something like a key, but not 32 bytes in base64: was it cut off, or written " +
			"otherwise? Use one that \"hark key new\" prints, or a passphrase with spaces")
	}
	if strings.ContainsAny(text, "\r\n") || utf8.RuneCountInString(text) < minPassphrase {
		return nil, fmt.Errorf("it holds neither a key, as \"hark key new\" prints it, nor a passphrase of at least %d "+
			"characters in one line", minPassphrase)
	}
	return &Secret{passphrase: text}, nil
}

// NewSalt returns a random salt for Secret.Key. It isn't secret.
func NewSalt() string { return rand.Text() }

// Key returns the key with which s wraps the data key of a memory that has a salt. A passphrase is stretched by
// argon2id (RFC 9106's second recommendation: 64 MiB, 3 passes), which takes a moment.
func (s *Secret) Key(salt string) *Key {
	key := s.key
	if key == nil {
		key = argon2.IDKey([]byte(s.passphrase), []byte(salt), 3, 64<<10, 4, KeyBytes)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("fingerprint"))
	return &Key{key, hex.EncodeToString(mac.Sum(nil)[:8])}
}

// Key wraps the data key of a memory.
type Key struct {
	key         []byte
	fingerprint string
}

// Fingerprint tells keys apart. It doesn't help to find the key.
func (k *Key) Fingerprint() string { return k.fingerprint }

func (k *Key) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k.key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Wrap encrypts a data key.
func (k *Key) Wrap(data []byte) (string, error) {
	aead, err := k.aead()
	if err != nil {
		return "", err
	}
	return base64.RawStdEncoding.EncodeToString(aead.Seal(nil, nil, data, nil)), nil
}

// Unwrap decrypts a data key that k wrapped.
func (k *Key) Unwrap(wrapped string) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	sealed, err := base64.RawStdEncoding.DecodeString(wrapped)
	if err != nil {
		return nil, errors.Join(ErrChanged, err)
	}
	data, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, ErrChanged
	}
	return data, nil
}
