package discordtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tiny = `{"openapi": "3.1.0",
"paths": {"/things/{id}": {"post": {
	"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
	"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
		"4XX": {"$ref": "#/components/responses/Refused"}}}},
	"/things/@me": {"get": {"responses": {"204": {}}}}},
"components": {"schemas": {"Thing": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
	"responses": {"Refused": {"content": {"application/json": {"schema": {"required": ["code"]}}}}}}}`

func readTiny(t *testing.T) *openAPI {
	t.Helper()
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(file, []byte(tiny), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := readOpenAPI(file)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentFindsDeviations(t *testing.T) {
	t.Parallel()
	doc := readTiny(t)
	for _, test := range []struct{ method, path, body, want string }{
		{"POST", "/things/1", `{"n": 1}`, ""},
		{"POST", "/things/1", `{"n": "1"}`, "got string, want integer"},
		{"POST", "/things/1", `{}`, "missing property 'n'"},
		{"POST", "/things/1", ``, "no body"},
		{"GET", "/things/@me", `{}`, "should have none"},
		{"GET", "/things/@me", ``, ""},
		{"POST", "/others", `{}`, ""},
		{"DELETE", "/things/1", ``, ""},
	} {
		if got := doc.request(test.method, test.path, []byte(test.body)); !matches(got, test.want) {
			t.Errorf("request %s %s %s: %q, want %q", test.method, test.path, test.body, got, test.want)
		}
	}
	for _, test := range []struct {
		path   string
		answer reply
		want   string
	}{
		{"/things/1", ok(object{"n": 1}), ""},
		{"/things/1", ok(object{"n": "x"}), "want integer"},
		{"/things/1", reply{status: 200}, "no body"},
		{"/things/1", refuse(404, 1, "gone"), ""},
		{"/things/1", reply{502, object{}}, "no answer of that status"},
		{"/others", reply{502, object{}}, ""},
	} {
		if got := doc.response("POST", test.path, test.answer); !matches(got, test.want) {
			t.Errorf("answer %d to %s: %q, want %q", test.answer.status, test.path, got, test.want)
		}
	}
}

func matches(got, want string) bool {
	return got == want || want != "" && strings.Contains(got, want)
}
