package config

import "fmt"

// Secret is a text that must not be seen: it prints, logs and marshals as "[set]" or "[not set]".
type Secret struct {
	// A pointer: where fmt can't call Format, as in another type's unexported field, only an address shows.
	value *string
}

// NewSecret keeps value; an empty one is no secret at all.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal is the text itself; empty if there is none.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsSet reports whether there is one.
func (s Secret) IsSet() bool { return s.value != nil }

// String tells only whether there is one.
func (s Secret) String() string {
	if s.IsSet() {
		return "[set]"
	}
	return "[not set]"
}

// Format prints String under every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText writes String, into JSON, TOML and zerolog alike.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
