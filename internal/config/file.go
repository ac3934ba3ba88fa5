package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parse takes the settings from a file's text: values from the decoder, which knows TOML's rules, and positions from
// the parser, because the decoder has them only for its own errors.
func (s *settings) parse(path string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	f := file{settings: s, path: path}
	var tree map[string]any
	err := toml.Unmarshal(data, &tree)
	if err != nil {
		where, says := f.syntax(data, err)
		s.problem(where, "%s", says)
		return
	}
	f.at = newMarks(data).at
	for place, m := range f.at {
		s.from[place] = f.position(m)
	}
	f.table("", "", reflect.ValueOf(s.config).Elem(), tree)
	slices.SortStableFunc(f.found, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column))
	})
	for _, p := range f.found {
		s.problem(f.position(p.at), "%s", p.says)
	}
}

type file struct {
	*settings
	path  string
	at    map[string]mark // see marks
	found []problem
}

type problem struct {
	at   mark
	says string
}

// syntax returns where data isn't TOML, and what is wrong there.
func (f *file) syntax(data []byte, err error) (where, says string) {
	other := notTOML(data)
	if other != "" {
		return f.position(mark{line: 1, column: 1}), other
	}
	says = strings.TrimPrefix(err.Error(), "toml: ")
	at, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return f.path, says
	}
	line, column := at.Position()
	where = f.position(mark{line: line, column: column})
	before, known := newMarks(data).at[tableTwice(says)]
	if known && before.header {
		return where, fmt.Sprintf("this section began in line %d: put all its keys there", before.line)
	}
	return where, newSlip(data, line, column, says).explain()
}

func (f *file) position(m mark) string { return fmt.Sprintf("%s:%d:%d", f.path, m.line, m.column) }

// wrong notes a problem at a place of a setting.
func (f *file) wrong(place, format string, args ...any) {
	f.found = append(f.found, problem{f.at[place], fmt.Sprintf(format, args...)})
}

// table sets v, a section or a table, to said.
func (f *file) table(key, place string, v reflect.Value, said map[string]any) {
	for own, value := range said {
		part := quoted(own)
		if v.Kind() == reflect.Map {
			if to := reflect.New(v.Type().Elem()).Elem(); slices.Contains(v.Interface().(table).names(), own) {
				f.take(within(key, part), within(place, part), to, "", value)
				v.SetMapIndex(reflect.ValueOf(own), to)
				continue
			}
		} else if to, tag := fieldOf(v, own); to.IsValid() {
			f.take(within(key, part), within(place, part), to, tag, value)
			continue
		}
		f.unknown(within(key, part), within(place, part), value)
	}
}

// fieldOf returns the field of v with that name in a file, and its tag; the zero Value if there is none.
func fieldOf(v reflect.Value, name string) (reflect.Value, reflect.StructTag) {
	for t, value := range v.Fields() {
		if name != "" && t.Tag.Get("toml") == name {
			return value, t.Tag
		}
	}
	return reflect.Value{}, ""
}

// take sets v, a field with that tag, to said.
func (f *file) take(key, place string, v reflect.Value, tag reflect.StructTag, said any) {
	all, isArray := said.([]any)
	one, isTable := said.(map[string]any)
	_, known := v.Interface().(table)
	switch header := f.at[place].header; {
	case isList(v.Type()):
		v.Set(reflect.MakeSlice(v.Type(), len(all), len(all)))
		for i, item := range all {
			part, is := item.(map[string]any)
			isArray = is
			if !is {
				break
			}
			f.table(key, itemOf(place, i+1), v.Index(i), part)
		}
		if !isArray {
			f.wrong(place, "%s wants a section for each: write [[%[1]s]]", key)
		}
	case !known && !isSection(v.Type()):
		f.value(field{key, tag, v.Addr().Interface()}, place, said, header)
	case isTable:
		f.table(key, place, v, one)
	case isArray && header:
		f.wrong(place, "%s wants a single section: write [%[1]s]", key)
	default:
		f.wrong(place, "%s is a section: write [%[1]s] and its keys below", key)
	}
}

func (f *file) value(to field, place string, said any, header bool) {
	if to.set(said) {
		if secret, is := to.to.(secretive); is && secret.IsSet() {
			f.secrets[to.key] = true
		}
		return
	}
	what := to.wants()
	off, isBool := said.(bool)
	choices := to.choices()
	if isBool && !off && len(choices) > 0 {
		what += meant("false", choices)
	}
	switch to.to.(type) {
	case *Headers, *Variables, *Extra:
	default:
		if header {
			what += ", not a section"
		}
	}
	f.wrong(place, "%s wants %s", to.key, what)
}

// unknown notes an unknown key, with the nearest known one or with all that there are.
func (f *file) unknown(key, place string, said any) {
	var keys, names, tables []string
	listed := map[string]bool{}
	for _, s := range sectionsOf(new(Default())) {
		if s.name != "" {
			names = append(names, s.name)
			listed[s.name] = s.list
		}
		for _, field := range s.fields {
			keys = append(keys, field.key)
			if field.isTable() {
				tables = append(tables, field.key)
			}
		}
	}
	own := strings.Trim(last(key), `"`)
	if strings.HasPrefix(own, "HARK_") {
		f.wrong(place, "%s", inFile(own))
		return
	}
	header := func(name string) string {
		if listed[name] {
			return "[[" + name + "]]"
		}
		return "[" + name + "]"
	}
	if _, isTable := said.(map[string]any); !isTable && !f.at[place].header {
		f.wrong(place, "unknown key %s; %s", key, instead(key, keys, header))
		return
	}
	near, ok := nearest(key, tables)
	if ok && sectionOf(near) == sectionOf(key) {
		f.wrong(place, "unknown key %s; did you mean %s?", key, near)
		return
	}
	best, ok := nearest(key, names)
	if ok {
		f.wrong(place, "unknown section [%s]; did you mean %s?", key, header(best))
		return
	}
	isPart := func(name string) bool { return strings.Contains(name, ".") }
	for i, name := range names {
		names[i] = header(name)
	}
	f.wrong(place, "unknown section [%s]; there are %s", key, listOf(slices.DeleteFunc(names, isPart)))
}

// instead says what may stand in place of an unknown key: the nearest, or all of its section.
func instead(key string, known []string, header func(section string) string) string {
	near, ok := nearest(key, known)
	if ok {
		return "did you mean " + near + "?"
	}
	var own []string
	for _, k := range known {
		if sectionOf(k) == sectionOf(key) {
			own = append(own, last(k))
		}
	}
	if sectionOf(key) == "" {
		return "above all sections there are " + listOf(own)
	}
	return header(sectionOf(key)) + " has " + listOf(own)
}

// listOf joins names as a sentence has them.
func listOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	end := len(names) - 1
	return strings.Join(names[:end], ", ") + " and " + names[end]
}

// marks are the positions of keys in a file, by place, such as "llm.models[2].name".
type marks struct {
	data  []byte
	at    map[string]mark
	items map[string]int // by a list's place: the part being read, from 1
}

// mark is the first position of a key, or of its section's header.
type mark struct {
	line, column, offset int
	header               bool           // it is a section's
	value                unstable.Range // of its value; empty for tables and lists
}

// newMarks returns the marks of a file, up to the first syntax error.
func newMarks(data []byte) *marks {
	m := &marks{
		data:  data,
		at:    map[string]mark{},
		items: map[string]int{},
	}
	var p unstable.Parser
	p.Reset(m.data)
	section := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			section = m.key("", e, true)
		case unstable.ArrayTable:
			place := m.key("", e, true)
			section = m.next(place, m.at[place])
		case unstable.KeyValue:
			m.keyValue(section, e)
		}
	}
	return m
}

// key marks a key and the sections above it, and returns its place.
func (m *marks) key(place string, n *unstable.Node, header bool) string {
	var where mark
	for it := n.Key(); it.Next(); {
		if where.line == 0 {
			before := m.data[:it.Node().Raw.Offset]
			where = mark{
				line:   1 + bytes.Count(before, []byte("\n")),
				offset: len(before),
				column: len(before) - bytes.LastIndexByte(before, '\n'),
			}
		}
		if item := m.items[place]; item > 0 {
			place = itemOf(place, item)
		}
		place = within(place, quoted(string(it.Node().Data)))
		where.header = header && it.IsLast()
		if old, known := m.at[place]; !known || where.header && !old.header {
			m.at[place] = where
		}
	}
	return place
}

func (m *marks) next(list string, where mark) string {
	m.items[list]++
	place := itemOf(list, m.items[list])
	m.at[place] = where
	return place
}

func (m *marks) keyValue(section string, n *unstable.Node) {
	place := m.key(section, n, false)
	switch value := n.Value(); value.Kind {
	case unstable.InlineTable:
		m.inline(place, value)
	case unstable.Array:
		for it := value.Children(); it.Next(); {
			if it.Node().Kind == unstable.InlineTable {
				m.inline(m.next(place, m.at[place]), it.Node())
			}
		}
	default:
		at := m.at[place]
		at.value = value.Raw
		m.at[place] = at
	}
}

func (m *marks) inline(place string, n *unstable.Node) {
	for it := n.Children(); it.Next(); {
		m.keyValue(place, it.Node())
	}
}

// quoted returns a part of a key as TOML writes it.
func quoted(part string) string {
	if part == "" || strings.Trim(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return strconv.Quote(part)
	}
	return part
}
