package seal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func cipherOf(t *testing.T, number uint32, fill byte) *Cipher {
	t.Helper()
	c, err := NewCipher(number, bytes.Repeat([]byte{fill}, KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnlyTheSameKeyAndPlaceOpenAValue(t *testing.T) {
	c := cipherOf(t, 7, 1)
	for _, plain := range []string{"", "a", strings.Repeat("words ", 1000)} {
		sealed := c.Seal([]byte(plain), []byte("here"))
		if got, err := c.Open(sealed, []byte("here")); err != nil || string(got) != plain {
			t.Errorf("Open = %q, %v", got, err)
		}
		if number, ok := KeyOf(sealed); !ok || number != 7 || len(sealed) != len(plain)+Overhead {
			t.Errorf("KeyOf = %d, %t, of %d bytes", number, ok, len(sealed))
		}
		if _, err := c.Open(sealed, []byte("there")); !errors.Is(err, ErrChanged) {
			t.Errorf("in another place: %v", err)
		}
		for _, other := range []*Cipher{cipherOf(t, 7, 2), cipherOf(t, 8, 1)} {
			if _, err := other.Open(sealed, []byte("here")); !errors.Is(err, ErrChanged) {
				t.Errorf("with another key: %v", err)
			}
		}
		for i := range min(len(sealed), 60) {
			flipped := bytes.Clone(sealed)
			flipped[i] ^= 1
			if _, err := c.Open(flipped, []byte("here")); !errors.Is(err, ErrChanged) {
				t.Errorf("with bit %d flipped: %v", i, err)
			}
		}
	}
	if _, ok := KeyOf([]byte("hello")); ok {
		t.Error("a text counts as sealed")
	}
}

func TestHashesDependOnTheKey(t *testing.T) {
	a, b := cipherOf(t, 1, 1), cipherOf(t, 2, 2)
	var keyed [3][]uint64
	for i, c := range []*Cipher{a, cipherOf(t, 1, 1), b} {
		keyed[i] = []uint64{5, 6, 5}
		c.KeyTerms(keyed[i])
	}
	if one := keyed[0]; !slices.Equal(one, keyed[1]) || one[0] == one[1] || one[0] != one[2] || one[0] == keyed[2][0] {
		t.Error("terms", keyed)
	}
	here := []byte("here")
	if !bytes.Equal(a.Token("x", here), a.Token("x", here)) || bytes.Equal(a.Token("x", here), a.Token("x", []byte("he"))) ||
		bytes.Equal(a.Token("x", here), b.Token("x", here)) {
		t.Error("tokens")
	}
}

func TestKeyFilesHoldKeysOrPassphrases(t *testing.T) {
	fresh := NewKey()
	for _, c := range []struct{ text, want string }{
		{fresh + "\n", ""}, {"correct horse battery staple", ""}, {"short", "neither a key"}, {"", "neither a key"},
		{"two lines of\nsome length", "neither a key"}, {fresh[:42], "cut off"}, {"\ufeff" + fresh, "cut off"},
		{strings.Repeat("0f", KeyBytes), "cut off"}, {strings.ReplaceAll(fresh, "=", ""), "cut off"},
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		secret, err := ReadSecret(path)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) || c.text != "" && strings.Contains(err.Error(), c.text) {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		key := secret.Key("salt")
		wrapped, err := key.Wrap(bytes.Repeat([]byte{9}, KeyBytes), "place")
		if err != nil {
			t.Fatal(err)
		}
		if data, err := secret.Key("salt").Unwrap(wrapped, "place"); err != nil || data[0] != 9 {
			t.Errorf("unwrap: %v", err)
		}
		if _, err := key.Unwrap(wrapped, "elsewhere"); !errors.Is(err, ErrChanged) {
			t.Errorf("elsewhere: %v", err)
		}
		other, _ := ParseSecret(NewKey())
		if _, err := other.Key("salt").Unwrap(wrapped, "place"); !errors.Is(err, ErrChanged) ||
			other.Key("salt").Fingerprint() == key.Fingerprint() {
			t.Errorf("another key: %v", err)
		}
	}
	if a, _ := ParseSecret("correct horse battery staple"); a.Key("one").Fingerprint() == a.Key("two").Fingerprint() {
		t.Error("a salt changes nothing of a passphrase's key")
	}
}
