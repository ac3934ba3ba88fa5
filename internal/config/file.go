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
	f := file{settings: s, path: path, data: data}
	if err := toml.Unmarshal(data, &f.tree); err != nil {
		f.syntax(err)
		return
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
	table []string // the table whose keys are being read
	skip  bool     // set in a table that isn't one of Hark's
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
		f.skip = !f.isTable(key, where)
		if !f.skip && n.Kind == unstable.ArrayTable {
			f.skip = true
			f.problem(where, "%s wants a single section: write [%[1]s]", name(key))
		}
	case unstable.KeyValue:
		if !f.skip {
			f.keyValue(f.table, n)
		}
	}
}

// isTable reports whether key is a section, and notes a problem if it isn't.
func (f *file) isTable(key []string, where string) bool {
	full := name(key)
	known := sections()[1:]
	if slices.ContainsFunc(known, func(s section) bool { return s.name == full }) {
		return true
	}
	if i := f.find(full); i >= 0 {
		f.problem(where, "%s wants %s, not a section", full, f.fields[i].wants())
		return false
	}
	names := make([]string, len(known))
	for i, s := range known {
		names[i] = s.name
	}
	f.problem(where, "unknown section [%s]; did you mean [%s]?", full, nearest(full, names))
	return false
}

func (f *file) keyValue(table []string, n *unstable.Node) {
	own, where := f.key(n)
	key := slices.Concat(table, own)
	full := name(key)
	if n.Value().Kind == unstable.InlineTable && f.find(full) < 0 {
		if f.isTable(key, where) {
			for it := n.Value().Children(); it.Next(); {
				f.keyValue(key, it.Node())
			}
		}
		return
	}
	if i := f.find(full); i >= 0 {
		f.set(f.fields[i], f.value(key), where)
		return
	}
	if slices.ContainsFunc(sections()[1:], func(s section) bool { return s.name == full }) {
		f.problem(where, "%s is a section: write [%[1]s] and its keys below", full)
		return
	}
	f.problem(where, "unknown key %s; did you mean %s?", full, nearest(full, f.keys()))
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

func (f *file) value(key []string) any {
	var v any = f.tree
	for _, part := range key {
		table, _ := v.(map[string]any)
		v = table[part]
	}
	return v
}

func (s *settings) find(key string) int {
	return slices.IndexFunc(s.fields, func(f field) bool { return f.key == key })
}

func (s *settings) keys() []string {
	keys := make([]string, len(s.fields))
	for i, f := range s.fields {
		keys[i] = f.key
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
