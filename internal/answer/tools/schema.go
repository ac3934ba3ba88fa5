package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schema is what records need of a tool's parameters.
type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Enum       []string           `json:"enum"` // of texts
	Format     string             `json:"format"`
	Items      *schema            `json:"items"`
	// keep, if not nil, returns a text as a record holds it; false if it may be somebody's words. Models aren't
	// told of it.
	keep func(text string) (string, bool)

	document  any                // the whole, tightened
	validator *jsonschema.Schema // of the whole
}

// schemaOf parses parameters.
func schemaOf(parameters json.RawMessage) (*schema, error) {
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object"}`)
	}
	s := &schema{}
	if err := json.Unmarshal(parameters, s); err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		return nil, err
	}
	tighten(document)
	s.document = document
	const name = "parameters"
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, document); err != nil {
		return nil, err
	}
	s.validator, err = c.Compile(name)
	return s, err
}

// tighten refuses what no tool takes, without telling models: unknown fields, blank required text, numbers that
// overflow an int.
func tighten(schema any) {
	s, is := schema.(map[string]any)
	if !is {
		return
	}
	switch s["type"] {
	case "object":
		s["additionalProperties"] = false
	case "string":
		if s["minLength"] != nil {
			s["pattern"] = `\S`
		}
	case "integer":
		if s["maximum"] == nil {
			s["maximum"] = json.Number("9007199254740992")
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		tighten(p)
	}
	tighten(s["items"])
}

// arguments parses what a model wrote, mended and without nulls. The error is a CallError.
func (s *schema) arguments(written string) (map[string]any, error) {
	written = mended(s.document, written)
	var args map[string]any
	if json.Unmarshal([]byte(written), &args) != nil || args == nil {
		return nil, callErrorf("The arguments aren't a JSON object. %s", s.fieldList())
	}
	withoutNull(args)
	err := s.validator.Validate(args)
	if misfit, is := errors.AsType[*jsonschema.ValidationError](err); is {
		return nil, callErrorf("The arguments don't fit: %s. %s", strings.Join(problems(misfit), "; "), s.fieldList())
	}
	return args, err
}

func (s *schema) fieldList() string {
	if len(s.Properties) == 0 {
		return "It takes none."
	}
	return "The fields are: " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ") + "."
}

func withoutNull(fields map[string]any) {
	for name, v := range fields {
		if inner, is := v.(map[string]any); is {
			withoutNull(inner)
		} else if v == nil {
			delete(fields, name)
		}
	}
}

// problems returns what doesn't fit, and where.
func problems(of *jsonschema.ValidationError) (all []string) {
	for _, cause := range of.Causes {
		all = append(all, problems(cause)...)
	}
	if len(of.Causes) == 0 {
		why := of.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		if at := strings.Join(of.InstanceLocation, "/"); at != "" {
			why = fmt.Sprintf("%q: %s", at, why)
		}
		all = append(all, why)
	}
	slices.Sort(all)
	return all
}

// isObject reports whether servers can parse arguments that are sent back.
func isObject(written string) bool {
	var args map[string]json.RawMessage
	return json.Unmarshal([]byte(written), &args) == nil && args != nil
}

// keyOf returns the same key for arguments in any order.
func keyOf(name string, args map[string]any) string {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(args) // what was decoded can be encoded
	return name + "\n" + b.String()
}

func callErrorf(format string, args ...any) error { return CallError(fmt.Sprintf(format, args...)) }

// CallError tells a model what is wrong with its call. It holds only what is in the call or what readers of the
// answer may know.
type CallError string
