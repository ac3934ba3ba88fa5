package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxSchema = 8 << 10 // bytes
	maxWords  = 500     // bytes of a description in a schema
)

// combined are keys that models' servers refuse at the top of a schema. With one such tool they refuse all requests.
var combined = []string{"anyOf", "oneOf", "allOf", "not", "enum", "if", "$ref"}

// schemaOf returns a tool's parameters for the model. The error continues "its parameters".
func schemaOf(input any) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, errors.New("are no JSON")
	}
	if len(text) > maxSchema {
		return nil, fmt.Errorf("take more than %d bytes", maxSchema)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("are no JSON")
	}
	schema, is := mended(parsed)
	if !is {
		return nil, errors.New("are no schema of an object")
	}
	for _, key := range combined {
		if schema[key] != nil {
			return nil, fmt.Errorf("have %q at the top, which models' servers don't take", key)
		}
	}
	if !withoutOdd(schema, func() error { return compiles(schema) }) {
		return nil, errors.New("aren't a valid JSON schema")
	}
	if !clean(schema) {
		return nil, errors.New("have characters that can't be seen, or marks of a model's prompt")
	}
	if schema["properties"] == nil { // some models' servers want it
		schema["properties"] = map[string]any{}
	}
	text, err = json.Marshal(schema)
	if len(text) > maxSchema { // by what it refers to
		return nil, fmt.Errorf("take more than %d bytes", maxSchema)
	}
	return text, err
}

// compiles returns why a schema isn't one.
func compiles(schema map[string]any) error {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "parameters"
	err := c.AddResource(name, schema)
	if err == nil {
		_, err = c.Compile(name)
	}
	return err
}

// noLoader keeps schemas from having files read or addresses fetched.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("not allowed") }

// clean takes out of a schema what could pass for a part of the prompt, and reports whether the rest may be used.
// Models' servers write schemas into the prompt as they are, so "<|im_end|>" in the description of a parameter would
// end the system's message there. Texts for reading are changed. Names, and values that arguments must have, would be
// wrong if they were: with such ones the tool can't be offered.
func clean(value any) bool {
	switch value := value.(type) {
	case string:
		return !strings.ContainsFunc(value, hidden) && !marks.MatchString(value)
	case []any:
		for _, one := range value {
			if !clean(one) {
				return false
			}
		}
	case map[string]any:
		for key, one := range value {
			text, isText := one.(string)
			switch {
			case isText && (key == "description" || key == "title"):
				value[key] = cut(legible(text), maxWords)
			case isText && key == "$comment": // for the schema's authors
				delete(value, key)
			case !clean(key):
				return false
			case clean(one):
			case key == "default" || key == "examples": // which nothing depends on
				delete(value, key)
			default:
				return false
			}
		}
	}
	return true
}

// marks begin and end parts of prompts, in the languages of common models.
var marks = regexp.MustCompile(`<[|\x{FF5C}]|[|\x{FF5C}]>|</?s>|_of_turn>|\[/?INST\]`)

// hidden reports whether a character can't be seen, or isn't one of a line.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// legible returns a text as one line, without what hidden reports and without the brackets that marks have.
func legible(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case hidden(r):
			return -1
		}
		return r
	}, text)
	text = strings.NewReplacer("<", "‹", ">", "›", "[", "(", "]", ")").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}
