package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Extra are further fields of the body of requests to a model, each value as JSON. Their values may be secret.
type Extra map[string]Secret

// Names returns the fields' names, in order.
func (e Extra) Names() []string { return slices.Sorted(maps.Keys(e)) }

// Reveal returns the fields with their values, as encoding/json decodes them, numbers as json.Number; nil if there
// are none.
func (e Extra) Reveal() map[string]any {
	if len(e) == 0 {
		return nil
	}
	all := make(map[string]any, len(e))
	for name, value := range e {
		d := json.NewDecoder(strings.NewReader(value.Reveal()))
		d.UseNumber()
		var decoded any
		err := d.Decode(&decoded)
		if err != nil { // extraOf has encoded it
			continue
		}
		all[name] = decoded
	}
	return all
}

// extraOf reads a table of values that JSON has.
func extraOf(value any) (Extra, bool) {
	said, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	extra := Extra{}
	for name, one := range said {
		encoded, err := json.Marshal(one)
		if err != nil { // such as infinity
			return nil, false
		}
		extra[name] = NewSecret(string(encoded))
	}
	return extra, true
}

// extraFromText returns the table that text writes, a JSON object or TOML's table in one line; false if it is none.
func extraFromText(text string) (map[string]any, bool) {
	text = strings.TrimSpace(text)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var object map[string]any
	err := d.Decode(&object)
	if err == nil {
		rest := bytes.TrimSpace([]byte(text)[d.InputOffset():])
		return object, object != nil && len(rest) == 0
	}
	var written struct {
		Table map[string]any `toml:"table"`
	}
	err = toml.NewDecoder(strings.NewReader("table = " + text)).DisallowUnknownFields().Decode(&written)
	return written.Table, err == nil && strings.HasPrefix(text, "{")
}
