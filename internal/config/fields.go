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

// section is a titled group of fields; the first has no name. A table has an example.
type section struct{ name, help, example string }

// fieldsOf lists every setting of c, in order.
func fieldsOf(c *Config) []field {
	return appendFields(nil, "", 0, reflect.ValueOf(c).Elem())
}

func appendFields(fields []field, prefix string, item int, v reflect.Value) []field {
	for t, value := range v.Fields() {
		key := prefix + t.Tag.Get("toml")
		switch {
		case isSection(t.Type):
			fields = appendFields(fields, key+".", item, value)
		case isTable(t.Type):
			fields = appendTable(fields, key+".", value)
		case !isList(t.Type):
			fields = append(fields, field{key, item, t.Tag.Get("help"), t.Tag.Get("example"), value.Addr().Interface(), false})
		}
	}
	return fields
}

// appendTable adds the fields of a table, whose parts are texts or sections.
func appendTable(fields []field, prefix string, v reflect.Value) []field {
	for _, name := range tableNames(v) {
		part := v.MapIndex(reflect.ValueOf(name))
		if part.Type().Elem().Kind() != reflect.Struct {
			fields = append(fields, field{key: prefix + name, to: part.Interface(), inTable: true})
			continue
		}
		n := len(fields)
		fields = appendFields(fields, prefix+name+".", 0, part.Elem())
		for i := range fields[n:] {
			fields[n+i].inTable = true
		}
	}
	return fields
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

// list is a setting of any number of parts, each a section of its own that is written [[key]]. Its fields have no variables.
type list struct {
	key, help string
	to        reflect.Value // the slice of its parts
}

// listsOf lists every list of c, in order.
func listsOf(c *Config) []list { return appendLists(nil, "", reflect.ValueOf(c).Elem()) }

func appendLists(lists []list, prefix string, v reflect.Value) []list {
	for t, value := range v.Fields() {
		key := prefix + t.Tag.Get("toml")
		switch {
		case isList(t.Type):
			lists = append(lists, list{key, t.Tag.Get("help"), value})
		case isSection(t.Type):
			lists = appendLists(lists, key+".", value)
		}
	}
	return lists
}

// grow makes a list of n parts, empty still, and returns their fields.
func (l list) grow(n int) (fields []field) {
	l.to.Set(reflect.MakeSlice(l.to.Type(), n, n))
	for i := range n {
		fields = appendFields(fields, l.key+".", i+1, l.to.Index(i))
	}
	return fields
}

// fields are those of an empty part.
func (l list) fields() []field {
	return appendFields(nil, l.key+".", 0, reflect.New(l.to.Type().Elem()).Elem())
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

// sections lists the groups of a Config, in order.
func sections() []section {
	c := Default()
	return appendSections([]section{{}}, "", reflect.ValueOf(c))
}

func appendSections(list []section, prefix string, in reflect.Value) []section {
	for t, value := range in.Fields() {
		name := prefix + t.Tag.Get("toml")
		switch {
		case isSection(t.Type):
			list = appendSections(append(list, section{name: name, help: t.Tag.Get("help")}), name+".", value)
		case isTable(t.Type):
			list = append(list, section{name, t.Tag.Get("help"), t.Tag.Get("example")})
			for _, part := range tableNames(value) {
				if t.Type.Elem().Elem().Kind() == reflect.Struct {
					list = append(list, section{name: name + "." + part})
				}
			}
		}
	}
	return list
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
