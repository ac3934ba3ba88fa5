package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A list may be written in each of TOML's ways.
func TestListsInAnyForm(t *testing.T) {
	t.Parallel()
	want := []Model{
		{Name: "b", Model: "bb", BaseURL: "http://b/v1", APIKey: NewSecret("k"), Window: 5, Thinking: "auto"},
		{Name: "c", Model: "cc", BaseURL: "http://c/v1", Headers: Headers{"X": NewSecret("x"), "Y": NewSecret("y")}, Thinking: "auto"},
	}
	for _, text := range []string{
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'bb'\nbase_url = 'http://b/v1'\napi_key = 'k'\nwindow = 5\n" +
			"[[llm.models]]\nname = 'c'\nmodel = 'cc'\nbase_url = 'http://c/v1'\n[llm.models.headers]\nX = 'x'\nY = ' y'",
		"[[llm.models]]\nname = 'b'\nmodel = 'bb'\nbase_url = 'http://b/v1'\napi_key = 'k'\nwindow = 5\n" +
			"[[llm.models]]\nname = 'c'\nmodel = 'cc'\nbase_url = 'http://c/v1'\nheaders.X = 'x'\nheaders.Y = 'y'\n[llm]\nmodel = 'a'",
		"[llm]\nmodel = 'a'\nmodels = [{ name = 'b', model = 'bb', base_url = 'http://b/v1', api_key = 'k', window = 5 },\n" +
			"{ name = 'c', model = 'cc', base_url = 'http://c/v1', headers = { X = 'x', Y = 'y' } }]",
		"llm = { model = 'a', models = [{ name = 'b', model = 'bb', base_url = 'http://b/v1', api_key = 'k', window = 5 }, " +
			"{ name = 'c', model = 'cc', base_url = 'http://c/v1', headers.X = 'x', headers.Y = 'y' }] }",
	} {
		if got := load(t, text).LLM.Models; !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	}
	if got := load(t, "llm.models = []").LLM.Models; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// The example of a list is one, once it is no comment.
func TestExampleOfAList(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(Example(), "# [[llm.models]]\n")
	block, _, _ := strings.Cut(rest, "\n\n")
	text := "llm.model = 'a'\n[[llm.models]]\n"
	for line := range strings.Lines(block) {
		if !strings.Contains(line, "api_key_") { // of these there is one at most, and not here
			text += strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ")
		}
	}
	half := 0.7
	want := []Model{{"local", "qwen3:8b", "http://localhost:11434/v1", Secret{}, "", "", 8192, false, &half,
		Headers{"X-Title": NewSecret("Hark")}, "off", Extra{"top_k": NewSecret("40")}, 2}}
	if got := load(t, text).LLM.Models; !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
	}
}

// What is secret of one server isn't told to another.
func TestKeysStayWithTheirServers(t *testing.T) {
	t.Parallel()
	c := load(t, `
[llm]
model = "a"
base_url = "https://one/v1"
api_key = "one's"
temperature = 0.5
thinking = "low"
at_once = 3
headers = { "X-Key" = "one's too" }
extra = { user = "one's third" }
[[llm.models]]
name = "same"
model = "b"
[[llm.models]]
name = "other"
model = "c"
base_url = "https://two/v1"
at_once = 2
[[llm.models]]
name = "own"
model = "d"
api_key = "own"
temperature = 1
headers = { "X-Own" = "own" }
thinking = "high"
extra = {}
[[llm.models]]
name = "last"
model = "f"
base_url = "https://two/v1/"
[llm.fallback]
model = "e"
base_url = "https://three/v1"
`)
	one, half, full := NewSecret("one's"), 0.5, 1.0
	headers := Headers{"X-Key": NewSecret("one's too")}
	extra := Extra{"user": NewSecret(`"one's third"`)}
	want := []Model{
		{Name: "same", Model: "b", BaseURL: "https://one/v1", APIKey: one, Temperature: &half, Headers: headers,
			Thinking: "low", Extra: extra, AtOnce: 3},
		{Name: "other", Model: "c", BaseURL: "https://two/v1", Temperature: &half, Thinking: "low", AtOnce: 2},
		{Name: "own", Model: "d", BaseURL: "https://one/v1", APIKey: NewSecret("own"), Temperature: &full,
			Headers: Headers{"X-Own": NewSecret("own")}, Thinking: "high", Extra: Extra{}, AtOnce: 3},
		{Name: "last", Model: "f", BaseURL: "https://two/v1/", Temperature: &half, Thinking: "low", AtOnce: 2},
	}
	if !reflect.DeepEqual(c.LLM.Models, want) {
		t.Errorf("got  %+v\nwant %+v", c.LLM.Models, want)
	}
	if f := (Fallback{Model: "e", BaseURL: "https://three/v1",
		Temperature: &half, Thinking: "low"}); !reflect.DeepEqual(c.LLM.Fallback, f) {
		t.Errorf("got %+v, want %+v", c.LLM.Fallback, f)
	}
	if seen := fmt.Sprintf("%+v %#v %v", c, c.LLM, c.LLM.Headers); strings.Contains(seen, "one's") ||
		strings.Contains(seen, "own's") {
		t.Error("a secret shows")
	}
	if got := c.LLM.Headers.Reveal(); !reflect.DeepEqual(got, map[string]string{"X-Key": "one's too"}) ||
		(Headers{}).Reveal() != nil {
		t.Errorf("headers %q", got)
	}
}

func TestKeysOfListsFromElsewhere(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf("llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_file = '%s'\n"+
		"[[llm.models]]\nname = 'c'\nmodel = 'c'\napi_key_env = 'MINE'", write(t, "key", "from a file\n"))
	models := load(t, text, "MINE", " from a variable\n").LLM.Models
	if models[0].APIKey.Reveal() != "from a file" || models[1].APIKey.Reveal() != "from a variable" {
		t.Errorf("%q, %q", models[0].APIKey.Reveal(), models[1].APIKey.Reveal())
	}
	// An empty file's or variable's place mustn't be taken by the default's key.
	text = fmt.Sprintf("[llm]\nmodel = 'a'\napi_key = 'k'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_file = '%s'",
		write(t, "key", ""))
	if _, err := Load(write(t, "config.toml", text), environ()); err == nil {
		t.Error(err)
	}
}

func TestHeadersFromElsewhere(t *testing.T) {
	t.Parallel()
	want := Headers{"X-Title": NewSecret("Hark: a bot"), "X-Key": NewSecret("k")}
	const lines = "X-Title: Hark: a bot\r\n\nX-Key:k\n"
	if got := load(t, "llm.headers.No = 'no'", "HARK_LLM_HEADERS", lines).LLM.Headers; !reflect.DeepEqual(got, want) {
		t.Errorf("from a variable: %v", got.Reveal())
	}
	if got := load(t, "", "HARK_LLM_HEADERS_FILE",
		write(t, "headers", lines)).LLM.Headers; !reflect.DeepEqual(got, want) {
		t.Errorf("from a file: %v", got.Reveal())
	}
	if err := CheckEnv([]string{"HARK_LLM_HEADERS_FILE=x", "HARK_LLM_FALLBACK_API_KEY_FILE=x"}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"X-Title", "X Title: a", ": a", "X: \x00"} {
		if _, err := Load(write(t, "config.toml", ""), environ("HARK_LLM_HEADERS", bad)); err == nil ||
			!strings.HasPrefix(err.Error(), "HARK_LLM_HEADERS: llm.headers ") ||
			strings.Contains(err.Error(), "Title:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
