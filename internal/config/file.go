package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// parse takes the settings from a file's text. The values come from the decoder, which knows all of TOML's
// rules; the positions come from the parser, for the decoder tells them for its own errors only.
func (s *settings) parse(path string, data []byte) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	f := file{settings: s, path: path, data: data, item: map[string]int{}}
	if err := toml.Unmarshal(data, &f.tree); err != nil {
		f.syntax(err)
		return
	}
	for _, l := range s.lists {
		if items, ok := f.value(strings.Split(l.key, ".")).([]any); ok {
			f.items = append(f.items, l.grow(len(items))...)
		}
	}
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		f.expression(p.Expression())
	}
}

// file is a TOML file while it is read.
type file struct {
	*settings
	path  string
	data  []byte
	tree  map[string]any
	items []field        // of the parts of lists
	item  map[string]int // by list: which part is being read, from 1
	table []string       // the table whose keys are being read
	skip  bool           // set in a table that isn't one of Hark's, or has been read
}

func (f *file) syntax(err error) {
	where := f.path
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := at.Position()
		where = fmt.Sprintf("%s:%d:%d", f.path, line, column)
	}
	f.problem(where, "%s", strings.TrimPrefix(err.Error(), "toml: "))
}

func (f *file) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		key, where := f.key(n)
		f.table = key
		full := name(key)
		if n.Kind == unstable.ArrayTable && f.isList(full) {
			f.skip = false
			f.next(full, where)
			return
		}
		if f.skip = f.headers(key, where) || !f.isTable(key, where); f.skip {
			return
		}
		if n.Kind == unstable.ArrayTable {
			f.skip = true
			f.problem(where, "%s wants a single section: write [%[1]s]", full)
		}
	case unstable.KeyValue:
		if !f.skip {
			f.keyValue(f.table, n)
		}
	}
}

func (f *file) isList(key string) bool {
	return slices.ContainsFunc(f.lists, func(l list) bool { return l.key == key })
}

// next begins a list's next part.
func (f *file) next(list, where string) {
	f.item[list]++
	f.from[itemKey(list, f.item[list])] = where
}

// headers sets the headers that key is, or is of, and reports whether there are such.
func (f *file) headers(key []string, where string) bool {
	for n := range key {
		if at, ok := f.find(name(key[:n+1])); ok {
			if _, ok := at.to.(*Headers); ok {
				f.set(at, f.value(key[:n+1]), where)
				return true
			}
		}
	}
	return false
}

// isTable reports whether key is a section, and notes a problem if it isn't.
func (f *file) isTable(key []string, where string) bool {
	full := name(key)
	known := sectionsOf(new(Default()))[1:]
	if slices.ContainsFunc(known, func(s section) bool { return s.name == full }) {
		return true
	}
	if f.isList(full) {
		f.problem(where, "%s wants a section for each: write [[%[1]s]]", full)
		return false
	}
	if at, ok := f.find(full); ok {
		f.problem(where, "%s wants %s, not a section", full, at.wants())
		return false
	}
	names := make([]string, len(known))
	for i, s := range known {
		names[i] = s.name
	}
	for _, l := range f.lists {
		names = append(names, l.key)
	}
	best := nearest(full, names)
	if f.isList(best) {
		best = "[" + best + "]"
	}
	f.problem(where, "unknown section [%s]; did you mean [%s]?", full, best)
	return false
}

func (f *file) keyValue(table []string, n *unstable.Node) {
	own, where := f.key(n)
	key := slices.Concat(table, own)
	full := name(key)
	if f.headers(key, where) {
		return
	}
	at, known := f.find(full)
	switch {
	case known:
		f.set(at, f.value(key), where)
	case f.isList(full):
		f.array(key, n.Value(), where)
	case n.Value().Kind == unstable.InlineTable:
		if f.isTable(key, where) {
			f.inline(key, n.Value())
		}
	case slices.ContainsFunc(sectionsOf(new(Default()))[1:], func(s section) bool { return s.name == full }):
		f.problem(where, "%s is a section: write [%[1]s] and its keys below", full)
	default:
		f.problem(where, "unknown key %s; did you mean %s?", full, nearest(full, f.keys()))
	}
}

func (f *file) inline(table []string, n *unstable.Node) {
	for it := n.Children(); it.Next(); {
		f.keyValue(table, it.Node())
	}
}

// array reads a list that is written as an array of tables.
func (f *file) array(key []string, n *unstable.Node, where string) {
	for it := n.Children(); n.Kind == unstable.Array && it.Next(); {
		f.next(name(key), where)
		if it.Node().Kind != unstable.InlineTable {
			n = it.Node()
			break
		}
		f.inline(key, it.Node())
	}
	if n.Kind != unstable.Array {
		f.problem(where, "%s wants a section for each: write [[%[1]s]]", name(key))
	}
}

// key is the node's own key, without that of its table, and where it stands.
func (f *file) key(n *unstable.Node) (key []string, where string) {
	offset := -1
	for it := n.Key(); it.Next(); {
		if offset < 0 {
			offset = int(it.Node().Raw.Offset)
		}
		key = append(key, string(it.Node().Data))
	}
	before := f.data[:offset]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := offset - bytes.LastIndexByte(before, '\n')
	return key, fmt.Sprintf("%s:%d:%d", f.path, line, column)
}

// value is what the file says of a key, in a list of that part which is being read.
func (f *file) value(key []string) any {
	var v any = f.tree
	for n, part := range key {
		table, _ := v.(map[string]any)
		v = table[part]
		if all, ok := v.([]any); ok && n < len(key)-1 {
			v = nil
			if item := f.item[name(key[:n+1])]; 0 < item && item <= len(all) {
				v = all[item-1]
			}
		}
	}
	return v
}

// find is the setting of that key, in a list of the part that is being read.
func (f *file) find(key string) (field, bool) {
	if i := f.settings.find(key); i >= 0 {
		return f.fields[i], true
	}
	for _, at := range f.items {
		if at.key == key && at.item == f.item[key[:strings.LastIndexByte(key, '.')]] {
			return at, true
		}
	}
	return field{}, false
}

func (s *settings) find(key string) int {
	return slices.IndexFunc(s.fields, func(f field) bool { return f.key == key })
}

func (s *settings) keys() []string {
	var keys []string
	for _, f := range s.fields {
		keys = append(keys, f.key)
	}
	for _, l := range s.lists {
		for _, f := range l.fields() {
			keys = append(keys, f.key)
		}
	}
	return keys
}

// name is a key as one writes it, in which a part with a dot of its own has quotes.
func name(key []string) string {
	parts := make([]string, len(key))
	for i, part := range key {
		parts[i] = part
		if part == "" || strings.Trim(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			parts[i] = strconv.Quote(part)
		}
	}
	return strings.Join(parts, ".")
}
