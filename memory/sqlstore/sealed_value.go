package sqlstore

// A sealed value is bound to its place. Transactions seal values with seal, readers open them with opened.

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hark/memory"
	"hark/memory/seal"
)

// Place is where a sealed value is: a column, and the row by its key.
type Place struct {
	table, column string
	a, b          int64
	key           string
}

// String names a place as people look for it.
func (p Place) String() string {
	row := fmt.Sprint(p.a)
	if p.b != 0 {
		row = fmt.Sprintf("%d, %d", p.a, p.b)
	}
	if p.key != "" {
		row += ", " + p.key
	}
	return fmt.Sprintf("table %s, row %s, column %s", p.table, row, p.column)
}

// bytes encode p without ambiguity.
func (p Place) bytes() []byte {
	b := make([]byte, 0, len(p.table)+len(p.column)+len(p.key)+18)
	b = append(append(append(append(b, p.table...), 0), p.column...), 0)
	b = binary.BigEndian.AppendUint64(b, uint64(p.a))
	return append(binary.BigEndian.AppendUint64(b, uint64(p.b)), p.key...)
}

// Seal encrypts bytes for a place.
func (k *DataKey) Seal(plain []byte, at Place) []byte { return k.Cipher.Seal(plain, at.bytes()) }

// sealedText begins sealed values where columns hold only text: what magic is in base64.
const sealedText = "/2hrA"

// sealedBytes returns a sealed value; false if it is plain.
func (v *Vault) sealedBytes(value []byte) ([]byte, bool) {
	if v.asText {
		if !strings.HasPrefix(string(value[:min(len(value), len(sealedText))]), sealedText) {
			return nil, false
		}
		b := make([]byte, base64.RawStdEncoding.DecodedLen(len(value)))
		n, err := base64.RawStdEncoding.Decode(b, value)
		if err != nil {
			return nil, false
		}
		value = b[:n]
	}
	_, ok := seal.KeyOf(value)
	return value, ok
}

// keyOfValue returns the key that sealed a value of a column of text; nil if it is plain.
func (v *Vault) keyOfValue(value []byte) (*DataKey, []byte, error) {
	sealed, ok := v.sealedBytes(value)
	if !ok {
		return nil, nil, nil
	}
	number, _ := seal.KeyOf(sealed)
	key, err := v.keyOf(number)
	return key, sealed, err
}

// openText decrypts a value of a column of text.
func (v *Vault) openText(value []byte, at Place) ([]byte, error) {
	if len(value) == 0 {
		return value, nil
	}
	key, sealed, err := v.keyOfValue(value)
	return v.decrypt(key, value, sealed, func() Place { return at }, err)
}

// KeyOf returns the key that sealed a value of a column of bytes; nil if it is plain, or the key isn't known.
func (v *Vault) KeyOf(value []byte) *DataKey {
	number, ok := seal.KeyOf(value)
	if v == nil || !ok {
		return nil
	}
	return v.known(number)
}

// Open decrypts a value of a column of bytes.
func (v *Vault) Open(value []byte, at Place) ([]byte, error) {
	if v == nil {
		return value, nil
	}
	number, ok := seal.KeyOf(value)
	if !ok {
		return v.decrypt(nil, value, nil, func() Place { return at }, nil)
	}
	key, err := v.keyOf(number)
	return v.decrypt(key, value, value, func() Place { return at }, err)
}

// decrypt decrypts a value that key sealed, or returns it if it is plain and may be.
func (v *Vault) decrypt(key *DataKey, value, sealed []byte, at func() Place, err error) ([]byte, error) {
	if err == nil && key == nil {
		// A text that only looks like a sealed one, which somebody may write, is plain.
		if !v.whole.Load() && (sealed == nil || v.asText && v.key.Load() != nil) {
			return value, nil
		}
		err = seal.ErrChanged
	}
	var plain []byte
	if err == nil {
		plain, err = key.Open(sealed, at().bytes())
	}
	if err != nil {
		return nil, changedAt(at().String(), err)
	}
	return plain, nil
}

// changedAt says where err is, and what helps if a value was changed.
func changedAt(place string, err error) error {
	if errors.Is(err, seal.ErrChanged) {
		return fmt.Errorf("%s: %w: forget or delete it, or restore a backup with \"hark restore FILE\"", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}

// encode returns sealed bytes as a column of text holds them.
func (v *Vault) encode(sealed []byte) any {
	if v.asText {
		return base64.RawStdEncoding.EncodeToString(sealed)
	}
	return sealed
}

// opened is the destination for a column of text that may be sealed. at is asked after the columns before it were
// scanned. to is a *string or a sql.Scanner.
func (v *Vault) opened(to any, at func() Place) any {
	if v == nil {
		return to
	}
	return asOpened{vault: v, to: to, at: at}
}

// openedOr is opened, but a value that was changed sets lost instead of failing, and counts as empty: whoever changes a
// value mustn't stop its deletion.
func (v *Vault) openedOr(lost *bool, to any, at func() Place) any {
	if v == nil {
		return to
	}
	return asOpened{vault: v, to: to, at: at, lost: func(Place) { *lost = true }}
}

// name is opened for a name, but one that was changed is left empty, and remembered: it mustn't stop Hark from opening.
// lost may be nil.
func (v *Vault) name(to *string, lost *bool, at func() Place) any {
	if v == nil {
		return to
	}
	return asOpened{vault: v, to: to, at: at, lost: func(p Place) {
		if lost != nil {
			*lost = true
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.lost[p] = true
	}}
}

// Unreadable returns where names of a sealed memory were changed, so that they couldn't be read since it was opened.
func (s *Store) Unreadable() (places []string) {
	if s.vault == nil {
		return nil
	}
	s.vault.mu.RLock()
	defer s.vault.mu.RUnlock()
	for p := range s.vault.lost {
		places = append(places, p.String())
	}
	slices.Sort(places)
	return places
}

type asOpened struct {
	vault *Vault
	to    any
	at    func() Place
	key   **DataKey   // if not nil, gets the key of a sealed value
	lost  func(Place) // if not nil, is called for a value that was changed, which then counts as empty
}

// Scan implements sql.Scanner.
func (a asOpened) Scan(from any) error {
	var value []byte
	switch from := from.(type) {
	case string:
		value = []byte(from)
	case []byte:
		value = from
	case nil:
		return scanInto(a.to, nil)
	default:
		return fmt.Errorf("%T where text should be", from)
	}
	if len(value) == 0 {
		return scanInto(a.to, "")
	}
	key, sealed, err := a.vault.keyOfValue(value)
	if a.key != nil && key != nil {
		*a.key = key
	}
	plain, err := a.vault.decrypt(key, value, sealed, a.at, err)
	if a.lost != nil && errors.Is(err, seal.ErrChanged) {
		a.lost(a.at())
		return nil
	}
	if err != nil {
		return err
	}
	return scanInto(a.to, string(plain))
}

func scanInto(to, value any) error {
	switch to := to.(type) {
	case *string:
		text, ok := value.(string)
		if !ok {
			return errors.New("NULL where text should be")
		}
		*to = text
		return nil
	case interface{ Scan(any) error }:
		return to.Scan(value)
	}
	return fmt.Errorf("can't scan into %T", to)
}

// seal returns a text as a column stores it: "" and that of a memory without a key as it is.
func (t *transaction) seal(guild memory.GuildID, at Place, text string) any {
	if t.store.vault == nil || text == "" {
		return text
	}
	return t.store.vault.encode(t.key(guild).Seal([]byte(text), at))
}

// sealAny is seal for NULL or a text.
func (t *transaction) sealAny(guild memory.GuildID, at Place, value any) any {
	if text, ok := value.(string); ok {
		return t.seal(guild, at, text)
	}
	return value
}
