package answer

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

// schema is what a record asks of the JSON schema that a tool's parameters are told in.
type schema struct {
	Type       string             `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Enum       []string           `json:"enum"` // of texts
	Format     string             `json:"format"`
	Items      *schema            `json:"items"`
	// keep, if not nil, is how a record holds a text that is no words of anybody's; false if it may be. Models aren't
	// told of it.
	keep func(text string) (string, bool)

	validator *jsonschema.Schema // of the whole
}

// schemaOf reads a tool's parameters.
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
	const name = "parameters"
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, document); err != nil {
		return nil, err
	}
	s.validator, err = c.Compile(name)
	return s, err
}

// tighten has a schema refuse what no tool takes, without models having to be told: other fields than its properties,
// nothing but blanks for a text that mustn't be empty, and numbers that fit into no int.
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

// arguments are those that a model wrote, if they fit s, without what is null. The error is a Mend.
func (s *schema) arguments(written string) (map[string]any, error) {
	if strings.TrimSpace(written) == "" {
		written = "{}" // as some models write that there are none
	}
	var args map[string]any
	if json.Unmarshal([]byte(written), &args) != nil || args == nil {
		return nil, mendf("The arguments aren't a JSON object. %s", s.takes())
	}
	withoutNull(args)
	err := s.validator.Validate(args)
	if misfit, is := errors.AsType[*jsonschema.ValidationError](err); is {
		return nil, mendf("The arguments don't fit: %s. %s", strings.Join(faults(misfit), "; "), s.takes())
	}
	return args, err
}

// takes says which fields there may be.
func (s *schema) takes() string {
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

// faults are what doesn't fit, each with where it is.
func faults(of *jsonschema.ValidationError) (all []string) {
	for _, cause := range of.Causes {
		all = append(all, faults(cause)...)
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

// isObject reports whether a model's arguments can be sent back to servers, which may read them.
func isObject(written string) bool {
	var args map[string]json.RawMessage
	return json.Unmarshal([]byte(written), &args) == nil && args != nil
}

// roleSetKey is a call in one form, whatever order its arguments are in.
func keyOf(name string, args map[string]any) string {
	var b bytes.Buffer
	_ = json.NewEncoder(&b).Encode(args) // what was decoded can be encoded
	return name + "\n" + b.String()
}
