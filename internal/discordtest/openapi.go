package discordtest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// openAPI validates requests and answers against Discord's OpenAPI document. A nil one accepts everything.
type openAPI struct {
	doc      any
	compiler *jsonschema.Compiler

	mu       sync.Mutex
	schemas  map[string]*jsonschema.Schema // by pointer; nil: none
	verdicts map[verdictKey]string         // cached, because most tests send the same bodies
}

// verdictKey is a body under a schema.
type verdictKey struct {
	schema *jsonschema.Schema
	body   [sha256.Size]byte
}

// loadOpenAPI returns the document, or nil if there is none.
func loadOpenAPI(tb testing.TB) *openAPI {
	doc, err := readOpenAPI()
	if err != nil {
		tb.Fatalf("discordtest: read Discord's OpenAPI document: %v", err)
	}
	if doc == nil {
		tb.Logf("discordtest: Discord's OpenAPI document is not there, so nothing is validated against it")
	}
	return doc
}

// readOpenAPI finds and reads the document once for all tests: compiling a schema takes longer than a test.
var readOpenAPI = sync.OnceValues(func() (*openAPI, error) {
	file := os.Getenv("HARK_DISCORD_OPENAPI")
	named := file != ""
	if !named {
		_, here, _, _ := runtime.Caller(0)
		file = filepath.Join(filepath.Dir(here), "../../../shared/data/discord-openapi.json.gz")
	}
	data, err := os.ReadFile(file)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r io.Reader = bytes.NewReader(data)
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", file, err)
		}
	}
	doc, err := jsonschema.UnmarshalJSON(r)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	o := &openAPI{doc: doc, compiler: jsonschema.NewCompiler(),
		schemas: map[string]*jsonschema.Schema{}, verdicts: map[verdictKey]string{}}
	o.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := o.compiler.AddResource("discord.json", doc); err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	return o, nil
})

// request returns what is wrong with a request's JSON body, or "". The route is a method and the document's
// path.
func (o *openAPI) request(route string, body []byte) string {
	op := operation(route)
	if o == nil || o.at(op) == nil {
		return "" // the document doesn't know every route that there is
	}
	schema := o.schema(append(op, "requestBody", "content", "application/json", "schema"))
	switch {
	case schema == nil && len(body) > 0:
		return "it has a body, and should have none"
	case schema == nil || len(body) == 0 && o.at(append(op, "requestBody", "required")) != true:
		return ""
	case len(body) == 0:
		return "it has no body"
	}
	return o.violation(schema, permissionText.ReplaceAll(body, []byte(`"default_member_permissions":$1`)))
}

// permissionText matches a command's permissions as a string, as in Discord's guide and answers;
// the document wants a number in requests.
var permissionText = regexp.MustCompile(`"default_member_permissions":"([0-9]+)"`)

// response returns what is wrong with an answer, or "".
func (o *openAPI) response(route string, answer reply) string {
	op := operation(route)
	if o == nil || o.at(op) == nil {
		return ""
	}
	status := strconv.Itoa(answer.status)
	if o.at(append(op, "responses", status)) == nil {
		status = status[:1] + "XX"
	}
	if o.at(append(op, "responses", status)) == nil {
		return "no answer of that status is described"
	}
	schema := o.schema(append(op, "responses", status, "content", "application/json", "schema"))
	switch {
	case schema == nil || answer.body == nil && answer.status == http.StatusNoContent:
		return ""
	case answer.body == nil:
		return "it has no body"
	}
	told := answer.body
	if e, isObject := told.(object); isObject && answer.status >= 400 {
		// Discord's field errors have words for codes; its document says numbers.
		told = object{"code": e["code"], "message": e["message"]}
	}
	return o.violation(schema, encode(told))
}

// operation returns a route's path in the document.
func operation(route string) []string {
	method, path, _ := strings.Cut(route, " ")
	return []string{"paths", path, strings.ToLower(method)}[:3:3]
}

// at returns that part of the document, or nil.
func (o *openAPI) at(names []string) any {
	_, found := o.find(names)
	return found
}

// find follows names and references to a part of the document, and returns its pointer.
func (o *openAPI) find(names []string) (pointer string, found any) {
	pointer, found = "discord.json#", o.doc
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	for i, name := range names {
		m, _ := found.(map[string]any)
		if ref, is := m["$ref"].(string); is {
			return o.find(append(strings.Split(ref, "/")[1:], names[i:]...))
		}
		pointer, found = pointer+"/"+escape.Replace(name), m[name]
	}
	return pointer, found
}

// schema compiles a schema once; nil if there is none.
func (o *openAPI) schema(names []string) *jsonschema.Schema {
	pointer, found := o.find(names)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.schemas[pointer] == nil && found != nil {
		o.schemas[pointer] = o.compiler.MustCompile(pointer)
	}
	return o.schemas[pointer]
}

var ids = regexp.MustCompile(`[0-9]{15,}`)

// violation returns what is wrong with a body, or "". Bodies that differ only in ids share a result.
func (o *openAPI) violation(schema *jsonschema.Schema, body []byte) string {
	key := verdictKey{schema, sha256.Sum256(ids.ReplaceAll(body, []byte("#")))}
	o.mu.Lock()
	said, known := o.verdicts[key]
	o.mu.Unlock()
	if known {
		return said
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		said = err.Error()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.verdicts[key] = said
	return said
}
