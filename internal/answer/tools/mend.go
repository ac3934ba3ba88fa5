package tools

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// Models write arguments wrongly in ways that leave no doubt about what they mean: "3" for 3, "" for what they leave
// out, a list of one for a value. Such arguments are mended as the schema says. Where it names no type, nothing is
// guessed.

// mended returns the arguments of a call as a JSON schema has them; as written if nothing can be mended.
func mended(schema any, written string) string {
	if strings.TrimSpace(written) == "" {
		return "{}" // as some models write no arguments
	}
	value, ok := decoded(written)
	if !ok {
		return written
	}
	m := mender{root: schema}
	args, is := m.whole(value).(map[string]any)
	if !is {
		return written
	}
	m.object(schema, args)
	if !m.changed {
		return written
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(args) != nil {
		return written
	}
	return strings.TrimSpace(b.String())
}

// decoded returns a JSON value, with numbers as written.
func decoded(written string) (value any, ok bool) {
	d := json.NewDecoder(strings.NewReader(written))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	return value, true
}

// mender mends the arguments of one call.
type mender struct {
	root    any // the whole schema, to which references lead
	changed bool
}

// wrappers are fields in which models put all arguments.
var wrappers = []string{"arguments", "parameters", "args", "input"}

// whole takes the arguments out of a string that has them as JSON, a list of one, or a field for all of them.
func (m *mender) whole(value any) any {
	const most = 3
	for range most {
		switch v := value.(type) {
		case string:
			inner, ok := decoded(v)
			if !ok {
				return value
			}
			value = inner
		case []any:
			if len(v) != 1 {
				return value
			}
			value = v[0]
		case map[string]any:
			inner := m.wrapped(v)
			if inner == nil {
				return value
			}
			value = inner
		default:
			return value
		}
		m.changed = true
	}
	return value
}

// wrapped returns the arguments in a field that the schema doesn't have; nil if there is none.
func (m *mender) wrapped(args map[string]any) any {
	s := m.resolved(m.root)
	if len(args) != 1 || !isClosed(s) {
		return nil
	}
	for _, name := range wrappers {
		_, isField := fieldsOf(s)[name]
		inner, is := args[name]
		if !is || isField {
			continue
		}
		switch inner.(type) {
		case map[string]any, string:
			return inner
		}
	}
	return nil
}

// object mends the fields of an object in place.
func (m *mender) object(schema any, object map[string]any) {
	s := m.resolved(schema)
	if s == nil {
		return
	}
	fields := fieldsOf(s)
	required, _ := s["required"].([]any)
	for name, value := range object {
		field, is := fields[name]
		if !is {
			if isClosed(s) && isEmpty(value) {
				delete(object, name)
				m.changed = true
			}
			continue
		}
		value = m.value(field, value)
		if !slices.Contains(required, any(name)) && m.isLeftOut(field, value) {
			delete(object, name)
			m.changed = true
			continue
		}
		object[name] = value
	}
}

// value returns a mended value.
func (m *mender) value(schema, value any) any {
	s := m.fitting(schema, value)
	types := m.typesOf(s)
	if len(types) == 0 || fits(types, value) {
		return m.inside(s, value)
	}
	next, ok := m.converted(s, types, value)
	if !ok {
		return value
	}
	m.changed = true
	return m.value(schema, next)
}

// inside mends what is in a value of the right type.
func (m *mender) inside(s map[string]any, value any) any {
	switch v := value.(type) {
	case map[string]any:
		m.object(s, v)
	case []any:
		items := s["items"]
		if _, is := items.(map[string]any); is {
			for i := range v {
				v[i] = m.value(items, v[i])
			}
		}
	case string:
		return m.enumerated(s, v)
	}
	return value
}

// enumerated returns the one of a schema's words that text is in other case or with spaces round it.
func (m *mender) enumerated(s map[string]any, text string) any {
	words, _ := s["enum"].([]any)
	if slices.Contains(words, any(text)) {
		return text
	}
	var same []string
	for _, w := range words {
		word, is := w.(string)
		if is && strings.EqualFold(word, strings.TrimSpace(text)) {
			same = append(same, word)
		}
	}
	if len(same) != 1 {
		return text
	}
	m.changed = true
	return same[0]
}

// converted returns a value as one of types, if it can only mean that.
func (m *mender) converted(s map[string]any, types []string, value any) (next any, ok bool) {
	isList := slices.Contains(types, "array")
	switch v := value.(type) {
	case string:
		next, ok = parsed(types, v)
	case json.Number:
		ok = slices.Contains(types, "string") && !slices.Contains(types, "boolean")
		next = v.String()
		if whole, is := wholeNumber(v.String()); is && slices.Contains(types, "integer") {
			return whole, true
		}
	case []any:
		if len(v) == 1 && !isList {
			return v[0], true
		}
	}
	if ok || !isList || isEmpty(value) {
		return next, ok
	}
	if _, is := s["items"].(map[string]any); !is {
		return nil, false // the kind of its values isn't said
	}
	return []any{value}, true
}

// parsed returns what a text says as JSON, if that is of one of types.
func parsed(types []string, text string) (value any, ok bool) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "true", "false":
		return strings.EqualFold(text, "true"), slices.Contains(types, "boolean")
	case "null", "none":
		return nil, true // it is left out, or refused
	}
	value, ok = decoded(text)
	if _, is := value.(string); is || !ok {
		return nil, false
	}
	if number, is := value.(json.Number); is && !slices.Contains(types, "number") {
		whole, is := wholeNumber(number.String())
		return whole, is && slices.Contains(types, "integer")
	}
	return value, fits(types, value)
}

// wholeNumber returns "3" for "3.0".
func wholeNumber(written string) (json.Number, bool) {
	const most = 40 // characters; 1e999999999 would take long
	n, ok := new(big.Rat).SetString(written[:min(len(written), most)])
	if !ok || len(written) > most || strings.ContainsAny(written, "eE") || !n.IsInt() {
		return "", false
	}
	return json.Number(n.Num().String()), true
}

// fits reports whether a value is of one of types.
func fits(types []string, value any) bool {
	return slices.ContainsFunc(types, func(name string) bool {
		switch v := value.(type) {
		case nil:
			return name == "null"
		case bool:
			return name == "boolean"
		case string:
			return name == "string"
		case json.Number:
			return name == "number" || name == "integer" && !strings.ContainsAny(v.String(), ".eE")
		case []any:
			return name == "array"
		}
		return name == "object"
	})
}

// isLeftOut reports whether a value of an optional field says that there is none: null or a blank text, where the
// field takes no such value.
func (m *mender) isLeftOut(schema, value any) bool {
	s := m.fitting(schema, value)
	types := m.typesOf(s)
	if len(types) == 0 {
		return false
	}
	switch v := value.(type) {
	case nil:
		return !slices.Contains(types, "null")
	case string:
		return strings.TrimSpace(v) == "" && (!slices.Contains(types, "string") || wantsText(s, v))
	case []any:
		return len(v) == 0 && !slices.Contains(types, "array")
	}
	return false
}

// wantsText reports whether a schema of a text doesn't take a blank one.
func wantsText(s map[string]any, blank string) bool {
	words, has := s["enum"].([]any)
	if has {
		return !slices.Contains(words, any(blank))
	}
	if s["format"] != nil || s["pattern"] != nil {
		return true
	}
	least, _ := s["minLength"].(json.Number)
	return least != "" && least != "0"
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// isClosed reports whether a schema of an object takes no other fields than its own.
func isClosed(s map[string]any) bool { return s["additionalProperties"] == false }

func fieldsOf(s map[string]any) map[string]any {
	fields, _ := s["properties"].(map[string]any)
	return fields
}

// fitting returns the schema itself, or of several that it offers the first of the value's type, else the first.
func (m *mender) fitting(schema, value any) map[string]any {
	s := m.resolved(schema)
	choices := choicesOf(s)
	if len(choices) == 0 {
		return s
	}
	for _, c := range choices {
		one := m.resolved(c)
		types := m.typesOf(one)
		if len(types) == 0 || fits(types, value) {
			return one
		}
	}
	var typed []map[string]any // but null
	for _, c := range choices {
		one := m.resolved(c)
		if !slices.Equal(m.typesOf(one), []string{"null"}) {
			typed = append(typed, one)
		}
	}
	if len(typed) == 1 {
		return typed[0]
	}
	return nil // which one is meant would be a guess
}

func choicesOf(s map[string]any) []any {
	for _, key := range []string{"anyOf", "oneOf"} {
		choices, is := s[key].([]any)
		if is {
			return choices
		}
	}
	all, _ := s["allOf"].([]any)
	if len(all) == 1 {
		return all
	}
	return nil
}

// typesOf returns the types that a schema names; none if it doesn't say.
func (m *mender) typesOf(s map[string]any) (types []string) {
	switch v := s["type"].(type) {
	case string:
		return []string{v}
	case []any:
		for _, t := range v {
			name, is := t.(string)
			if !is {
				return nil
			}
			types = append(types, name)
		}
	}
	return types
}

// resolved returns the schema to which a reference within the whole one leads; nil if it isn't there.
func (m *mender) resolved(schema any) map[string]any {
	const most = 10 // they may lead in circles
	for range most {
		s, is := schema.(map[string]any)
		if !is {
			return nil
		}
		reference, is := s["$ref"].(string)
		if !is {
			return s
		}
		path, is := strings.CutPrefix(reference, "#")
		if !is {
			return nil
		}
		schema = m.root
		for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
			if step != "" {
				schema, _ = at(schema, step)
			}
		}
	}
	return nil
}

// at returns a field of a schema by a step of a JSON pointer.
func at(schema any, step string) (any, bool) {
	s, is := schema.(map[string]any)
	if !is {
		return nil, false
	}
	inner, is := s[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	return inner, is
}
