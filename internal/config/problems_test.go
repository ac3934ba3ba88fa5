package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"hark/internal/golden"
)

var (
	indented = regexp.MustCompile(`(?m)(^    .*\n)+`)
	indent   = regexp.MustCompile(`(?m)^    `)
)

// TestProblemsOfFiles reads the files in testdata/problems.txt, the indented parts, and holds what is below
// each against what is said of it. A file is added there, and -update writes the rest.
func TestProblemsOfFiles(t *testing.T) {
	t.Parallel()
	const path = "testdata/problems.txt"
	known, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for _, block := range indented.FindAllString(string(known), -1) {
		file := write(t, "config.toml", indent.ReplaceAllString(block, ""))
		_, err := Load(file, environ("HARK_KEY", "k"))
		if err == nil {
			t.Errorf("%q: no error", block)
		}
		fmt.Fprintf(&seen, "%s\n%s\n\n", block, strings.ReplaceAll(fmt.Sprint(err), file, "FILE"))
	}
	golden.File(t, path, seen.String())
}

func TestProblemsOfVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value string }{
		{"HARK_LLM_MAX_TOKENS", "many"}, {"HARK_LLM_MAX_TOKENS", "-5"}, {"HARK_LLM_TEMPERATURE",
			"hot"}, {"HARK_LLM_TIMEOUT", "60"},
		{"HARK_MEMORY_LOG_BOTS", "yes"}, {"HARK_BUILDER_LAYOUT", "x"}, {"HARK_ANSWER_PERSONA", "\xff"},
		{"HARK_STORE", "hark.db"}, {"HARK_STORE", "postgres://hark:p@ss/word@db/hark"},
		{"HARK_LLM_EXTRA", "top_k"}, {"HARK_LLM_EXTRA", `{"top_k": 40`}, {"HARK_LLM_EXTRA", "[1]"}, {"HARK_LLM_EXTRA", "null"},
		{"HARK_LLM_EXTRA", `{"top_k": 40} {}`}, {"HARK_LLM_EXTRA", "{ top_k = 40 }\nmore = 1"},
		{"HARK_LLM_EXTRA", `{"model": "x"}`}, {"HARK_LLM_THINKING", "false"}, {"HARK_LLM_AT_ONCE", "-1"},
		{"HARK_DISCORD_OPERATOR", strings.Repeat("ü", 301)},
		{"HARK_DISCORD_TOKEN", `"abc.def"`}, {"HARK_LLM_MODEL", "“qwen3”"}, {"HARK_LLM_BASE_URL", "'http://x/v1'"},
	} {
		_, err := Load(write(t, "config.toml", ""), environ(c.name, c.value))
		golden.Seen(t, fmt.Sprint(err))
	}
}

func TestMisspeltVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HARK_LLM_MODLE", "HARK_TOKEN", "HARK_LLM_X", "HARK_DISCORD_TOKENFILE",
		"HARK_LLM_MODEL_FILE", "HARK_CONFG", "HARK_LONG", "HARK_DISCORD_OPENAPI", "HARK_X", "HARK_DISCORD_BOT_TOKEN"} {
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
