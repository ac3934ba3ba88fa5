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

func cipherOf(t *testing.T, fill byte) *Cipher {
	t.Helper()
	c, err := NewCipher(bytes.Repeat([]byte{fill}, KeyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOnlyTheSameKeyAndPlaceOpenAValue(t *testing.T) {
	c := cipherOf(t, 1)
	for _, plain := range []string{"", "a", strings.Repeat("words ", 1000)} {
		sealed := c.Seal([]byte(plain), []byte("here"))
		if got, err := c.Open(sealed, []byte("here")); err != nil || string(got) != plain {
			t.Errorf("Open = %q, %v", got, err)
		}
		if len(sealed) != len(plain)+Overhead {
			t.Errorf("%d bytes became %d", len(plain), len(sealed))
		}
		if _, err := c.Open(sealed, []byte("there")); !errors.Is(err, ErrChanged) {
			t.Errorf("in another place: %v", err)
		}
		if _, err := cipherOf(t, 2).Open(sealed, []byte("here")); !errors.Is(err, ErrChanged) {
			t.Errorf("with another key: %v", err)
		}
		for i := range min(len(sealed), 60) {
			flipped := bytes.Clone(sealed)
			flipped[i] ^= 1
			if _, err := c.Open(flipped, []byte("here")); !errors.Is(err, ErrChanged) {
				t.Errorf("with bit %d flipped: %v", i, err)
			}
		}
	}
	for _, plain := range []string{"", "hello", strings.Repeat("hello", 20)} {
		if _, err := c.Open([]byte(plain), []byte("here")); !errors.Is(err, ErrChanged) {
			t.Errorf("a plain text: %v", err)
		}
	}
}

func TestHashesDependOnTheKey(t *testing.T) {
	a := cipherOf(t, 1)
	b := cipherOf(t, 2)
	keyed := func(c *Cipher, guild uint64) []uint64 {
		hashes := []uint64{5, 6, 5}
		c.KeyTerms(guild, hashes)
		return hashes
	}
	one := keyed(a, 7)
	if !slices.Equal(one, keyed(cipherOf(t, 1), 7)) || one[0] == one[1] || one[0] != one[2] {
		t.Error("terms", one)
	}
	if one[0] == keyed(b, 7)[0] {
		t.Error("terms don't depend on the key")
	}
	if one[0] == keyed(a, 8)[0] {
		t.Error("terms don't depend on the guild")
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
		wrapped, err := key.Wrap(bytes.Repeat([]byte{9}, KeyBytes))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := secret.Key("salt").Unwrap(wrapped); err != nil || data[0] != 9 {
			t.Errorf("unwrap: %v", err)
		}
		other, _ := ParseSecret(NewKey())
		if _, err := other.Key("salt").Unwrap(wrapped); !errors.Is(err, ErrChanged) ||
			other.Key("salt").Fingerprint() == key.Fingerprint() {
			t.Errorf("another key: %v", err)
		}
	}
	if a, _ := ParseSecret("correct horse battery staple"); a.Key("one").Fingerprint() == a.Key("two").Fingerprint() {
		t.Error("a salt changes nothing of a passphrase's key")
	}
}
