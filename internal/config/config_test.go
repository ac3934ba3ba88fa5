package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hark/internal/golden"
)

// environ is an environment for Load.
func environ(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, text string, env ...string) Config {
	t.Helper()
	c, err := Load(write(t, "config.toml", text), environ(env...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReferenceIsThePage(t *testing.T) {
	t.Parallel()
	text := Reference()
	golden.File(t, "../../docs/configuration.md", text)
	c := Default()
	for _, f := range fieldsOf(&c) {
		if f.inTable {
			continue
		}
		if entry := "\n- **`" + f.key + "`** (`" + f.env() + "`; "; strings.Count(text, entry) != 1 {
			t.Errorf("%s isn't there once", f.key)
		}
	}
}

func TestExampleIsTheFileAndLoadsToTheDefaults(t *testing.T) {
	t.Parallel()
	const path = "../../config.example.toml"
	text := Example()
	golden.File(t, path, text)
	c, err := Load(path, environ())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, Default()) {
		t.Fatalf("the example loads to\n%+v\nand the defaults are\n%+v", c, Default())
	}
	for _, f := range append(fieldsOf(&c), listsOf(&c)[0].fields()...) {
		key := last(f.key)
		if !f.inTable && !strings.Contains(text, "\n"+key+" = ") && !strings.Contains(text, "\n# "+key+" = ") {
			t.Errorf("%s isn't in the example", f.key)
		}
		if f.help == "" && !f.inTable {
			t.Errorf("%s has no help", f.key)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 101 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

func TestFileSetsEveryKey(t *testing.T) {
	t.Parallel()
	got := load(t, `
data = "/srv/hark"
web = { listen = "off" }
builder.layout = "chat"
builder.max_tokens = 8_000
builder.max_context_chars = 2000
builder.language = "zh_hant"
builder.emoji = false
builder.line_chars = 70
builder.data_chars = 30

[discord]
token = " abc "
api_url = "http://127.0.0.1:1"
dev_guild = "81384788765712384"
answer_missed = "5m"
operator = " Ann,\tann@example.org "
[llm]
base_url = "http://localhost:11434/v1"
api_key = "k"
model = "qwen3"
max_tokens = 77
window = 8192
temperature = 1
timeout = "1m30s"
vision = true
headers.X-Title = "Hark"
[[llm.models]]
name = "Big one"
model = "qwen3:70b"
base_url = "http://localhost:11434/v1/"
window = 4096
[[llm.models]]
name = "far"
model = "far"
base_url = "https://far.example/v1"
vision = true
temperature = 0
[llm.models.headers]
X-Key = "x"
[llm.fallback]
model = "small"
vision = true
[embedding]
base_url = "http://localhost/v1"
api_key = "e"
model = "nomic"
dimensions = 256
query_prefix = "q: "
document_prefix = "d: "
[search]
rerank_url = "http://localhost:8080/rerank"
rerank_key = "r"
rerank_model = "bge"
rewrite = true
rerank_timeout = "500ms"
[memory]
start = "on"
log_bots = true
age_restricted = true
direct = true
retention = "365d"
trace_retention = "3d"
records_retention = "20d"
records_max = 30
records_tokens = 4000
catch_up = 0
reconcile = false
edit_answers = false
index_limit = 64
session_gap = "1h"
summaries = "extract"
[builder.sections.history]
priority = -1
floor = 1
ceiling = 900
modes = "search, analysis"
[builder.sections]
system_prompt.ceiling = 500
[builder.labels]
participants = "Wer"
person = "* "
last_active = "none"
[answer]
persona = """
Be kind.
"""
timezone = "Asia/Tokyo"
tool_rounds = 2
tool_tokens = 900
tool_time = "20s"
[limits]
member_messages = 3
member_tokens = 0
guild_messages = 5
guild_tokens = 7
[log]
level = "debug"
format = "json"
`)
	warm, cold, title := 1.0, 0.0, Headers{"X-Title": NewSecret("Hark")}
	number := func(n int) *int { return &n }
	want := Config{
		Data:    "/srv/hark",
		Discord: Discord{NewSecret("abc"), "http://127.0.0.1:1", "81384788765712384", Duration{5 * time.Minute}, "Ann, ann@example.org"},
		LLM: LLM{"http://localhost:11434/v1", NewSecret("k"), "qwen3", 77, 8192, &warm, Duration{90 * time.Second}, true, title,
			Fallback{"small", "http://localhost:11434/v1", NewSecret("k"), true, &warm, title},
			[]Model{
				{"Big one", "qwen3:70b", "http://localhost:11434/v1/", NewSecret("k"), "", "", 4096, false, &warm, title},
				{"far", "far", "https://far.example/v1", Secret{}, "", "", 0, true, &cold, Headers{"X-Key": NewSecret("x")}},
			}},
		Embedding: Embedding{"http://localhost/v1", NewSecret("e"), "nomic", 256, "q: ", "d: "},
		Search:    Search{"http://localhost:8080/rerank", NewSecret("r"), "bge", true, Duration{500 * time.Millisecond}},
		Memory:    Memory{"on", true, true, true, Duration{365 * 24 * time.Hour}, Duration{72 * time.Hour}, Duration{480 * time.Hour}, 30, 4000, Duration{}, false, false, 64, Duration{time.Hour}, "extract"},
		Builder:   Builder{"chat", 8000, 2000, 70, 30, "zh-TW", false, newSections(), newLabels()},
		Answer:    Answer{"Be kind.\n", "Asia/Tokyo", 2, 900, Duration{20 * time.Second}},
		Limits:    Asking{MemberMessages: 3, GuildMessages: 5, GuildTokens: 7},
		Log:       Log{"debug", "json"},
	}
	want.Builder.Sections["system_prompt"].Ceiling = number(500)
	*want.Builder.Sections["history"] = Limits{number(-1), number(1), number(900), "search, analysis"}
	for name, text := range map[string]string{"participants": "Wer", "person": "* ", "last_active": "none"} {
		want.Builder.Labels[name] = &text
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, c := range []struct{ traces, retention, want time.Duration }{{3, 0, 3}, {3, 5, 3}, {3, 2, 2}, {0, 2, 0}, {0, 0, 0}} {
		if kept := (Memory{TraceRetention: Duration{c.traces}, Retention: Duration{c.retention}}).KeepPrompts(); kept != c.want {
			t.Errorf("prompts are kept for %d where traces are for %d and messages for %d", kept, c.traces, c.retention)
		}
		if kept := (Memory{RecordsAge: Duration{c.traces}, Retention: Duration{c.retention}}).KeepRecords(); kept != c.want {
			t.Errorf("records are kept for %d where they are for %d and messages for %d", kept, c.traces, c.retention)
		}
	}
	if zone := got.Answer.Location().String(); zone != "Asia/Tokyo" {
		t.Errorf("location %s", zone)
	}
	if zone := (Answer{Timezone: "Nowhere"}).Location(); zone != time.UTC {
		t.Errorf("location %s of a zone that isn't", zone)
	}
}

func TestEveryKeyHasAVariableThatGoesBeforeTheFile(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"discord.api_url": "https://a", "discord.dev_guild": "7", "llm.base_url": "https://b", "embedding.base_url": "https://c",
		"search.rerank_url": "https://d/rerank", "search.rewrite": "true",
		"builder.layout": "plain", "builder.language": "DE", "builder.emoji": "false", "answer.timezone": "Europe/Berlin", "log.level": "warn", "log.format": "text",
		"web.listen": "[::1]:80", "llm.temperature": "0.5", "llm.vision": "true", "llm.headers": "X-Title: Hark",
		"llm.fallback.base_url": "https://e", "llm.fallback.vision": "true", "llm.fallback.temperature": "0", "llm.fallback.headers": "X-Title: Hark", "memory.log_bots": "true",
		"memory.start": "on", "memory.age_restricted": "true", "memory.direct": "true", "memory.edit_answers": "false", "memory.reconcile": "false", "memory.summaries": "off",
	}
	file := write(t, "config.toml", Example())
	c := Default()
	for _, f := range fieldsOf(&c) {
		if f.inTable {
			continue
		}
		value := values[f.key]
		env := []string{f.env(), ""}
		if strings.HasPrefix(f.key, "llm.fallback.") {
			env = append(env, "HARK_LLM_MODEL", "some")
		}
		switch f.to.(type) {
		case *int, **int:
			value = "42"
		case *Duration:
			value = "42h"
		}
		if value == "" {
			value = "something"
		}
		env[1] = value
		c, err := Load(file, environ(env...))
		if err != nil {
			t.Errorf("%s: %v", f.env(), err)
			continue
		}
		all := fieldsOf(&c)
		s := settings{fields: all}
		got := reflect.ValueOf(all[s.find(f.key)].to).Elem().Interface()
		d := Default()
		s.fields = fieldsOf(&d)
		if reflect.DeepEqual(got, reflect.ValueOf(s.fields[s.find(f.key)].to).Elem().Interface()) {
			t.Errorf("%s=%s left %s at its default", f.env(), value, f.key)
		}
		if err := CheckEnv([]string{f.env() + "=" + value}); err != nil {
			t.Errorf("CheckEnv: %v", err)
		}
	}
}

func TestWhichFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if c, err := Load("", environ()); err != nil || !reflect.DeepEqual(c, Default()) {
		t.Fatalf("with no file: %+v, %v", c, err)
	}
	for _, load := range []func() (Config, error){
		func() (Config, error) { return Load("gone.toml", environ()) },
		func() (Config, error) { return Load("", environ("HARK_CONFIG", "gone.toml")) },
	} {
		if _, err := load(); err == nil || !strings.Contains(err.Error(), "gone.toml") {
			t.Errorf("a named file that is missing: %v", err)
		}
	}
	if _, err := Load(dir, environ()); err == nil {
		t.Error("a directory was read as a file")
	}
	named := write(t, "other.toml", `data = "named"`)
	if err := os.WriteFile(DefaultFile, []byte(`data = "default"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		env  []string
		want string
	}{
		{"", nil, "default"},
		{"", []string{"HARK_CONFIG", ""}, "default"},
		{"", []string{"HARK_CONFIG", named}, "named"},
		{DefaultFile, []string{"HARK_CONFIG", named}, "default"},
		{"", []string{"HARK_DATA", "environment"}, "environment"},
		{"", []string{"HARK_DATA", ""}, "default"},
	} {
		got, err := Load(c.path, environ(c.env...))
		if err != nil || got.Data != c.want {
			t.Errorf("Load(%q) with %v: data %q, %v; want %q", c.path, c.env, got.Data, err, c.want)
		}
	}
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	file := write(t, "config.toml", "[llm]\napi_key = \"from the configuration\"")
	secret := write(t, "secret", "hunter2\r\n")
	c, err := Load(file, environ("HARK_LLM_API_KEY_FILE", secret, "HARK_DISCORD_TOKEN_FILE", secret, "HARK_LLM_API_KEY", ""))
	if err != nil || c.LLM.APIKey.Reveal() != "hunter2" || c.Discord.Token.Reveal() != "hunter2" {
		t.Errorf("%q, %q, %v", c.LLM.APIKey.Reveal(), c.Discord.Token.Reveal(), err)
	}
	empty := write(t, "empty", "\n")
	for _, env := range [][]string{{"HARK_LLM_API_KEY", "a", "HARK_LLM_API_KEY_FILE", secret}, {"HARK_LLM_API_KEY_FILE", "/nowhere/key"}, {"HARK_DISCORD_TOKEN_FILE", empty}} {
		_, err := Load(file, environ(env...))
		golden.Seen(t, strings.ReplaceAll(fmt.Sprint(err), empty, "FILE"))
	}
}

// Whatever is in a file, reading it ends, and each problem has its position.
func FuzzParse(f *testing.F) {
	f.Add(Example())
	f.Add("[llm]\nmodel = {a = [1, {b = 2}]}\n\"a.b\" = 1979-05-27\n[[web]]\n")
	f.Add("\ufeffdata.x.\"\" = '''\n'''")
	f.Add("llm = { timeout = '1', web.x = { y = 1 } }\n[discord.token]\na = 1")
	position := regexp.MustCompile(`^hark\.toml:[1-9][0-9]*:[1-9][0-9]*: `)
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		s := newSettings(&c)
		s.parse("hark.toml", []byte(text))
		for _, problem := range s.problems {
			if !position.MatchString(problem.Error()) {
				t.Errorf("no position: %v", problem)
			}
		}
	})
}

// A string from the environment arrives as it is, whatever the file says.
func TestAnyTextPassesThroughTheEnvironment(t *testing.T) {
	t.Parallel()
	file := write(t, "config.toml", Example())
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, -1).Draw(t, "persona")
		c, err := Load(file, environ("HARK_ANSWER_PERSONA", text))
		if err != nil || c.Answer.Persona != text {
			t.Fatalf("%q: %v", c.Answer.Persona, err)
		}
	})
}

func TestLabelsInAnyForm(t *testing.T) {
	t.Parallel()
	want, hot, yesterday := newLabels(), "(hot)", "gestern"
	want["high"], want["day"] = &hot, &yesterday
	for _, text := range []string{
		"[builder.labels]\nhigh = '(hot)'\nday = 'gestern'",
		"builder.labels.high = '(hot)'\nbuilder.labels.day = 'gestern'",
		"builder = { labels = { high = '(hot)', day = 'gestern' } }",
		"[builder]\nlayout = 'plain'\nlabels.high = '(hot)'\nlabels.day = 'gestern'",
	} {
		if got := load(t, text).Builder.Labels; !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for name, want := range map[string]string{"EN": "en", "zh_tw": "zh-TW", "ZH-Hant": "zh-TW", "Ja": "ja"} {
		if got := load(t, "", "HARK_BUILDER_LANGUAGE", name).Builder.Language; got != want {
			t.Errorf("language %q is %q, want %q", name, got, want)
		}
	}
}
