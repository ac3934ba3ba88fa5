package config

import (
	_ "embed"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type field struct {
	key string            // as in "llm.model"
	tag reflect.StructTag // empty in a table
	to  any               // a pointer to its place
}

func (f field) help() string { return help()[f.key] }

//go:embed help.txt
var helpText string

// help returns help.txt by key. Each paragraph is a line.
var help = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	key := ""
	for paragraph := range strings.SplitSeq(helpText, "\n\n") {
		if begin, text, ok := strings.Cut(paragraph, "]\n"); ok {
			key = strings.TrimPrefix(begin, "[")
			paragraph = text
		}
		all[key] += strings.ReplaceAll(paragraph, "\n", " ") + "\n"
	}
	delete(all, "") // what the file is
	return all
})

// example returns a sample value for a setting without a default.
func (f field) example() string { return f.tag.Get("example") }

// env returns the variable that overrides the field.
func (f field) env() string {
	return "HARK_" + strings.ToUpper(strings.ReplaceAll(f.key, ".", "_"))
}

func (f field) secret() bool {
	_, is := f.to.(secretive)
	return is
}

// secretive is a value that may hold secrets.
type secretive interface{ IsSet() bool }

// section is a group of settings. The first has no name; those in a table have no help.
type section struct {
	name, help, example string
	list                bool // written as [[name]], any number of times
	fields              []field
}

// table is a map with known keys. Its parts have no variables.
type table interface{ names() []string }

// sectionsOf returns the settings of c, in order.
func sectionsOf(c *Config) []section { return sectionsIn(section{}, reflect.ValueOf(c).Elem()) }

// sectionsIn returns s with the settings of v, and v's own sections.
func sectionsIn(s section, v reflect.Value) []section {
	var below []section
	for of, value := range v.Fields() {
		tag := of.Tag
		if tag.Get("toml") == "" {
			continue
		}
		in := section{name: within(s.name, tag.Get("toml")), example: tag.Get("example")}
		in.help = help()[in.name]
		switch t, is := value.Interface().(table); {
		case is:
			below = append(below, tableOf(in, t, value.Type().Elem())...)
		case isSection(value.Type()):
			below = append(below, sectionsIn(in, value)...)
		case isList(value.Type()):
			in.list = true
			below = append(below, sectionsIn(in, reflect.New(value.Type().Elem()).Elem())...)
		default:
			s.fields = append(s.fields, field{in.name, tag, value.Addr().Interface()})
		}
	}
	return append([]section{s}, below...)
}

// tableOf returns s as a table with parts of a type, and those of its parts that are sections.
func tableOf(s section, t table, part reflect.Type) (all []section) {
	for _, name := range t.names() {
		if empty := reflect.New(part); isSection(part) {
			all = append(all, sectionsIn(section{name: within(s.name, name)}, empty.Elem())...)
		} else {
			s.fields = append(s.fields, field{key: within(s.name, name), to: empty.Interface()})
		}
	}
	return append([]section{s}, all...)
}

// within returns the key of a setting in a section.
func within(section, name string) string { return strings.TrimPrefix(section+"."+name, ".") }

// documented returns the sections and settings with help, so without those in tables.
func documented(c *Config) []section {
	all := slices.DeleteFunc(sectionsOf(c), func(s section) bool { return s.name != "" && s.help == "" })
	for i := range all {
		all[i].fields = slices.DeleteFunc(all[i].fields, func(f field) bool { return f.help() == "" })
	}
	return all
}

// variables returns the settings of c that have variables, in order.
func variables(c *Config) (fields []field) {
	for _, s := range documented(c) {
		if !s.list {
			fields = append(fields, s.fields...)
		}
	}
	return fields
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]() && t != reflect.TypeFor[Duration]()
}

// set stores a TOML value if it has the field's type.
func (f field) set(value any) (ok bool) {
	switch to := f.to.(type) {
	case *string:
		*to, ok = value.(string)
	case **string:
		var text string
		text, ok = value.(string)
		*to = &text
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
		*to = new(int(n))
	case **float64:
		x, isFloat := value.(float64)
		n, isInt := value.(int64)
		*to = new(x + float64(n))
		ok = isFloat || isInt
	case *Shards:
		n, _ := value.(int64)
		*to = Shards(n)
		ok = n > 0 || value == "auto"
	case *Duration:
		to.Duration, ok = duration(value)
	case *Headers:
		*to, ok = headersOf(value)
	case *Extra:
		*to, ok = extraOf(value)
	case *Variables:
		*to, ok = variablesOf(value)
	case *Words:
		*to, ok = wordsOf(value)
	}
	return ok
}

// choices returns the texts that the field may have; none if it may have any.
func (f field) choices() []string {
	known, is := f.tag.Lookup("one")
	if !is {
		return nil
	}
	return strings.Split(known, ",")
}

// anyOf names texts, one of which is wanted.
func anyOf(known []string) string {
	what := strconv.Quote(known[0])
	for _, k := range known[1 : len(known)-1] {
		what += ", " + strconv.Quote(k)
	}
	return what + " or " + strconv.Quote(known[len(known)-1])
}

// isText reports whether the field is any text.
func (f field) isText() bool {
	switch f.to.(type) {
	case *string, *Secret:
		return true
	}
	return false
}

// isTable reports whether the field is a table of anybody's names.
func (f field) isTable() bool {
	switch f.to.(type) {
	case *Headers, *Variables, *Extra:
		return true
	}
	return false
}

// wants describes the values of the field.
func (f field) wants() string {
	known := f.choices()
	if len(known) > 0 {
		return anyOf(known)
	}
	switch f.to.(type) {
	case *bool:
		return "true or false, without quotes"
	case *int, **int:
		return "a whole number, without quotes"
	case **float64:
		return "a number, without quotes"
	case *Headers:
		return `a table of texts, such as { "X-Title" = "Hark" }`
	case *Extra:
		return `a table of texts, numbers, lists and tables, such as { top_k = 40 }`
	case *Variables:
		return `a table of names and texts, such as { WEATHER_KEY = "…" }`
	case *Words:
		return `a list of texts, such as ["-y", "server"]`
	case *Shards:
		return `"auto", or a whole number above 0 without quotes`
	case *Duration:
		return `a time with its unit, such as "90s", "1h30m" or "30d"`
	}
	return "text in quotes"
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

// fromText returns text as the field's TOML value, or unchanged if it isn't one.
func (f field) fromText(text string) any {
	var value any
	var err error
	switch f.to.(type) {
	case *Extra:
		table, is := extraFromText(text)
		if is {
			return table
		}
		return text
	case *bool:
		value, err = strconv.ParseBool(text)
	case *int, **int, *Shards:
		value, err = strconv.ParseInt(text, 10, 0)
	case **float64:
		value, err = strconv.ParseFloat(text, 64)
	case **string:
		if text == `""` { // an empty variable counts as not set
			return ""
		}
		return text
	default:
		return text
	}
	if err != nil {
		return text
	}
	return value
}

// toml returns the field's value in TOML; "" if it has none.
func (f field) toml() string {
	switch to := f.to.(type) {
	case *string:
		return strconv.Quote(*to)
	case **string:
		if *to != nil {
			return strconv.Quote(**to)
		}
	case *Secret:
		return `""`
	case **float64:
		if *to != nil {
			return strconv.FormatFloat(**to, 'f', -1, 64)
		}
	case *bool:
		return strconv.FormatBool(*to)
	case *int:
		return strconv.Itoa(*to)
	case *Shards:
		if *to > 0 {
			return strconv.Itoa(int(*to))
		}
		return strconv.Quote("auto")
	case *Duration:
		return strconv.Quote(brief(to.Duration))
	}
	return ""
}

// brief formats d as people write it: "30m" rather than "30m0s".
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

// Default returns the defaults from the fields' tags.
func Default() Config {
	c := Config{Builder: Builder{Sections: Sections{}, Labels: Labels{}}}
	for _, f := range variables(&c) {
		if text, has := f.tag.Lookup("default"); has {
			f.set(f.fromText(text))
		}
	}
	return c
}
