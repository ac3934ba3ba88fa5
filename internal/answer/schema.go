package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// schema is what of JSON Schema tools' parameters are told in: types, what is required, enumerations, bounds of numbers,
// texts and lists, and the format "date". Fields that aren't among the properties are refused.
type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Enum       []string           `json:"enum"` // of texts
	Format     string             `json:"format"`
	Minimum    *float64           `json:"minimum"`
	Maximum    *float64           `json:"maximum"`
	MinLength  int                `json:"minLength"` // in characters
	MaxLength  int                `json:"maxLength"` // in characters; 0: mostText
	Items      *schema            `json:"items"`
	MaxItems   int                `json:"maxItems"` // 0: mostItems
	// keep, if not nil, is how a record holds a text that is no words of anybody's; false if it may be. Models aren't told of it.
	keep func(text string) (string, bool)
}

const (
	mostText  = 2000
	mostItems = 100
)

// schemaOf reads a tool's parameters.
func schemaOf(parameters json.RawMessage) (*schema, error) {
	s := &schema{}
	if len(parameters) == 0 {
		return &schema{Type: "object"}, nil
	}
	if err := json.Unmarshal(parameters, s); err != nil {
		return nil, fmt.Errorf("read a tool's parameters: %w", err)
	}
	return s, nil
}

// arguments are those that a model wrote, if they fit s, without what is null. The error is a Mend.
func (s *schema) arguments(written string) (map[string]any, error) {
	if strings.TrimSpace(written) == "" {
		written = "{}" // as some models write that there are none
	}
	d := json.NewDecoder(strings.NewReader(written))
	d.UseNumber()
	var args map[string]any
	err := d.Decode(&args)
	if _, more := d.Token(); err != nil || args == nil || !errors.Is(more, io.EOF) {
		return nil, mendf("The arguments aren't a JSON object. Wanted is %s.", s.wants())
	}
	return args, s.checkObject("", args)
}

// check tells what is wrong with v, called by its path.
func (s *schema) check(path string, v any) error {
	ok := false
	switch v := v.(type) {
	case string:
		ok = s.Type == "string" && s.takesText(v)
	case bool:
		ok = s.Type == "boolean"
	case json.Number:
		ok = s.takesNumber(v)
	case []any:
		if ok = s.Type == "array" && len(v) <= s.mostItems(); ok && s.Items != nil {
			for i, item := range v {
				if err := s.Items.check(fmt.Sprintf("%s[%d]", path, i), item); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		if s.Type == "object" {
			return s.checkObject(path, v)
		}
	}
	if !ok {
		return mendf("%q has to be %s.", path, s.wants())
	}
	return nil
}

func (s *schema) checkObject(path string, fields map[string]any) error {
	if path != "" {
		path += "."
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		property := s.Properties[name]
		if property == nil {
			return mendf("There is no %q. Wanted is %s.", path+shortName(name), s.wants())
		}
		if fields[name] == nil {
			delete(fields, name)
			continue
		}
		if err := property.check(path+name, fields[name]); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if _, there := fields[name]; !there {
			return mendf("%q is missing: %s.", path+name, s.Properties[name].wants())
		}
	}
	return nil
}

func (s *schema) takesText(text string) bool {
	n := utf8.RuneCountInString(text)
	switch {
	case n < s.MinLength || n > s.mostText() || s.MinLength > 0 && strings.TrimSpace(text) == "":
		return false
	case len(s.Enum) > 0:
		return slices.Contains(s.Enum, text)
	case s.Format == "date":
		_, err := time.Parse(time.DateOnly, text)
		return err == nil
	}
	return true
}

func (s *schema) takesNumber(n json.Number) bool {
	f, err := n.Float64()
	if err != nil || s.Type != "number" && s.Type != "integer" {
		return false
	}
	if _, err := strconv.ParseInt(n.String(), 10, 64); s.Type == "integer" && err != nil {
		return false
	}
	return (s.Minimum == nil || f >= *s.Minimum) && (s.Maximum == nil || f <= *s.Maximum)
}

func (s *schema) mostText() int {
	if s.MaxLength > 0 {
		return s.MaxLength
	}
	return mostText
}

func (s *schema) mostItems() int {
	if s.MaxItems > 0 {
		return s.MaxItems
	}
	return mostItems
}

// wants says what s takes.
func (s *schema) wants() string {
	switch {
	case s.Type == "object" && len(s.Properties) == 0:
		return "an empty object"
	case s.Type == "object":
		var names []string
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) {
				name += " (required)"
			}
			names = append(names, name)
		}
		return "an object with " + strings.Join(names, ", ")
	case s.Type == "array" && s.Items != nil:
		return fmt.Sprintf("a list of at most %d, each %s", s.mostItems(), s.Items.wants())
	case s.Type == "array":
		return fmt.Sprintf("a list of at most %d", s.mostItems())
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "integer":
		return "a whole number" + s.bounds()
	case s.Type == "number":
		return "a number" + s.bounds()
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Format == "date":
		return "a date such as 2024-06-30"
	case s.MinLength > 0:
		return fmt.Sprintf("a text of %d to %d characters", s.MinLength, s.mostText())
	}
	return fmt.Sprintf("a text of at most %d characters", s.mostText())
}

func (s *schema) bounds() string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf(" from %v to %v", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf(" of at least %v", *s.Minimum)
	case s.Maximum != nil:
		return fmt.Sprintf(" of at most %v", *s.Maximum)
	}
	return ""
}

// shortName is enough of a field's name to know it by.
func shortName(name string) string {
	if utf8.RuneCountInString(name) > 40 {
		return string([]rune(name)[:40]) + "…"
	}
	return name
}

// isObject reports whether a model's arguments can be sent back to servers, which may read them.
func isObject(written string) bool {
	var args map[string]json.RawMessage
	return json.Unmarshal([]byte(written), &args) == nil && args != nil
}

// keyOf is a call in one form, whatever order its arguments are in.
func keyOf(name string, args map[string]any) string {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(args) // what was decoded can be encoded
	return name + "\n" + b.String()
}
