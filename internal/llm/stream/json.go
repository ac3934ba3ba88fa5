package stream

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
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
	if err != nil || !(0 <= f && f <= 1<<40) { // it may be no number: NaN
		return 0, false
	}
	return int(f), true
}

// halfEscape matches the first half of a character that is written as two escapes.
var halfEscape = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2})$`)

// halves takes a JSON text from which a server cut a character's second half, and what was left of the one before. It
// returns the text with whole characters, and what is left of this one.
func halves(raw json.RawMessage, left string) (json.RawMessage, string) {
	if !begin(raw, '"') {
		return raw, left
	}
	body := bytes.TrimSpace(raw)
	body = body[1 : len(body)-1]
	if len(body) == 0 {
		return raw, left
	}
	body = append([]byte(left), body...)
	n := tornBytes(body)
	escape := halfEscape.FindSubmatch(body[max(0, len(body)-longestTail):])
	if escape != nil {
		n = len(escape[1])
	}
	whole := append(append([]byte(`"`), body[:len(body)-n]...), '"')
	return whole, string(body[len(body)-n:])
}

// longestTail is how much of a text's end is looked at for half a character, in bytes.
const longestTail = 64

// tornBytes returns how many bytes at the end of text begin a character that isn't whole.
func tornBytes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		b := text[len(text)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// noNumber matches what Python writes for numbers that JSON doesn't have, or a text.
var noNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b`)

// numbered returns JSON with null for numbers that JSON doesn't have.
func numbered(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	return noNumber.ReplaceAllFunc(data, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return []byte("null")
	})
}
