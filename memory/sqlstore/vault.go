package sqlstore

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
	"hark/memory/seal"
)

// A sealed memory keeps what people said, what they are called and what was made from it encrypted, with one data key.
// That is in meta, wrapped by the operator's key. A memory is sealed from its first moment or never: Move seals one by
// copying it. Each value is bound to its place, so that none can take another's. sealed.go lists the columns.

// Errors of opening a memory.
var (
	// ErrKeyMissing reports that a memory is sealed, and no key was given.
	ErrKeyMissing = errors.New("the memory is sealed: name the file with its key in memory.key_file or " +
		"HARK_MEMORY_KEY_FILE")
	// ErrWrongKey reports that a memory is sealed with another key.
	ErrWrongKey = errors.New("the memory is sealed with another key than that of the key file: name the right file in " +
		"memory.key_file or HARK_MEMORY_KEY_FILE")
	// ErrNotSealed reports that a key was given for a memory that isn't sealed.
	ErrNotSealed = errors.New("the memory isn't sealed, but memory.key_file or HARK_MEMORY_KEY_FILE names a key: leave " +
		"that empty, or seal the memory with \"hark move --to DIRECTORY --key-file FILE\"")
)

// SealKey in meta is how a memory is sealed.
const SealKey = "seal"

// Sealing is how a memory is sealed; the zero value if it isn't.
type Sealing struct {
	Salt        string `json:"salt"`
	Fingerprint string `json:"key"`  // of the operator's key
	Data        string `json:"data"` // the data key, wrapped by the operator's key
}

// ReadSealing returns how a memory is sealed.
func ReadSealing(ctx context.Context, q Querier) (s Sealing, err error) {
	_, err = Found(RowOf(ctx, q, "SELECT value FROM meta WHERE key = '"+SealKey+"'").Scan(asJSON{&s}))
	return s, err
}

// newSealing wraps a data key by the operator's key.
func newSealing(data []byte, secret *seal.Secret) (Sealing, error) {
	salt := seal.NewSalt()
	key := secret.Key(salt)
	wrapped, err := key.Wrap(data)
	return Sealing{salt, key.Fingerprint(), wrapped}, err
}

// IsSealed reports whether a memory is sealed.
func (s Sealing) IsSealed() bool { return s.Fingerprint != "" }

// dataKey returns the data key of a sealed memory.
func (s Sealing) dataKey(secret *seal.Secret) ([]byte, error) {
	key := secret.Key(s.Salt)
	if key.Fingerprint() != s.Fingerprint {
		return nil, fmt.Errorf("%w (the memory's key is %s, the file's %s)", ErrWrongKey, s.Fingerprint, key.Fingerprint())
	}
	data, err := key.Unwrap(s.Data)
	if err != nil {
		return nil, changedAt("table meta, row "+SealKey+", column value", err)
	}
	return data, nil
}

// Unlock returns the vault of a memory with the operator's key, which is nil for a plain one. textOnly says that the
// database's columns of text hold no other bytes.
func (s Sealing) Unlock(secret *seal.Secret, textOnly bool) (*Vault, error) {
	switch {
	case !s.IsSealed() && secret == nil:
		return nil, nil
	case !s.IsSealed():
		return nil, ErrNotSealed
	case secret == nil:
		return nil, ErrKeyMissing
	}
	data, err := s.dataKey(secret)
	if err != nil {
		return nil, err
	}
	cipher, err := seal.NewCipher(data)
	if err != nil {
		return nil, err
	}
	return &Vault{cipher, textOnly}, nil
}

// noticeSealing returns ErrKeyMissing if another process has sealed the memory, when it was empty. guilds are those
// that others changed.
func (s *Store) noticeSealing(ctx context.Context, q Querier, guilds []memory.GuildID) error {
	if s.options.Secret != nil || !slices.Contains(guilds, memory.Everywhere) {
		return nil
	}
	sealing, err := ReadSealing(ctx, q)
	if err == nil && sealing.IsSealed() {
		err = ErrKeyMissing
	}
	return err
}

// keyed returns hashes of terms of a guild, separated by spaces, as full text holds them.
func (v *Vault) keyed(guild memory.GuildID, hashes string) string {
	if v == nil || hashes == "" {
		return hashes
	}
	all := make([]uint64, 0, len(hashes)/8)
	for hash := range strings.FieldsSeq(hashes) {
		all = append(all, hashOf(hash))
	}
	v.cipher.KeyTerms(uint64(guild), all)
	b := make([]byte, 0, len(hashes))
	for i, hash := range all {
		if i > 0 {
			b = append(b, ' ')
		}
		b = appendLetters(b, hash)
	}
	return string(b)
}

// token returns what the column token holds for a name in a channel: NULL in a plain memory.
func (v *Vault) token(channel memory.ChannelID, name string) any {
	if v == nil {
		return nil
	}
	place := binary.BigEndian.AppendUint64(nil, uint64(channel))
	return base64.RawStdEncoding.EncodeToString(v.cipher.Token(name, place))
}
