package stream

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Each of these returns the zero value for JSON of another kind: a field of a wrong type costs only itself.

func objectOf(raw []byte) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	return fields
}

func listOf(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list)
	return list
}

func textOf(raw json.RawMessage) string {
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
