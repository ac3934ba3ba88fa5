package migrate

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pair is a key and its value.
type pair struct {
	key   string
	line  int
	value *yaml.Node
}

// parse returns a text's mapping. The error names the line.
func parse(data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("it isn't YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind == 0 || len(doc.Content) == 0 {
		return nil, errors.New("it is empty")
	}
	root := resolve(doc.Content[0])
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: it has no keys, such as bot_token: …", root.Line)
	}
	return root, nil
}

// resolve follows aliases.
func resolve(n *yaml.Node) *yaml.Node {
	for depth := 0; n.Kind == yaml.AliasNode && depth < 10; depth++ {
		n = n.Alias
	}
	return n
}

// pairs returns a mapping's pairs in order, merged ones first, each key once with its last value.
func pairs(n *yaml.Node) (all []pair) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	at := map[string]int{}
	add := func(p pair) {
		if i, twice := at[p.key]; twice {
			all[i] = p
			return
		}
		at[p.key] = len(all)
		all = append(all, p)
	}
	own := func(n *yaml.Node, merge bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := resolve(n.Content[i])
			value := resolve(n.Content[i+1])
			if isMerge := key.Tag == "!!merge"; isMerge || merge {
				if isMerge && merge && value.Kind == yaml.MappingNode {
					for j := 0; j+1 < len(value.Content); j += 2 {
						k := resolve(value.Content[j])
						add(pair{k.Value, k.Line, resolve(value.Content[j+1])})
					}
				}
				continue
			}
			add(pair{key.Value, key.Line, value})
		}
	}
	own(n, true)
	own(n, false)
	return all
}

// get returns a key's value; nil if there is none.
func get(n *yaml.Node, key string) *yaml.Node {
	for _, p := range pairs(n) {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// scalar returns a single value, trimmed; "" if n is none or null.
func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(n.Value, "\x00", ""))
}

// blank reports whether a value is null or empty.
func blank(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && scalar(n) == "" || n.Kind != yaml.ScalarNode && len(n.Content) == 0
}

// mostValues bounds how many values a parameter holds: aliases can repeat each other without end.
const mostValues = 1000

// plain returns a value as it is in TOML; false if TOML has none such, or JSON.
func plain(n *yaml.Node) (any, bool) {
	left := mostValues
	return plainOf(n, &left)
}

// plainOf is plain, with how many values may still come.
func plainOf(n *yaml.Node, left *int) (any, bool) {
	n = resolve(n)
	*left--
	if *left < 0 {
		return nil, false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return plainScalar(n)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			value, ok := plainOf(item, left)
			if !ok {
				return nil, false
			}
			list = append(list, value)
		}
		return list, true
	case yaml.MappingNode:
		table := map[string]any{}
		for _, p := range pairs(n) {
			value, ok := plainOf(p.value, left)
			if !ok {
				return nil, false
			}
			table[p.key] = value
		}
		return table, true
	}
	return nil, false
}

func plainScalar(n *yaml.Node) (any, bool) {
	switch n.ShortTag() {
	case "!!null":
		return nil, false
	case "!!bool":
		var value bool
		err := n.Decode(&value)
		return value, err == nil
	case "!!int":
		var value int64
		err := n.Decode(&value)
		return value, err == nil
	case "!!float":
		var value float64
		err := n.Decode(&value)
		return value, err == nil && !math.IsInf(value, 0) && !math.IsNaN(value)
	}
	return n.Value, true
}
