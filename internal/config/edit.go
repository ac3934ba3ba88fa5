package config

import (
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

	"hark/internal/atomicfile"
)

// SecretsIn returns the sorted keys of the secrets in a file, which may have problems.
func SecretsIn(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	s := newSettings(new(Default()))
	s.parse(path, data)
	return slices.Sorted(maps.Keys(s.secrets)), nil
}

// Value is a key's new value.
type Value struct {
	Key string // such as "llm.model"
	To  any    // a string or an int; nil: the key is left out
}

// Edit returns a file's text with values set. All else stays, comments too. It fails if a key is written in a way that
// it can't change.
func Edit(text string, values []Value) (string, error) {
	var want, got map[string]any
	if toml.Unmarshal([]byte(text), &want) != nil {
		return "", errCannotEdit
	}
	for _, v := range values {
		edited, err := edit(text, v)
		if err != nil {
			return "", fmt.Errorf("change %s: %w", v.Key, err)
		}
		text = edited
		want = with(want, strings.Split(v.Key, "."), v.To)
	}
	if toml.Unmarshal([]byte(text), &got) != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		return "", errCannotEdit
	}
	return text, nil
}

// with sets a key in a tree, or leaves it out if value is nil.
func with(tree any, key []string, value any) map[string]any {
	table, _ := tree.(map[string]any)
	if table == nil {
		table = map[string]any{}
	}
	if _, there := table[key[0]]; value == nil && !there {
		return table
	}
	if value == nil && len(key) == 1 {
		delete(table, key[0])
		return table
	}
	if len(key) > 1 {
		value = with(table[key[0]], key[1:], value)
	}
	table[key[0]] = value
	return table
}

var errCannotEdit = errors.New(
	"the file is written in a way that can't be changed here: put the key into its section by hand")

// edit sets one key: in place, in its section, or in a new section. It may fail to; Edit checks the result.
func edit(text string, v Value) (string, error) {
	m := newMarks([]byte(text))
	if v.To == nil {
		return without(text, m.at[v.Key]), nil
	}
	value, err := tomlValue(v.To)
	if err != nil {
		return "", err
	}
	if at := m.at[v.Key].value; at.Length > 0 {
		return text[:at.Offset] + value + text[at.Offset+at.Length:], nil
	}
	dot := strings.LastIndexByte(v.Key, '.')
	section := v.Key[:max(dot, 0)]
	line := v.Key[dot+1:] + " = " + value + "\n"
	switch head := m.at[section]; {
	case section == "":
		return line + text, nil
	case head.header:
		before, after, _ := strings.Cut(text[head.offset:], "\n")
		return text[:head.offset] + before + "\n" + line + after, nil
	case text != "":
		text = strings.TrimRight(text, "\n") + "\n\n"
	}
	return text + "[" + section + "]\n" + line, nil
}

// without returns a file's text without the line of a key.
func without(text string, key mark) string {
	if key.value.Length == 0 { // it isn't there
		return text
	}
	end := int(key.value.Offset + key.value.Length)
	_, after, _ := strings.Cut(text[end:], "\n")
	return text[:key.offset] + after
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

// Write writes text to a file for its owner only, completely or not at all.
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
