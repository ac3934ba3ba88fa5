package config

import "fmt"

// Secret is a text that prints, logs and marshals as "[set]" or "[not set]".
type Secret struct {
	// A pointer, because fmt doesn't call Format for unexported fields of other types: it shows only the address.
	value *string
}

// NewSecret returns value as a secret, which isn't set if value is empty.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal returns the text; "" if not set.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet reports whether the text isn't empty.
func (s Secret) IsSet() bool { return s.value != nil }

// String returns "[set]" or "[not set]".
func (s Secret) String() string {
	if s.IsSet() {
		return "[set]"
	}
	return "[not set]"
}

// Format prints String under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText returns String, for JSON, TOML and zerolog.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
