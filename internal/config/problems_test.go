package config

import (
	"fmt"
	"strings"
	"testing"

	"hark/internal/golden"
)

func TestProblemsOfFiles(t *testing.T) {
	t.Parallel()
	var seen strings.Builder
	for _, text := range []string{
		"\n[llm]\nmodle = 'x'",
		"llm.modle = 'x'",
		"llm = { modle = 'x' }",
		"[llm]\n  Model = 'x'",
		"[discord]\nmodel = 'x'",
		"token = 'x'",
		"[embed]\nmodel = 'x'",
		"[llm.extra]\nx = 'x'",
		"lmm = { model = 'x' }",
		"\"llm.model\" = 'x'",
		"\"\" = 'x'",
		"llm = 5",
		"[[llm]]\nmodel = 'x'",
		"[data]\nx = 1",
		"[llm.model]\nx = 1",
		"data = { x = 1 }",
		"data = 1",
		"\ufeffdata = 1",
		"[llm]\napi_key = 5",
		"[llm]\napi_key = ['x']",
		"[llm]\nmax_tokens = '5'",
		"[llm]\nmax_tokens = 1.5",
		"[llm]\ntemperature = 'hot'",
		"[llm]\ntimeout = 60",
		"[llm]\ntimeout = 'soon'",
		"[memory]\nlog_bots = 'yes'",
		"[llm]\nmodel = x",
		"data = 'a'\ndata = 'b'",

		"data = ''",
		"[discord]\ndev_guild = 'Garden'",
		"[discord]\ndev_guild = 0",
		"[discord]\ndev_guild = '0'",
		"[discord]\napi_url = 'localhost'",
		"[discord]\noperator = '" + strings.Repeat("ü", 301) + "'",
		"[llm]\nbase_url = 'ftp://x/'",
		"[llm]\nbase_url = 'http://'",
		"[llm]\nwindow = -1",
		"[llm]\nmax_tokens = 0",
		"[llm]\ntemperature = 2.1",
		"[llm]\ntemperature = nan",
		"[llm]\ntimeout = '-1s'",
		"[embedding]\nbase_url = ''",
		"[embedding]\ndimensions = -1",
		"[search]\nrerank_url = 'localhost:8080/rerank'",
		"[search]\nrerank_timeout = 0",
		"[memory]\nsession_gap = '0s'",
		"[memory]\nretention = '6m'",
		"[memory]\nretention = '23h'",
		"[memory]\nrecords_retention = '-1s'",
		"[memory]\nrecords_max = -1",
		"[memory]\nrecords_tokens = -1",
		"[memory]\ntrace_retention = '-1s'",
		"[builder]\nlayout = 'fancy'",
		"[builder]\nlanguage = 'tlh'",
		"[builder]\nlanguage = 'zh-CN'",
		"[builder]\nlanguage = ''",
		"[builder]\nemoji = 'no'",
		"[builder]\nlabels = 'x'",
		"[builder.labels]\nhi = 'x'",
		"[builder.label]\nhigh = 'x'",
		"[builder.labels]\nhigh = 1",
		"builder = { labels = { high = 1 } }",
		"[[builder.labels]]\nhigh = 'x'",
		"[builder]\nmax_tokens = -1",
		"[builder]\nmax_context_chars = -1",
		"[limits]\nmember_messages = -1",
		"[limits]\nmember_tokens = -1",
		"[limits]\nguild_messages = -1",
		"[limits]\nguild_tokens = -1",
		"[answer]\ntimezone = 'Mars'",
		"[answer]\ntimezone = ''",
		"[answer]\ntool_rounds = -1",
		"[answer]\ntool_tokens = -1",
		"[answer]\ntool_time = '0s'",
		"[log]\nlevel = 'INFO'",
		"[log]\nformat = 'xml'",
		"[web]\nlisten = 'localhost'",
		"[web]\nlisten = ':99999'",

		"[llm]\nheaders = 'x'",
		"[llm]\nheaders = ['x']",
		"[llm]\nheaders = { x = 1 }",
		"[llm.headers]\n'X Y' = 'x'",
		"[llm.headers]\nX = \"a\\nb\"",
		"[llm.headers.X]\nY = 'a'",
		"[[llm.headers]]\nY = 'a'",
		"llm.headers.Y = 5",

		"[llm]\nmodel = 'a'\n[llm.models]\nname = 'x'",
		"[llm]\nmodels = 5",
		"[llm]\nmodels = [5]",
		"[[llm.modles]]\nname = 'x'",
		"[[llm.models]]\nname = 'b'\nmodel = 'b'",
		"[[llm.models]]\nnam = 'b'",
		"[llm]\nmodels = [{ name = 'b', modle = 'b' }]",
		"[[llm.models]]\n[llm.models.name]\nx = 1",
		"[[llm.models]]\nwindow = 1\n[[llm.models]]\nwindow = '2'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'Default'\nmodel = 'b'",
		"llm.model = 'default'\n[[llm.models]]\nname = 'b'\nmodel = 'b'",
		"llm.model = 'a'\n[[llm.models]]\nmodel = 'b'",
		"llm.model = 'a'\n[[llm.models]]\nname = ' b'\nmodel = 'b'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'A'\nmodel = 'b'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\n[[llm.models]]\nname = 'B'\nmodel = 'c'",
		"llm.model = 'a'\nllm.models = [{ name = 'b', model = 'b', base_url = 'x' }]",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\nwindow = -1",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\ntemperature = 3",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key = 'x'\napi_key_env = 'Y'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_env = 'UNSET'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_env = 'HARK_KEY'",
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_file = '/nowhere/key'",
		"llm.fallback.model = 'b'",
		"[llm.fallback]\nbase_url = 'x'",
		"[llm.fallback]\ntemperature = -1",
		"[llm.fallback]\nname = 'x'",

		"[llm]\nx = 1\n[y]\nz = 1\n[log]\nlevel = 1",
	} {
		path := write(t, "config.toml", text)
		_, err := Load(path, environ("HARK_KEY", "k"))
		if err == nil {
			t.Errorf("%q: no error", text)
		}
		fmt.Fprintf(&seen, "%s\n\n%s\n\n", indented(text), strings.ReplaceAll(fmt.Sprint(err), path, "FILE"))
	}
	golden.File(t, "testdata/problems.txt", seen.String())
}

// indented is a file in a text, of whose lines none is too long to be read.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if r := []rune(line); len(r) > 100 {
			line = string(r[:20]) + "…"
		}
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestProblemsOfVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value string }{
		{"HARK_LLM_MAX_TOKENS", "many"}, {"HARK_LLM_MAX_TOKENS", "-5"}, {"HARK_LLM_TEMPERATURE", "hot"}, {"HARK_LLM_TIMEOUT", "60"},
		{"HARK_MEMORY_LOG_BOTS", "yes"}, {"HARK_BUILDER_LAYOUT", "x"}, {"HARK_ANSWER_PERSONA", "\xff"},
	} {
		_, err := Load(write(t, "config.toml", ""), environ(c.name, c.value))
		golden.Seen(t, fmt.Sprint(err))
	}
}

func TestMisspeltVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HARK_LLM_MODLE", "HARK_TOKEN", "HARK_LLM_X", "HARK_DISCORD_TOKENFILE", "HARK_LLM_MODEL_FILE", "HARK_CONFG", "HARK_LONG", "HARK_DISCORD_OPENAPI"} {
		golden.Seen(t, fmt.Sprint(CheckEnv([]string{"PATH=/bin", name + "=hunter2", "HARK_LLM_MODEL=x"})))
	}
	fine := []string{"HARK_DATA=x", "HARK_CONFIG=y", "HARK_LLM_API_KEY_FILE=a",
		"HARKEN=1", "HARK_SERVICE_HOST=10.0.0.1", "HARK_PORT=tcp://10.0.0.1:80", "HARK_PORT_80_TCP=tcp://10.0.0.1:80"}
	if err := CheckEnv(fine); err != nil {
		t.Error(err)
	}
}

func TestErrorsKeepSecrets(t *testing.T) {
	t.Parallel()
	const secret = "MTk4NjIy.Cl2FMQ"
	for _, text := range []string{
		"[discord]\ntoken = " + secret,
		"[discord]\ntoken = \"" + secret,
		"[discord]\ntoken = '" + secret + "\n",
		"[discord]\ntoken = '''" + secret,
		"[discord]\ntoken = [\"" + secret + "\"]",
		"[discord]\ntoken = { a = \"" + secret + "\" }",
		"[discord]\ntoken " + secret,
		"[llm]\nbase_url = 'http//user:" + secret + "@host'",
		"[discord]\ntoken = '" + secret + "'\ntoken = '" + secret + "'",
	} {
		_, err := Load(write(t, "config.toml", text), environ())
		if err == nil || strings.Contains(err.Error(), "MTk4NjIy") || strings.Contains(err.Error(), "Cl2FMQ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
