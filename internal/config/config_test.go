package config

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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
	for _, f := range variables(new(Default())) {
		if entry := "\n- **`" + f.key + "`** (`" + f.env() + "`; "; strings.Count(text, entry) != 1 {
			t.Errorf("%s isn't there once", f.key)
		}
	}
}

// A setting without help has no variable either.
func TestEverySettingHasHelp(t *testing.T) {
	t.Parallel()
	c, left := Default(), maps.Clone(help())
	for _, s := range sectionsOf(&c) {
		inTable := strings.HasPrefix(s.name, "builder.sections.") || s.name == "builder.labels"
		for _, f := range s.fields {
			if f.help() == "" && !inTable {
				t.Errorf("%s isn't in help.txt", f.key)
			}
			delete(left, f.key)
		}
		delete(left, s.name)
	}
	if len(left) > 0 {
		t.Errorf("help.txt tells of %q, which aren't settings", slices.Collect(maps.Keys(left)))
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
	if where := c.From["web.listen"]; !strings.HasPrefix(where, path+":") {
		t.Errorf("web.listen was set by %q", where)
	}
	if !sameValues(c, Default()) {
		t.Fatalf("the example loads to\n%+v\nand the defaults are\n%+v", c, Default())
	}
	for _, section := range sectionsOf(&c) {
		for _, f := range section.fields {
			key := last(f.key)
			if f.help() != "" && !strings.Contains(text, "\n"+key+" = ") && !strings.Contains(text, "\n# "+key+" = ") {
				t.Errorf("%s isn't in the example", f.key)
			}
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 101 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// Every setting can be given in the file and by its variable, which goes before the file.
func TestEverySettingInTheFileAndByItsVariable(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"discord.api_url": "https://a", "discord.dev_guild": "7", "llm.base_url": "https://b", "embedding.base_url": "https://c", "search.rerank_url": "https://d/rerank",
		"builder.layout": "plain", "builder.language": "DE", "answer.timezone": "Europe/Berlin", "log.level": "warn", "log.format": "text", "web.listen": "[::1]:80",
		"store": "postgres://hark:pass@localhost/hark", "llm.temperature": "0.5", "llm.headers": "X-Title: Hark", "llm.fallback.base_url": "https://e", "llm.transcription.base_url": "https://g", "llm.fallback.temperature": "0", "llm.fallback.headers": "X-Title: Hark",
		"llm.thinking": "low", "llm.fallback.thinking": "off", "llm.extra": `{"top_k": 40}`, "llm.fallback.extra": `{ top_k = 40 }`,
		"memory.start": "on", "memory.summaries": "off", "web.url": "https://f", "web.password": "something to remember",
	}
	example := write(t, "config.toml", Example())
	for i, f := range variables(new(Default())) {
		value := values[f.key]
		switch to := f.to.(type) {
		case *int, *Shards:
			value = "42"
		case *bool:
			value = strconv.FormatBool(!*to)
		case *Duration:
			value = "42h"
		}
		value = cmp.Or(value, "something")
		env := []string{f.env(), value}
		text := strconv.Quote(value)
		switch f.to.(type) {
		case *int, *Shards, *bool, **float64:
			text = value
		case *Headers:
			text = `{ X-Title = "Hark" }`
		case *Extra:
			text = `{ top_k = 40 }`
		}
		text = f.key + " = " + text + "\n"
		if strings.HasPrefix(f.key, "llm.fallback.") {
			env, text = append(env, "HARK_LLM_MODEL", "some"), text+"llm.model = 'some'\n"
		}
		byVariable, err := Load(example, environ(env...))
		if err != nil {
			t.Errorf("%s: %v", f.env(), err)
			continue
		}
		byFile, other := load(t, text), load(t, text, f.env(), "")
		for name, c := range map[string]*Config{"variable": &byVariable, "file": &byFile,
			"file beside an empty variable": &other} {
			got := reflect.ValueOf(variables(c)[i].to).Elem().Interface()
			if reflect.DeepEqual(got, reflect.ValueOf(f.to).Elem().Interface()) || !sameValues(*c, byFile) {
				t.Errorf("by %s, %s is %v of %s", name, f.key, got, value)
			}
		}
		if err := CheckEnv([]string{f.env() + "=" + value}); err != nil {
			t.Errorf("CheckEnv: %v", err)
		}
	}
}

// What is shown of a configuration has no secrets, not even those in addresses.
func TestValuesHaveNoSecrets(t *testing.T) {
	t.Parallel()
	c := load(t, `discord.token = "SECRET"
store = "postgres://hark:SECRET@localhost/hark"
llm = { model = "m", api_key = "SECRET", base_url = "https://user:SECRET@api.example.org/v1?key=SECRET" }
search.rerank_url = "https://rerank.example.org/?api_key=SECRET"
`, "HARK_LLM_EXTRA", `{"user": "SECRET", "source": {"key": "SECRET"}}`)
	texts := map[string]string{}
	for _, v := range c.Values() {
		texts[v.Key] = v.Text
		if strings.Contains(v.Text, "SECRET") {
			t.Errorf("%s shows %s", v.Key, v.Text)
		}
	}
	if texts["llm.base_url"] != `"https://api.example.org/v1?…"` || texts["discord.token"] != "set" || texts["web.password"] != "not set" || texts["llm.extra"] != "set: source, user" ||
		texts["llm.fallback.extra"] != "not set" {
		t.Error(texts)
	}
}

// sameValues reports whether two configurations are the same, wherever their values are from.
func sameValues(a, b Config) bool {
	a.From, b.From = nil, nil
	return reflect.DeepEqual(a, b)
}

// What is written in a file is taken as it is meant.
func TestFile(t *testing.T) {
	t.Parallel()
	got := load(t, `
web = { listen = "off" }
builder.max_tokens = 8_000
builder.language = "zh_hant"
[discord]
token = " abc "
operator = " Ann,\tann@example.org "
[memory]
retention = "365d"
catch_up = 0
session_gap = "1h30m"
[builder.sections.history]
priority = -1
floor = 1
ceiling = 900
modes = "search, analysis"
[builder.sections]
system_prompt.ceiling = 500
[answer]
persona = """
Be kind.
"""
timezone = "Asia/Tokyo"
[limits]
member_tokens = 0
`)
	want := Default()
	want.Web.Listen, want.Builder.MaxTokens, want.Builder.Language = "", 8000, "zh-TW"
	want.Discord.Token, want.Discord.Operator = NewSecret("abc"), "Ann, ann@example.org"
	want.Memory.Retention.Duration, want.Memory.CatchUp.Duration, want.Memory.SessionGap.Duration = 365*24*time.Hour, 0, 90*time.Minute
	want.Builder.Sections = Sections{"history": {new(-1), new(1), new(900), "search, analysis"},
		"system_prompt": {Ceiling: new(500)}}
	want.Answer.Persona, want.Answer.Timezone, want.Limits.MemberTokens = "Be kind.\n", "Asia/Tokyo", 0
	if !sameValues(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, c := range []struct{ traces, retention, want time.Duration }{{3, 0, 3}, {3, 5, 3}, {3, 2, 2},
		{0, 2, 0}, {0, 0, 0}} {
		m := Memory{TraceRetention: Duration{c.traces}, RecordsAge: Duration{c.traces},
			Retention: Duration{c.retention}}
		if m.KeepPrompts() != c.want || m.KeepRecords() != c.want {
			t.Errorf("%+v: prompts are kept for %d, records for %d", c, m.KeepPrompts(), m.KeepRecords())
		}
	}
	if zone, none := got.Answer.Location().String(),
		(Answer{Timezone: "Nowhere"}).Location(); zone != "Asia/Tokyo" || none != time.UTC {
		t.Errorf("locations %s and %s", zone, none)
	}
}

func TestWhichFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if c, err := Load("", environ()); err != nil || !sameValues(c, Default()) {
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
	c, err := Load(file, environ("HARK_LLM_API_KEY_FILE", secret, "HARK_DISCORD_TOKEN_FILE", secret,
		"HARK_LLM_API_KEY", ""))
	if err != nil || c.LLM.APIKey.Reveal() != "hunter2" || c.Discord.Token.Reveal() != "hunter2" {
		t.Errorf("%q, %q, %v", c.LLM.APIKey.Reveal(), c.Discord.Token.Reveal(), err)
	}
	const database = "postgres://hark:hunter2@db/hark"
	if c, err = Load(file, environ("HARK_STORE_FILE", write(t, "store", database+"\n"))); err != nil ||
		c.Store.Reveal() != database || strings.Contains(fmt.Sprintf("%+v", c), "hunter2") {
		t.Errorf("%+v, %v", c, err)
	}
	empty := write(t, "empty", "\n")
	for _, env := range [][]string{{"HARK_LLM_API_KEY", "a", "HARK_LLM_API_KEY_FILE", secret},
		{"HARK_LLM_API_KEY_FILE", "/nowhere/key"}, {"HARK_DISCORD_TOKEN_FILE", empty}} {
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
		s := newSettings(new(Default()))
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
	want := Labels{"high": "(hot)", "day": "gestern"}
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

// A prefix that isn't set is something else than an empty one, in the file and in a variable.
func TestPrefixesThatAreNotSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, variable string
		want           string // of what is loaded
	}{
		{"", "", "<nil>"},
		{"[embedding]\nquery_prefix = ''", "", `""`},
		{"[embedding]\nquery_prefix = 'query: '", "", `"query: "`},
		{"[embedding]\nquery_prefix = 'query: '", `""`, `""`},
		{"", "question: ", `"question: "`},
		{"[embedding]\npath = 'x'\nquery_prefix = ''", "", `""`},
	} {
		c, err := LoadText("file", tt.text, environ("HARK_EMBEDDING_QUERY_PREFIX", tt.variable))
		got := "<nil>"
		if p := c.Embedding.QueryPrefix; p != nil {
			got = strconv.Quote(*p)
		}
		if err != nil || got != tt.want || c.Embedding.DocumentPrefix != nil {
			t.Errorf("%q and %q: %s, %v", tt.text, tt.variable, got, err)
		}
	}
}
