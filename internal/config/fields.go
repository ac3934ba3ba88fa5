package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// field is one setting: a place in a Config and its names.
type field struct {
	key     string // as in "llm.model"
	item    int    // of a list, the part that it is in, from 1; else 0
	help    string
	example string // for one that has no default
	to      any    // a pointer to its place
	inTable bool   // it is part of a table, which has no variables and is told of as a whole
}

// env is the variable that overrides the field.
func (f field) env() string {
	return "HARK_" + strings.ToUpper(strings.ReplaceAll(f.key, ".", "_"))
}

func (f field) secret() bool {
	switch f.to.(type) {
	case *Secret, *Headers:
		return true
	}
	return false
}

// place is the field's key, and which part of a list it is in.
func (f field) place() string { return itemKey(f.key, f.item) }

func itemKey(key string, item int) string {
	if item == 0 {
		return key
	}
	return key + "[" + strconv.Itoa(item) + "]"
}

// section is a titled group of settings; the first has no name, and those that are parts of a table have no title. A table has
// an example.
type section struct {
	name, help, example string
	fields              []field
	lists               []list
}

// list is a setting of any number of parts, each a section of its own that is written [[key]]. Its fields have no variables.
type list struct {
	key, help string
	to        reflect.Value // the slice of its parts
}

// sectionsOf are the settings of c, in order.
func sectionsOf(c *Config) []section {
	return appendSections(nil, section{}, 0, reflect.ValueOf(c).Elem())
}

// appendSections adds s, whose settings are those of v, and the sections in it. item is the part of a list that v is, or 0.
func appendSections(all []section, s section, item int, v reflect.Value) []section {
	at := len(all)
	all = append(all, s)
	for t, value := range v.Fields() {
		key := within(s.name, t.Tag.Get("toml"))
		help, example := t.Tag.Get("help"), t.Tag.Get("example")
		switch {
		case isSection(t.Type):
			all = appendSections(all, section{name: key, help: help}, item, value)
		case isTable(t.Type):
			all = appendTable(all, section{name: key, help: help, example: example}, value)
		case isList(t.Type):
			all[at].lists = append(all[at].lists, list{key, help, value})
		default:
			all[at].fields = append(all[at].fields, field{key, item, help, example, value.Addr().Interface(), false})
		}
	}
	return all
}

// appendTable adds s, a table whose parts are texts or sections.
func appendTable(all []section, s section, v reflect.Value) []section {
	at := len(all)
	all = append(all, s)
	for _, name := range tableNames(v) {
		part := v.MapIndex(reflect.ValueOf(name))
		if part.Type().Elem().Kind() != reflect.Struct {
			all[at].fields = append(all[at].fields, field{key: within(s.name, name), to: part.Interface(), inTable: true})
			continue
		}
		n := len(all)
		all = appendSections(all, section{name: within(s.name, name)}, 0, part.Elem())
		for i := range all[n].fields {
			all[n].fields[i].inTable = true
		}
	}
	return all
}

// within is the key of a setting in a section.
func within(section, name string) string { return strings.TrimPrefix(section+"."+name, ".") }

// fieldsOf lists every setting of c, in order.
func fieldsOf(c *Config) []field { return fieldsIn(sectionsOf(c)) }

func fieldsIn(all []section) (fields []field) {
	for _, s := range all {
		fields = append(fields, s.fields...)
	}
	return fields
}

// listsOf lists every list of c, in order.
func listsOf(c *Config) (lists []list) {
	for _, s := range sectionsOf(c) {
		lists = append(lists, s.lists...)
	}
	return lists
}

// grow makes a list of n parts, empty still, and returns their fields.
func (l list) grow(n int) (fields []field) {
	l.to.Set(reflect.MakeSlice(l.to.Type(), n, n))
	for i := range n {
		fields = append(fields, l.part(i+1, l.to.Index(i))...)
	}
	return fields
}

// fields are those of an empty part.
func (l list) fields() []field { return l.part(0, reflect.New(l.to.Type().Elem()).Elem()) }

// part are the fields of a part.
func (l list) part(item int, v reflect.Value) []field {
	return fieldsIn(appendSections(nil, section{name: l.key}, item, v))
}

func tableNames(v reflect.Value) (names []string) {
	for _, name := range v.MapKeys() {
		names = append(names, name.String())
	}
	slices.Sort(names)
	return names
}

// isTable reports whether a type has parts of known names, each by a pointer.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Pointer
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]() && t != reflect.TypeFor[Duration]()
}

// set stores a value as TOML gives it, if it is of the field's type.
func (f field) set(value any) (ok bool) {
	switch to := f.to.(type) {
	case *string:
		*to, ok = value.(string)
	case *Secret:
		var text string
		text, ok = value.(string)
		*to = NewSecret(strings.TrimSpace(text))
	case *bool:
		*to, ok = value.(bool)
	case *int:
		var n int64
		n, ok = value.(int64)
		*to = int(n)
	case **int:
		var n int64
		n, ok = value.(int64)
		i := int(n)
		*to = &i
	case **float64:
		var x float64
		x, ok = number(value)
		*to = &x
	case *Duration:
		to.Duration, ok = duration(value)
	case *Headers:
		*to, ok = headersOf(value)
	}
	return ok
}

// wants says what values the field has.
func (f field) wants() string {
	switch f.to.(type) {
	case *bool:
		return "true or false, without quotes"
	case *int, **int:
		return "a whole number, without quotes"
	case **float64:
		return "a number, without quotes"
	case *Headers:
		return `a table of texts, such as { "X-Title" = "Hark" }`
	case *Duration:
		return `a time with its unit, such as "90s", "1h30m" or "30d"`
	}
	return "text in quotes"
}

func number(value any) (float64, bool) {
	if n, ok := value.(int64); ok {
		return float64(n), true
	}
	x, ok := value.(float64)
	return x, ok
}

func duration(value any) (time.Duration, bool) {
	if n, ok := value.(int64); ok && n == 0 {
		return 0, true
	}
	text, ok := value.(string)
	if !ok {
		return 0, false
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// fromText is text as the TOML value that the field wants, or text itself where it isn't one.
func (f field) fromText(text string) any {
	switch f.to.(type) {
	case *bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case *int, **int:
		if n, err := strconv.ParseInt(text, 10, 0); err == nil {
			return n
		}
	case **float64:
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return x
		}
	}
	return text
}

// toml is the field's present value as TOML writes it; "" if it has none.
func (f field) toml() string {
	switch to := f.to.(type) {
	case *string:
		return strconv.Quote(*to)
	case *Secret:
		return `""`
	case *bool:
		return strconv.FormatBool(*to)
	case *int:
		return strconv.Itoa(*to)
	case *Duration:
		return strconv.Quote(brief(to.Duration))
	}
	return ""
}

// brief is d as people write it: "30m" rather than "30m0s".
func brief(d time.Duration) string {
	if d > 0 && d%(24*time.Hour) == 0 {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	s := d.String()
	for _, tail := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, tail) {
			s = s[:len(s)-2]
		}
	}
	return s
}
