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
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// openAPI holds Discord's OpenAPI document against requests and answers. A nil one finds no fault with anything.
type openAPI struct {
	doc   map[string]any
	paths []apiPath

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by pointer; nil where the document has none

	judged sync.Map // of judgement to string: what is said of a body, since most tests send the same ones
}

// judgement is of a body under a schema. Bodies that differ in nothing but ids are judged alike.
type judgement struct {
	schema *jsonschema.Schema
	body   [sha256.Size]byte
}

// alike is a body with its ids numbered in the order in which they first appear.
func alike(body []byte) []byte {
	const shortest = 15 // an id has no fewer digits
	numbers := map[string]int{}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		end := i
		for end < len(body) && '0' <= body[end] && body[end] <= '9' {
			end++
		}
		if end-i < shortest {
			end = max(end, i+1)
			out = append(out, body[i:end]...)
		} else {
			id := string(body[i:end])
			if _, known := numbers[id]; !known {
				numbers[id] = len(numbers)
			}
			out = strconv.AppendInt(append(out, '#'), int64(numbers[id]), 10)
		}
		i = end
	}
	return out
}

// complaint says what is wrong with a body; "" means nothing.
func (o *openAPI) complaint(schema *jsonschema.Schema, body []byte) string {
	key := judgement{schema, sha256.Sum256(alike(body))}
	if said, known := o.judged.Load(key); known {
		return said.(string)
	}
	said := complaint(schema, body)
	o.judged.Store(key, said)
	return said
}

type apiPath struct {
	template string
	match    *regexp.Regexp
	literal  int // how many characters are no parameter: the more, the better it fits
}

// loadOpenAPI is the document, or nil if it isn't there.
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
		file = besideModule("../shared/data/discord-openapi.json.gz")
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
	o := &openAPI{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	var isObject bool
	if o.doc, isObject = doc.(map[string]any); !isObject {
		return nil, fmt.Errorf("parse %s: not an OpenAPI document", file)
	}
	o.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := o.compiler.AddResource("discord.json", doc); err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	o.indexPaths()
	return o, nil
})

// besideModule is a path relative to the module's root, or "" outside of a module.
func besideModule(name string) string {
	dir, _ := os.Getwd()
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

var parameter = regexp.MustCompile(`\\\{[^}]*\\\}`)

func (o *openAPI) indexPaths() {
	paths, _ := o.doc["paths"].(map[string]any)
	for template := range paths {
		quoted := parameter.ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`)
		o.paths = append(o.paths, apiPath{template, regexp.MustCompile("^" + quoted + "$"), len(quoted) - 5*strings.Count(quoted, `[^/]+`)})
	}
}

// request says what is wrong with a request's JSON body; "" means nothing.
func (o *openAPI) request(method, path string, body []byte) string {
	if o == nil {
		return ""
	}
	at, op := o.operation(method, path)
	if op == nil {
		return "" // the document doesn't know every route that there is
	}
	schema := o.schema(at + "/requestBody/content/application~1json/schema")
	switch {
	case schema == nil && len(body) > 0:
		return "it has a body, and should have none"
	case schema == nil || len(body) == 0 && !required(op):
		return ""
	case len(body) == 0:
		return "it has no body"
	}
	return o.complaint(schema, permissionText.ReplaceAll(body, []byte(`"default_member_permissions":$1`)))
}

// permissionText is a command's permissions as Discord's guide wants them and its answers have them: as a string, where
// the document wants a number in requests.
var permissionText = regexp.MustCompile(`"default_member_permissions":"([0-9]+)"`)

func required(op map[string]any) bool {
	b, _ := op["requestBody"].(map[string]any)
	r, _ := b["required"].(bool)
	return r
}

// response says what is wrong with an answer; "" means nothing.
func (o *openAPI) response(method, path string, answer reply) string {
	if o == nil {
		return ""
	}
	at, op := o.operation(method, path)
	if op == nil {
		return ""
	}
	responses, _ := op["responses"].(map[string]any)
	status := strconv.Itoa(answer.status)
	if responses[status] == nil {
		status = status[:1] + "XX"
	}
	described, _ := responses[status].(map[string]any)
	if described == nil {
		return "no answer of that status is described"
	}
	at += "/responses/" + status
	if ref, _ := described["$ref"].(string); ref != "" {
		at = strings.TrimPrefix(ref, "#")
	}
	schema := o.schema(at + "/content/application~1json/schema")
	if schema == nil || answer.body == nil {
		if schema != nil && answer.status != http.StatusNoContent {
			return "it has no body"
		}
		return ""
	}
	told := answer.body
	if e, isObject := told.(object); isObject && answer.status >= 400 {
		// Discord's field errors have words for codes; its document says numbers.
		told = object{"code": e["code"], "message": e["message"]}
	}
	return o.complaint(schema, encode(told))
}

// operation finds what the document says of a call, and where.
func (o *openAPI) operation(method, path string) (string, map[string]any) {
	var best apiPath
	for _, p := range o.paths {
		if p.match.MatchString(path) && p.literal >= best.literal {
			best = p
		}
	}
	if best.template == "" {
		return "", nil
	}
	item, _ := o.doc["paths"].(map[string]any)[best.template].(map[string]any)
	op, _ := item[strings.ToLower(method)].(map[string]any)
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(best.template)
	return "/paths/" + escaped + "/" + strings.ToLower(method), op
}

// schema compiles the schema at a JSON pointer, once.
func (o *openAPI) schema(pointer string) *jsonschema.Schema {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, known := o.schemas[pointer]; known {
		return s
	}
	var s *jsonschema.Schema
	if o.has(pointer) {
		escaped := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer)
		s = o.compiler.MustCompile("discord.json#" + escaped)
	}
	o.schemas[pointer] = s
	return s
}

// has reports whether the document has something at the pointer.
func (o *openAPI) has(pointer string) bool {
	var at any = o.doc
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, name := range strings.Split(pointer, "/")[1:] {
		m, isObject := at.(map[string]any)
		if !isObject {
			return false
		}
		if at = m[unescape.Replace(name)]; at == nil {
			return false
		}
	}
	return true
}

func complaint(schema *jsonschema.Schema, body []byte) string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	if err := schema.Validate(v); err != nil {
		return err.Error()
	}
	return ""
}
