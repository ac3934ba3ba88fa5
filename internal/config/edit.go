package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"hark/internal/atomicfile"
)

// SecretsIn are the keys of the secrets that the file at path holds itself, in order. What else is in it may be wrong.
func SecretsIn(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	s := newSettings(new(Default()))
	s.parse(path, data)
	return slices.Sorted(maps.Keys(s.secrets)), nil
}

// Value is what a key is to be: a string or an int.
type Value struct {
	Key string // such as "llm.model"
	To  any
}

// Edit is a file's text with values in place of what it says of their keys, and added where it says nothing. All else stays
// as it is, comments too. The error is of a file that says it in a way that can't be changed so.
func Edit(text string, values []Value) (string, error) {
	for _, v := range values {
		edited, err := edit(text, v)
		if err != nil {
			return "", fmt.Errorf("change %s: %w", v.Key, err)
		}
		text = edited
	}
	var tree map[string]any
	if err := toml.Unmarshal([]byte(text), &tree); err != nil {
		return "", errCannotEdit
	}
	for _, v := range values {
		if fmt.Sprint(at(tree, strings.Split(v.Key, "."))) != fmt.Sprint(v.To) {
			return "", fmt.Errorf("change %s: %w", v.Key, errCannotEdit)
		}
	}
	return text, nil
}

var errCannotEdit = errors.New("the file is written in a way that can't be changed here: put the key into its section by hand")

// at is what lies at a key.
func at(tree any, key []string) any {
	for _, part := range key {
		table, _ := tree.(map[string]any)
		tree = table[part]
	}
	return tree
}

// edit sets one key.
func edit(text string, v Value) (string, error) {
	value, err := tomlValue(v.To)
	if err != nil {
		return "", err
	}
	dot := strings.LastIndexByte(v.Key, '.')
	section, key := v.Key[:max(dot, 0)], v.Key[dot+1:]
	var p unstable.Parser
	p.Reset([]byte(text))
	table, header := "", -1
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var end int
			table, end = keyOf(e)
			if e.Kind == unstable.ArrayTable {
				table += "[]"
			}
			if table == section {
				header = end
			}
		case unstable.KeyValue:
			own, _ := keyOf(e)
			if full := strings.TrimPrefix(table+"."+own, "."); full != v.Key {
				continue
			}
			from, to, ok := rangeOf(text, e.Value())
			if !ok {
				return "", errCannotEdit
			}
			return text[:from] + value + text[to:], nil
		}
	}
	if err := p.Error(); err != nil {
		return "", fmt.Errorf("read the file: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	line := key + " = " + value + "\n"
	switch {
	case section == "":
		return line + text, nil
	case header >= 0:
		if end := strings.IndexByte(text[header:], '\n'); end >= 0 {
			return text[:header+end+1] + line + text[header+end+1:], nil
		}
		return text + "\n" + line, nil
	}
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	return text + "[" + section + "]\n" + line, nil
}

// keyOf is the name that an expression has, and where it ends in the text.
func keyOf(e *unstable.Node) (key string, end int) {
	var parts []string
	for it := e.Key(); it.Next(); {
		parts = append(parts, quoted(string(it.Node().Data)))
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	return strings.Join(parts, "."), end
}

// rangeOf is where a text, a number or a switch stands.
func rangeOf(text string, n *unstable.Node) (from, to int, ok bool) {
	if n.Raw.Length > 0 {
		from = int(n.Raw.Offset)
		return from, from + int(n.Raw.Length), true
	}
	// The parser tells no range of what it didn't have to copy: then its data is a part of the text.
	if i := bytes.Index([]byte(text), n.Data); i >= 0 && strings.Count(text, string(n.Data)) == 1 {
		return i, i + len(n.Data), true
	}
	return 0, 0, false
}

func tomlValue(v any) (string, error) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), nil
	case string:
		encoded, err := toml.Marshal(map[string]string{"v": v})
		_, value, _ := strings.Cut(strings.TrimSuffix(string(encoded), "\n"), " = ")
		return value, err
	}
	return "", fmt.Errorf("a %T can't be written", v)
}

// Write puts text into the file at path, which only its owner can read. Cut short, it leaves the file as it was.
func Write(path, text string) error {
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		path = linked
	}
	err := atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}
