package stream

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// begin reports whether a value begins with b, so that nothing is decoded in vain.
func begin(raw []byte, b byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == b
}

// objectOf, listOf and textOf return the zero value for JSON of another kind: a field of a wrong type costs only itself.
func objectOf(raw []byte) map[string]json.RawMessage {
	if !begin(raw, '{') {
		return nil
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	return fields
}

func listOf(raw json.RawMessage) []json.RawMessage {
	if !begin(raw, '[') {
		return nil
	}
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	return list
}

func textOf(raw json.RawMessage) string {
	if !begin(raw, '"') {
		return ""
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

// numberOf also takes numbers that are written as texts or with a fraction.
func numberOf(raw json.RawMessage) (n int, is bool) {
	text := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > 1<<40 {
		return 0, false
	}
	return int(f), true
}
