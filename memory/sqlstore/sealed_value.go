package sqlstore

// A sealed value is bound to its place. Transactions seal values with seal, readers open them with opened.

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

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
	b = append(b, p.table...)
	b = append(b, 0)
	b = append(b, p.column...)
	b = append(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(p.a))
	b = binary.BigEndian.AppendUint64(b, uint64(p.b))
	return append(b, p.key...)
}

// sealBytes returns bytes as a column of bytes stores them.
func (v *Vault) sealBytes(plain []byte, at Place) []byte {
	if v == nil {
		return plain
	}
	return v.cipher.Seal(plain, at.bytes())
}

// openBytes decrypts a value of a column of bytes.
func (v *Vault) openBytes(value []byte, at Place) ([]byte, error) {
	if v == nil {
		return value, nil
	}
	plain, err := v.cipher.Open(value, at.bytes())
	if err != nil {
		return nil, changedAt(at.String(), err)
	}
	return plain, nil
}

// changedAt says where err is, and what helps if a value was changed.
func changedAt(place string, err error) error {
	if errors.Is(err, seal.ErrChanged) {
		return fmt.Errorf("%s: %w: restore a backup with \"hark restore FILE\"", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}

// sealText returns a text as a column of text stores it. "" stays so.
func (v *Vault) sealText(text string, at Place) any {
	if v == nil || text == "" {
		return text
	}
	sealed := v.cipher.Seal([]byte(text), at.bytes())
	if v.textOnly {
		return base64.RawStdEncoding.EncodeToString(sealed)
	}
	return sealed
}

// openText decrypts a value of a column of text.
func (v *Vault) openText(value []byte, at Place) ([]byte, error) {
	if v == nil || len(value) == 0 {
		return value, nil
	}
	if !v.textOnly {
		return v.openBytes(value, at)
	}
	sealed := make([]byte, base64.RawStdEncoding.DecodedLen(len(value)))
	n, err := base64.RawStdEncoding.Decode(sealed, value)
	if err != nil {
		return nil, changedAt(at.String(), seal.ErrChanged)
	}
	return v.openBytes(sealed[:n], at)
}

// opened is the destination for a sealed column of text. at is asked after the columns before it were scanned. to is a
// *string or a sql.Scanner.
func (v *Vault) opened(to any, at func() Place) any {
	if v == nil {
		return to
	}
	return asOpened{v, to, at}
}

type asOpened struct {
	vault *Vault
	to    any
	at    func() Place
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
	plain, err := a.vault.openText(value, a.at())
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

// seal returns a text as a column stores it.
func (t *transaction) seal(at Place, text string) any { return t.store.vault.sealText(text, at) }

// sealAny is seal for NULL or a text.
func (t *transaction) sealAny(at Place, value any) any {
	if text, ok := value.(string); ok {
		return t.seal(at, text)
	}
	return value
}
