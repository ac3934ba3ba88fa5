package mcpclient

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Servers write schemas that are odd in harmless ways: a null for what isn't there, words of another version of JSON
// Schema, a pattern in another dialect. What they mean is mended, and what can't be read is left out, so that a tool
// isn't lost because of a detail.

// typeNames are all that "type" may name.
var typeNames = []string{"object", "string", "number", "integer", "boolean", "array", "null"}

// mendType makes a name or a list of names of what a "type" has; nil if nothing of it is known.
func mendType(value any) any {
	switch value := value.(type) {
	case string:
		if name := strings.ToLower(value); slices.Contains(typeNames, name) {
			return name
		}
	case []any:
		var names []any
		for _, one := range value {
			name, is := mendType(one).(string)
			if is && !slices.Contains(names, any(name)) {
				names = append(names, name)
			}
		}
		if len(names) == 1 {
			return names[0]
		}
		if len(names) > 1 {
			return names
		}
	}
	return nil
}

// mendRequired returns the names that a "required" has; nil if there are none.
func mendRequired(value any) []any {
	var names []any
	switch value := value.(type) {
	case string:
		return []any{value}
	case []any:
		for _, one := range value {
			if _, is := one.(string); is && !slices.Contains(names, one) {
				names = append(names, one)
			}
		}
	}
	return names
}

// mendLimit makes the limit that "exclusiveMinimum": true makes of "minimum" in older versions one of today's.
func mendLimit(schema map[string]any, exclusive, limit string) {
	is, old := schema[exclusive].(bool)
	if !old {
		return
	}
	delete(schema, exclusive)
	if number, set := schema[limit]; set && is {
		schema[exclusive] = number
		delete(schema, limit)
	}
}

// mendItems makes one schema of the list of schemas that "items" may be in older versions.
func mendItems(schema map[string]any) {
	list, old := schema["items"].([]any)
	switch {
	case !old:
	case len(list) == 1:
		schema["items"] = list[0]
	default:
		schema["items"] = map[string]any{}
	}
}

// readable reports whether Go can read a pattern. In other languages there are more.
func readable(pattern any) bool {
	text, is := pattern.(string)
	if !is {
		return false
	}
	_, err := regexp.Compile(text)
	return err == nil
}

// asSchema makes a schema of what stands for one; for many servers "string" is a schema.
func asSchema(value any) any {
	switch value.(type) {
	case map[string]any, bool:
		return value
	}
	if name := mendType(value); name != nil {
		return map[string]any{"type": name}
	}
	return map[string]any{}
}

// mendKeywords mends what a schema says itself. Null means that something isn't there, but for values.
func mendKeywords(schema map[string]any) {
	for key, value := range schema {
		if value == nil && key != "default" && key != "const" {
			delete(schema, key)
		}
	}
	delete(schema, "$schema") // what is older is mended
	delete(schema, "$id")
	delete(schema, "id")
	set := func(key string, value any, is bool) {
		delete(schema, key)
		if is {
			schema[key] = value
		}
	}
	kind := mendType(schema["type"])
	set("type", kind, kind != nil)
	names := mendRequired(schema["required"])
	set("required", names, len(names) > 0)
	mendLimit(schema, "exclusiveMinimum", "minimum")
	mendLimit(schema, "exclusiveMaximum", "maximum")
	mendItems(schema)
	if !readable(schema["pattern"]) {
		delete(schema, "pattern")
	}
	if values, is := schema["enum"].([]any); !is || len(values) == 0 {
		delete(schema, "enum")
	}
}

// Keywords that have schemas.
var (
	schemasByName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
	schemaLists   = []string{"anyOf", "oneOf", "allOf", "prefixItems"}
	singleSchemas = []string{"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties"}
)

// mend mends a schema and all in it. It returns whether the schema says of itself that it is required, as in the oldest
// version of JSON Schema.
func mend(value any) (required bool) {
	schema, is := value.(map[string]any)
	if !is {
		return false
	}
	required, _ = schema["required"].(bool)
	mendKeywords(schema)
	for _, key := range schemasByName {
		named, is := schema[key].(map[string]any)
		if !is {
			delete(schema, key)
			continue
		}
		mendNamed(schema, key, named)
	}
	for _, key := range singleSchemas {
		switch value := schema[key].(type) {
		case map[string]any:
			mend(value)
		case bool:
		default:
			delete(schema, key)
		}
	}
	for _, key := range schemaLists {
		list, _ := schema[key].([]any)
		if len(list) == 0 {
			delete(schema, key)
		}
		for i := range list {
			list[i] = asSchema(list[i])
			mend(list[i])
		}
	}
	return required
}

// mendNamed mends the schemas that a schema has by name.
func mendNamed(schema map[string]any, key string, named map[string]any) {
	for name, value := range named {
		if key == "patternProperties" && !readable(name) {
			delete(named, name)
			continue
		}
		named[name] = asSchema(value)
		if mend(named[name]) && key == "properties" {
			names, _ := schema["required"].([]any)
			if !slices.Contains(names, any(name)) {
				schema["required"] = append(names, name)
			}
		}
	}
}

// inline puts what the whole refers to in the place of the reference, as models' servers don't take one at the top.
func inline(whole map[string]any) {
	for range 8 { // it may refer to a reference
		ref, is := whole["$ref"].(string)
		if !is || !strings.HasPrefix(ref, "#") {
			return
		}
		delete(whole, "$ref")
		found, _ := lookUp(whole, ref)
		target, _ := found.(map[string]any)
		for key, value := range target {
			if _, own := whole[key]; !own {
				whole[key] = value
			}
		}
	}
}

// lookUp returns what a reference within the whole leads to; false if it leads nowhere there.
func lookUp(whole any, ref string) (any, bool) {
	path, is := strings.CutPrefix(ref, "#/")
	if !is {
		return whole, ref == "#"
	}
	at := whole
	for part := range strings.SplitSeq(path, "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch inner := at.(type) {
		case map[string]any:
			at = inner[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(inner) {
				return nil, false
			}
			at = inner[i]
		}
		if at == nil {
			return nil, false
		}
	}
	return at, true
}

// dropLost leaves out references within the whole that lead to no schema.
func dropLost(value any, whole map[string]any) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			dropLost(one, whole)
		}
	case map[string]any:
		ref, is := value["$ref"].(string)
		if is && strings.HasPrefix(ref, "#") {
			found, there := lookUp(whole, ref)
			if _, isSchema := found.(map[string]any); !there || !isSchema {
				delete(value, "$ref")
			}
		}
		for _, one := range value {
			dropLost(one, whole)
		}
	}
}

// mended returns a tool's parameters as the schema of an object; false if they are of something else.
func mended(input any) (map[string]any, bool) {
	whole, is := input.(map[string]any)
	list, isList := input.([]any)
	if input == nil || input == true || isList && len(list) == 0 { // as PHP writes an empty table
		whole = map[string]any{}
		is = true
	}
	if !is {
		return nil, false
	}
	mend(whole)
	inline(whole)
	dropLost(whole, whole)
	switch kind := whole["type"].(type) {
	case nil:
		whole["type"] = "object"
	case []any:
		if slices.Contains(kind, any("object")) {
			whole["type"] = "object"
		}
	}
	return whole, whole["type"] == "object"
}

// maxOdd bounds how many parts of a schema are left out because they can't be read.
const maxOdd = 32

// withoutOdd leaves out of a schema what isn't as it should be, until check finds nothing more. It returns false if
// something stays wrong.
func withoutOdd(schema map[string]any, check func() error) bool {
	for range maxOdd {
		err := check()
		if err == nil {
			return true
		}
		wrong, is := errors.AsType[*jsonschema.SchemaValidationError](err)
		if !is {
			return false
		}
		of, is := errors.AsType[*jsonschema.ValidationError](wrong.Err)
		if !is || !leaveOut(schema, of) {
			return false
		}
	}
	return false
}

// leaveOut leaves out the innermost parts of a schema that are wrong, and reports whether there were any.
func leaveOut(schema map[string]any, wrong *jsonschema.ValidationError) (found bool) {
	for _, cause := range wrong.Causes {
		if leaveOut(schema, cause) {
			found = true
		}
	}
	if len(wrong.Causes) > 0 {
		return found
	}
	in := schema
	key := ""
	var at any = schema
	for _, part := range wrong.InstanceLocation {
		inner, is := at.(map[string]any)
		if !is { // a list, which goes as a whole
			break
		}
		in = inner
		key = part
		at = inner[part]
	}
	_, found = in[key]
	delete(in, key)
	return found
}
