package mcpclient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hark/internal/golden"
)

// odd are schemas as servers write them.
var odd = []string{
	`{}`, `null`, `[]`, `true`, `{"properties":{"a":{}}}`, `{"type":"OBJECT"}`, `{"type":["object","null"]}`,
	`{"type":null}`,
	`{"type":"object","required":null,"properties":null,"description":null}`,
	`{"type":"object","properties":[],"required":[]}`,
	`{"type":"object","properties":{"a":{"type":"string","required":true},"b":{"type":"string",` +
		`"required":false},"c":null}}`,
	`{"type":"object","required":"a","properties":{"a":"string","b":{"type":["string","string","null",` +
		`"void"]},"c":{"type":"any"}}}`,
	`{"type":"object","required":["a",1,"a"],"properties":{"a":{"required":true}}}`,
	`{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x).*$"},"b":{"pattern":"^x$"},` +
		`"c":{"pattern":5}}}`,
	`{"type":"object","patternProperties":{"^(?!x)":{"type":"string"},"^x":{"type":"string"}}}`,
	`{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":9,` +
		`"exclusiveMaximum":false}}}`,
	`{"type":"object","properties":{"a":{"enum":null},"b":{"enum":[]},"c":{"enum":["x",null]},` +
		`"d":{"enum":"x"},"e":{"default":null}}}`,
	`{"type":"object","additionalProperties":"no","properties":{"a":{"format":"uuid4"},"b":{"format":null},` +
		`"c":{"format":5}}}`,
	`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]},"b":{"items":[{},{}]},` +
		`"c":{"items":null}}}`,
	`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","$id":"urn:x","type":"object"}`,
	`{"$schema":"https://example.org/mine","type":"object","properties":{"a":{"$schema":"?",` +
		`"minLength":"3","maxLength":-1,"title":5}}}`,
	`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/definitions/A",` +
		`"type":"string"},"c":{"$ref":"#c"}},` +
		`"$defs":{"A":{"type":"string","nullable":true,"minimum":null}}}`,
	`{"$ref":"#/definitions/In","definitions":{"In":{"$ref":"#/definitions/Real"},` +
		`"Real":{"properties":{"a":{"type":"string"}}}}}`,
	`{"$ref":"#"}`,
	`{"type":"object","anyOf":null,"oneOf":[],"properties":{"a":{"anyOf":[{"type":"string",` +
		`"pattern":"(?<=x)"},null]}}}`,
	`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array",` +
		`"items":{"required":null,"minItems":{}}}}}}}`,
	`{"type":"object","properties":{"type":{"type":"string"},"required":{"type":"boolean"},` +
		`"$ref":{"type":"string"},"pattern":{}}}`,
	// These can't be parameters, or their tools could break all requests.
	`"object"`, `false`, `5`, `[{}]`, `{"type":"string"}`, `{"type":["string","null"]}`,
	`{"anyOf":[{"type":"object"}]}`,
	`{"$ref":"#/$defs/A","$defs":{"A":{"type":"array"}}}`, `{"$ref":"https://example.org/a"}`,
	`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
}

// A tool whose schema is odd is offered with one that says what was meant, as far as that can be read.
func TestOddSchemas(t *testing.T) {
	t.Parallel()
	var tools []string
	for i, schema := range odd {
		tools = append(tools, fmt.Sprintf(`{"name":"n%d","inputSchema":%s}`, i, schema))
	}
	s := overHTTP(t, func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "tools/list" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		all := strings.Join(tools, ",") + `,{"name":"none"}`
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, all)
		return true
	})
	c, _ := connect(t, s)
	offered := map[string]string{}
	for _, tool := range c.all(t) {
		offered[tool.Title] = string(tool.Parameters)
	}
	var told strings.Builder
	for i, schema := range odd {
		got, is := offered[fmt.Sprint("n", i)]
		if !is {
			got = "left out"
		}
		fmt.Fprintf(&told, "%s\n    %s\n", schema, got)
	}
	golden.Seen(t, told.String())
	if got := offered["none"]; got != `{"properties":{},"type":"object"}` {
		t.Errorf("without a schema: %s", got)
	}
}

// What is offered is a schema that Go can read, whatever a server writes.
func FuzzSchema(f *testing.F) {
	for _, schema := range odd {
		f.Add(schema)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var input any
		if json.Unmarshal([]byte(text), &input) != nil {
			return
		}
		got, err := schemaOf(input)
		if err != nil {
			return
		}
		var schema map[string]any
		if err := json.Unmarshal(got, &schema); err != nil || schema["type"] != "object" || compiles(schema) != nil {
			t.Errorf("%s gives %s, %v", text, got, err)
		}
		again, err := schemaOf(schema)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s gives %s, and that %s, %v", text, got, again, err)
		}
	})
}
