package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// field is one setting: a place in a Config and its names.
type field struct {
	key     string // as in "llm.model"
	help    string
	example string // for one that has no default
	to      any    // a pointer to its place
}

// env is the variable that overrides the field.
func (f field) env() string {
	return "HARK_" + strings.ToUpper(strings.ReplaceAll(f.key, ".", "_"))
}

func (f field) secret() bool { _, ok := f.to.(*Secret); return ok }

// section is a titled group of fields; the first has no name.
type section struct{ name, help string }

// fieldsOf lists every setting of c, in order.
func fieldsOf(c *Config) []field {
	return appendFields(nil, "", reflect.ValueOf(c).Elem())
}

func appendFields(fields []field, prefix string, v reflect.Value) []field {
	for t, value := range v.Fields() {
		key := prefix + t.Tag.Get("toml")
		if isSection(t.Type) {
			fields = appendFields(fields, key+".", value)
			continue
		}
		fields = append(fields, field{key, t.Tag.Get("help"), t.Tag.Get("example"), value.Addr().Interface()})
	}
	return fields
}

// sections lists the groups of a Config, in order.
func sections() []section {
	return appendSections([]section{{}}, "", reflect.TypeFor[Config]())
}

func appendSections(list []section, prefix string, in reflect.Type) []section {
	for t := range in.Fields() {
		if isSection(t.Type) {
			name := prefix + t.Tag.Get("toml")
			list = appendSections(append(list, section{name, t.Tag.Get("help")}), name+".", t.Type)
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
