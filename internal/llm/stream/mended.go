package stream

import (
	"encoding/json"
	"strings"
)

// mended returns the JSON value that text begins with, as models write it that aren't strict: with names in single
// quotes or in none, line ends within texts, commas after the last item, and Python's constants. It returns what
// follows it, too.
func mended(text string) (value json.RawMessage, rest string, is bool) {
	m := mender{text: text}
	for m.at < len(text) {
		m.step()
		if m.depth <= 0 {
			break
		}
	}
	value = json.RawMessage(m.out.String())
	if m.depth != 0 || !json.Valid(value) {
		return nil, "", false
	}
	return value, text[m.at:], true
}

// mender writes a value anew as it reads it.
type mender struct {
	text  string
	at    int
	depth int
	out   strings.Builder
	comma bool // one was read and isn't written yet
}

// step takes a text, a word, or any other character.
func (m *mender) step() {
	b := m.text[m.at]
	switch {
	case b == ',':
		m.comma = true
		m.at++
		return
	case b == '}' || b == ']':
		m.comma = false
		m.depth--
	case b == ' ' || b == '\n' || b == '\r' || b == '\t':
	case m.comma:
		m.out.WriteByte(',')
		m.comma = false
	}
	switch {
	case b == '"' || b == '\'':
		m.takeText(b)
		return
	case isNameByte(b) && (b < '0' || '9' < b):
		m.takeWord()
		return
	case b == '{' || b == '[':
		m.depth++
	}
	m.out.WriteByte(b)
	m.at++
}

// takeText takes a text in quotes.
func (m *mender) takeText(quote byte) {
	m.out.WriteByte('"')
	m.at++
	for m.at < len(m.text) {
		b := m.text[m.at]
		m.at++
		switch {
		case b == quote:
			m.out.WriteByte('"')
			return
		case b == '\\' && m.at < len(m.text):
			if m.text[m.at] != '\'' {
				m.out.WriteByte(b)
			}
			m.out.WriteByte(m.text[m.at])
			m.at++
		case b == '"':
			m.out.WriteString(`\"`)
		case b == '\n':
			m.out.WriteString(`\n`)
		case b < ' ':
			m.out.WriteByte(' ')
		default:
			m.out.WriteByte(b)
		}
	}
}

// takeWord takes a constant, or a name without quotes.
func (m *mender) takeWord() {
	start := m.at
	for m.at < len(m.text) && isNameByte(m.text[m.at]) {
		m.at++
	}
	word := m.text[start:m.at]
	switch word {
	case "true", "false", "null":
		m.out.WriteString(word)
	case "True", "False":
		m.out.WriteString(strings.ToLower(word))
	case "None":
		m.out.WriteString("null")
	default:
		m.out.WriteString(`"` + word + `"`)
	}
}
