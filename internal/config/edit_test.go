package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, key string
		to              any
		want            string // "" for an error
	}{
		{"nothing", "", "llm.model", "a", "[llm]\nmodel = 'a'\n"},
		{"no section", "", "data", "x", "data = 'x'\n"},
		{"in front of sections", "# mine\n[llm]\n", "data", "x", "data = 'x'\n# mine\n[llm]\n"},
		{"beside another section", "[log]\nlevel = 'info'", "llm.model", "a",
			"[log]\nlevel = 'info'\n\n[llm]\nmodel = 'a'\n"},
		{"into its section", "[llm] # the model\nwindow = 3\n\n[log]\n", "llm.model", "a",
			"[llm] # the model\nmodel = 'a'\nwindow = 3\n\n[log]\n"},
		{"into a section at the end", "[llm]", "llm.model", "a", "[llm]\nmodel = 'a'\n"},
		{"in place", "[llm]\nmodel = \"old\" # mine\nwindow = 3\n", "llm.model", "new",
			"[llm]\nmodel = 'new' # mine\nwindow = 3\n"},
		{"a number", "[embedding]\ndimensions = 0\n", "embedding.dimensions", 64, "[embedding]\ndimensions = 64\n"},
		{"the same number twice", "[llm]\nwindow = 64\n[embedding]\ndimensions = 64\n",
			"embedding.dimensions", 32, "[llm]\nwindow = 64\n[embedding]\ndimensions = 32\n"},
		{"dotted", "llm.model = 'old'\n", "llm.model", "new", "llm.model = 'new'\n"},
		{"quoted", "[llm]\n\"model\" = '''\nold'''\n", "llm.model", "new", "[llm]\n\"model\" = 'new'\n"},
		{"not another section's", "[embedding]\nmodel = 'e'\n[llm]\nmodel = 'old'\n", "llm.model", "new",
			"[embedding]\nmodel = 'e'\n[llm]\nmodel = 'new'\n"},
		{"not a list's", "[llm]\nmodel = 'a'\n[[llm.models]]\nmodel = 'b'\n", "llm.model", "new",
			"[llm]\nmodel = 'new'\n[[llm.models]]\nmodel = 'b'\n"},
		{"with what TOML escapes", "", "llm.api_key", "a'b\\\"\n", "[llm]\napi_key = \"a'b\\\\\\\"\\n\"\n"},
		{"in a table of one line", "llm = { model = 'old' }\n", "llm.model", "new", "llm = { model = 'new' }\n"},
		{"beside a table of one line", "llm = { window = 3 }\n", "llm.model", "new", ""},
		{"beside a dotted key", "llm.window = 3\n", "llm.model", "new", ""},
		{"beside a text that looks like a section",
			"[answer]\npersona = \"\"\"\n[llm]\nmodel = 'a'\n\"\"\"\n[llm]\nmodel = 'old'\n", "llm.model", "new",
			"[answer]\npersona = \"\"\"\n[llm]\nmodel = 'a'\n\"\"\"\n[llm]\nmodel = 'new'\n"},
		{"left out", "[llm]\nwindow = 3\nmodel = \"\"\"\nold\"\"\" # mine\nvision = true\n", "llm.model", nil,
			"[llm]\nwindow = 3\nvision = true\n"},
		{"the last left out", "[llm]\nmodel = 'old'", "llm.model", nil, "[llm]\n"},
		{"left out where it isn't", "[llm]\nwindow = 3\n", "llm.model", nil, "[llm]\nwindow = 3\n"},
		{"left out where its section isn't", "data = 'x'\n", "llm.model", nil, "data = 'x'\n"},
		{"left out of a table of one line", "llm = { model = 'old', window = 3 }\n", "llm.model", nil, ""},
		{"no TOML", "[llm", "llm.model", "new", ""},
		{"no value", "", "llm.model", 3.5, ""},
	} {
		got, err := Edit(c.text, []Value{{c.key, c.to}})
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s:\ngot  %q, %v\nwant %q", c.name, got, err, c.want)
		}
	}
}

// Whatever values are set in the example, they are read again, and nothing else is changed.
func TestEditKeepsTheRest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~äß漢\t\n]{1,20}`)
		values := []Value{
			{"discord.token", text.Draw(t, "token")}, {"llm.model", text.Draw(t, "model")},
			{"embedding.model", text.Draw(t, "embedding")}, {"embedding.dimensions",
				rapid.IntRange(0, 9999).Draw(t, "dimensions")},
		}
		// two models of one name are refused
		before := rapid.SampledFrom([]string{"", Example(),
			"[log]\nlevel = 'warn'\n[[llm.models]]\nname = 'longer than what is drawn'\nmodel = 'c'\n"}).Draw(t, "before")
		edited, err := Edit(before, values)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "config.toml")
		if err := Write(path, edited); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, environ())
		if err != nil {
			t.Fatal(err)
		}
		if c.Discord.Token.Reveal() != strings.TrimSpace(values[0].To.(string)) ||
			c.LLM.Model != values[1].To || c.Embedding.Model != values[2].To || c.Embedding.Dimensions != values[3].To {
			t.Errorf("%q became %+v", values, c)
		}
		kept := slices.Collect(strings.Lines(edited))
		for line := range strings.Lines(before) {
			changed := strings.HasPrefix(line, "token") || strings.HasPrefix(line, "model") ||
				strings.HasPrefix(line, "dimensions")
			if !changed && !slices.Contains(kept, line) {
				t.Errorf("%q is gone from %s", line, edited)
			}
		}
	})
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "config.toml"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o644), os.Symlink(path, link),
		Write(link, "new")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	info, statErr := os.Lstat(path)
	if string(data) != "new" || err != nil || statErr != nil || info.Mode() != 0o600 {
		t.Errorf("%q with mode %v, %v, %v", data, info.Mode(), err, statErr)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"none/config.toml", "full"} { // without a directory, and in the place of one
		if err := Write(filepath.Join(dir, path), "x"); err == nil {
			t.Errorf("%s is written", path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
}

func TestSecretsIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"": nil, Example(): nil, "[log]\nlevel = 'info'": nil, "no TOML": nil,
		"[discord]\ntoken = 'x'\n[llm]\nheaders = { a = 'b' }":                                                    {"discord.token", "llm.headers"},
		"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key = 'k'\nwrong = 1\n[x]\ntoken = 'none'": {"llm.models.api_key"},
	} {
		got, err := SecretsIn(write(t, "config.toml", text))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := SecretsIn("/nowhere/config.toml"); err == nil {
		t.Error("a file that isn't there has no secrets")
	}
}
