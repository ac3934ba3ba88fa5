package config

import (
	"strings"
	"testing"
)

func TestProblemsOfFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"\n[llm]\nmodle = 'x'", "3:1: unknown key llm.modle; did you mean llm.model?"},
		{"llm.modle = 'x'", "1:1: unknown key llm.modle; did you mean llm.model?"},
		{"llm = { modle = 'x' }", "1:9: unknown key llm.modle; did you mean llm.model?"},
		{"[llm]\n  Model = 'x'", "2:3: unknown key llm.Model; did you mean llm.model?"},
		{"[discord]\nmodel = 'x'", "2:1: unknown key discord.model; did you mean llm.model?"},
		{"token = 'x'", "1:1: unknown key token; did you mean discord.token?"},
		{"[embed]\nmodel = 'x'", "1:2: unknown section [embed]; did you mean [embedding]?"},
		{"[llm.extra]\nx = 'x'", "1:2: unknown section [llm.extra]; did you mean [[llm.models]]?"},
		{"lmm = { model = 'x' }", "1:1: unknown section [lmm]; did you mean [llm]?"},
		{"\"llm.model\" = 'x'", `1:1: unknown key "llm.model"; did you mean llm.model?`},
		{"\"\" = 'x'", `1:1: unknown key ""; did you mean data?`},
		{"llm = 5", "1:1: llm is a section: write [llm] and its keys below"},
		{"[[llm]]\nmodel = 'x'", "1:3: llm wants a single section: write [llm]"},
		{"[data]\nx = 1", "1:2: data wants text in quotes, not a section"},
		{"[llm.model]\nx = 1", "1:2: llm.model wants text in quotes, not a section"},
		{"data = { x = 1 }", "1:1: data wants text in quotes"},
		{"data = 1", "1:1: data wants text in quotes"},
		{"\ufeffdata = 1", "1:1: data wants text in quotes"},
		{"[llm]\napi_key = 5", "2:1: llm.api_key wants text in quotes"},
		{"[llm]\napi_key = ['x']", "2:1: llm.api_key wants text in quotes"},
		{"[llm]\nmax_tokens = '5'", "2:1: llm.max_tokens wants a whole number, without quotes"},
		{"[llm]\nmax_tokens = 1.5", "2:1: llm.max_tokens wants a whole number, without quotes"},
		{"[llm]\ntemperature = 'hot'", "2:1: llm.temperature wants a number, without quotes"},
		{"[llm]\ntimeout = 60", `2:1: llm.timeout wants a time with its unit, such as "90s", "1h30m" or "30d"`},
		{"[llm]\ntimeout = 'soon'", `2:1: llm.timeout wants a time with its unit, such as "90s", "1h30m" or "30d"`},
		{"[memory]\nlog_bots = 'yes'", "2:1: memory.log_bots wants true or false, without quotes"},
		{"[llm]\nmodel = x", "2:9: unexpected character U+0078 'x' at start of value"},
		{"data = 'a'\ndata = 'b'", "2:1: key data is already defined"},

		{"data = ''", `1:1: data wants a directory, such as "./data"`},
		{"[discord]\ndev_guild = 'Garden'", "2:1: discord.dev_guild wants a server's id, such as \"81384788765712384\", or nothing"},
		{"[discord]\ndev_guild = 0", "2:1: discord.dev_guild wants text in quotes"},
		{"[discord]\ndev_guild = '0'", "2:1: discord.dev_guild wants a server's id…"},
		{"[discord]\napi_url = 'localhost'", "2:1: discord.api_url wants an address that begins with http:// or https://, or nothing"},
		{"[discord]\noperator = '" + strings.Repeat("ü", 301) + "'", "2:1: discord.operator wants at most 300 characters"},
		{"[llm]\nbase_url = 'ftp://x/'", "2:1: llm.base_url wants an address that begins with http:// or https://"},
		{"[llm]\nbase_url = 'http://'", "2:1: llm.base_url wants an address that begins with http:// or https://"},
		{"[llm]\nwindow = -1", "2:1: llm.window wants a number above 0, or 0 for what is known of the model"},
		{"[llm]\nmax_tokens = 0", "2:1: llm.max_tokens wants a number above 0"},
		{"[llm]\ntemperature = 2.1", "2:1: llm.temperature wants a number from 0 to 2"},
		{"[llm]\ntemperature = nan", "2:1: llm.temperature wants a number from 0 to 2"},
		{"[llm]\ntimeout = '-1s'", `2:1: llm.timeout wants a time above 0, such as "30m"`},
		{"[embedding]\nbase_url = ''", "2:1: embedding.base_url wants an address that begins with http:// or https://"},
		{"[embedding]\ndimensions = -1", "2:1: embedding.dimensions wants a number above 0, or 0 for the model's own"},
		{"[search]\nrerank_url = 'localhost:8080/rerank'", "2:1: search.rerank_url wants an address that begins with http:// or https://, or nothing"},
		{"[search]\nrerank_timeout = 0", `2:1: search.rerank_timeout wants a time above 0, such as "2s"`},
		{"[memory]\nsession_gap = '0s'", `2:1: memory.session_gap wants a time above 0, such as "30m"`},
		{"[memory]\nrecords_retention = '-1s'", `2:1: memory.records_retention wants a time such as "30d" or "12h", or 0`},
		{"[memory]\nrecords_max = -1", "2:1: memory.records_max wants a number above 0, or 0 for no limit"},
		{"[memory]\nrecords_tokens = -1", "2:1: memory.records_tokens wants a number above 0, or 0 for no limit"},
		{"[memory]\ntrace_retention = '-1s'", `2:1: memory.trace_retention wants a time such as "30d" or "12h", or 0`},
		{"[builder]\nlayout = 'fancy'", `2:1: builder.layout wants "sections", "plain" or "chat"`},
		{"[builder]\nlanguage = 'tlh'", `2:1: builder.language wants "en", "de", "fr", "es", "ja" or "zh-TW"`},
		{"[builder]\nlanguage = 'zh-CN'", `2:1: builder.language wants "en", "de", "fr", "es", "ja" or "zh-TW"`},
		{"[builder]\nlanguage = ''", `2:1: builder.language wants "en", "de", "fr", "es", "ja" or "zh-TW"`},
		{"[builder]\nemoji = 'no'", "2:1: builder.emoji wants true or false, without quotes"},
		{"[builder]\nlabels = 'x'", "2:1: builder.labels is a section: write [builder.labels] and its keys below"},
		{"[builder.labels]\nhi = 'x'", "2:1: unknown key builder.labels.hi; did you mean builder.labels.high?"},
		{"[builder.label]\nhigh = 'x'", "1:2: unknown section [builder.label]; did you mean [builder.labels]?"},
		{"[builder.labels]\nhigh = 1", "2:1: builder.labels.high wants text in quotes"},
		{"builder = { labels = { high = 1 } }", "1:24: builder.labels.high wants text in quotes"},
		{"[[builder.labels]]\nhigh = 'x'", "1:3: builder.labels wants a single section: write [builder.labels]"},
		{"[builder]\nmax_tokens = -1", "2:1: builder.max_tokens wants a number above 0"},
		{"[builder]\nmax_context_chars = -1", "2:1: builder.max_context_chars wants a number above 0, or 0 for no limit"},
		{"[limits]\nmember_messages = -1", "2:1: limits.member_messages wants a number above 0, or 0 for no limit"},
		{"[limits]\nmember_tokens = -1", "2:1: limits.member_tokens wants a number above 0, or 0 for no limit"},
		{"[limits]\nguild_messages = -1", "2:1: limits.guild_messages wants a number above 0, or 0 for no limit"},
		{"[limits]\nguild_tokens = -1", "2:1: limits.guild_tokens wants a number above 0, or 0 for no limit"},
		{"[answer]\ntimezone = 'Mars'", `2:1: answer.timezone wants the IANA name of a time zone, such as "UTC" or "Europe/Berlin"`},
		{"[answer]\ntimezone = ''", `2:1: answer.timezone wants the IANA name of a time zone, such as "UTC" or "Europe/Berlin"`},
		{"[answer]\ntool_rounds = -1", "2:1: answer.tool_rounds wants a number above 0, or 0 for no tools"},
		{"[answer]\ntool_tokens = -1", "2:1: answer.tool_tokens wants a number above 0, or 0 for as many as a prompt"},
		{"[answer]\ntool_time = '0s'", `2:1: answer.tool_time wants a time above 0, such as "1m"`},
		{"[log]\nlevel = 'INFO'", `2:1: log.level wants "debug", "info", "warn" or "error"`},
		{"[log]\nformat = 'xml'", `2:1: log.format wants "auto", "text" or "json"`},
		{"[web]\nlisten = 'localhost'", `2:1: web.listen wants a host and port, such as "127.0.0.1:8765", or "off"`},
		{"[web]\nlisten = ':99999'", `2:1: web.listen wants a host and port, such as "127.0.0.1:8765", or "off"`},

		{"[llm]\nheaders = 'x'", `2:1: llm.headers wants a table of texts, such as { "X-Title" = "Hark" }`},
		{"[llm]\nheaders = ['x']", `2:1: llm.headers wants a table of texts…`},
		{"[llm]\nheaders = { x = 1 }", `2:1: llm.headers wants a table of texts…`},
		{"[llm.headers]\n'X Y' = 'x'", `1:2: llm.headers wants a table of texts…`},
		{"[llm.headers]\nX = \"a\\nb\"", `1:2: llm.headers wants a table of texts…`},
		{"[llm.headers.X]\nY = 'a'", `1:2: llm.headers wants a table of texts…`},
		{"[[llm.headers]]\nY = 'a'", `1:3: llm.headers wants a table of texts…`},
		{"llm.headers.Y = 5", `1:1: llm.headers wants a table of texts…`},

		{"[llm]\nmodel = 'a'\n[llm.models]\nname = 'x'", "3:2: llm.models wants a section for each: write [[llm.models]]"},
		{"[llm]\nmodels = 5", "2:1: llm.models wants a section for each: write [[llm.models]]"},
		{"[llm]\nmodels = [5]", "2:1: llm.models wants a section for each: write [[llm.models]]"},
		{"[[llm.modles]]\nname = 'x'", "1:3: unknown section [llm.modles]; did you mean [[llm.models]]?"},
		{"[[llm.models]]\nname = 'b'\nmodel = 'b'", "1:3: llm.models wants a default besides: name it in llm.model"},
		{"[[llm.models]]\nnam = 'b'", "2:1: unknown key llm.models.nam; did you mean llm.models.name?"},
		{"[llm]\nmodels = [{ name = 'b', modle = 'b' }]", "2:25: unknown key llm.models.modle; did you mean llm.models.model?"},
		{"[[llm.models]]\n[llm.models.name]\nx = 1", "2:2: llm.models.name wants text in quotes, not a section"},
		{"[[llm.models]]\nwindow = 1\n[[llm.models]]\nwindow = '2'", "4:1: llm.models.window wants a whole number, without quotes"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'Default'\nmodel = 'b'", "3:1: llm.models.name wants another name than \"default\", by which people choose llm.model"},
		{"llm.model = 'default'\n[[llm.models]]\nname = 'b'\nmodel = 'b'", "1:1: llm.model wants another name than \"default\" where there are llm.models"},
		{"llm.model = 'a'\n[[llm.models]]\nmodel = 'b'", "2:3: llm.models.name wants a text of 1 to 100 characters in one line, without spaces at its ends"},
		{"llm.model = 'a'\n[[llm.models]]\nname = ' b'\nmodel = 'b'", "3:1: llm.models.name wants a text of 1 to 100 characters…"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'", "2:3: llm.models.model wants the model's name, as its server knows it"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'A'\nmodel = 'b'", "3:1: llm.models.name wants a name that no other model has, nor llm.model"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\n[[llm.models]]\nname = 'B'\nmodel = 'c'", "6:1: llm.models.name wants a name that no other…"},
		{"llm.model = 'a'\nllm.models = [{ name = 'b', model = 'b', base_url = 'x' }]", "2:42: llm.models.base_url wants an address…"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\nwindow = -1", "5:1: llm.models.window wants a number above 0, or 0 for what…"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\ntemperature = 3", "5:1: llm.models.temperature wants a number from 0 to 2"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key = 'x'\napi_key_env = 'Y'", "2:3: llm.models wants one of api_key, api_key_file and api_key_env, not several"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_env = 'UNSET'", "5:1: UNSET isn't set; put the key into it"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_env = 'HARK_KEY'", "5:1: llm.models.api_key_env wants a variable of your own…"},
		{"llm.model = 'a'\n[[llm.models]]\nname = 'b'\nmodel = 'b'\napi_key_file = '/nowhere/key'", "5:1: read secret: open /nowhere/key…"},
		{"llm.fallback.model = 'b'", "1:1: llm.fallback.model wants a model for which it can stand in: name one in llm.model"},
		{"[llm.fallback]\nbase_url = 'x'", "2:1: llm.fallback.base_url wants an address…"},
		{"[llm.fallback]\ntemperature = -1", "2:1: llm.fallback.temperature wants a number from 0 to 2"},
		{"[llm.fallback]\nname = 'x'", "2:1: unknown key llm.fallback.name; did you mean llm.models.name?"},

		{"[llm]\nx = 1\n[y]\nz = 1\n[log]\nlevel = 1", "2:1: unknown key llm.x; did you mean llm.model?\n" +
			"FILE:3:2: unknown section [y]; did you mean [llm]?\nFILE:6:1: log.level wants text in quotes"},
	} {
		path := write(t, "config.toml", c.text)
		_, err := Load(path, environ("HARK_KEY", "k"))
		if err == nil {
			t.Errorf("%q: no error; want %s", c.text, c.want)
			continue
		}
		if got := strings.ReplaceAll(err.Error(), path, "FILE"); got != "FILE:"+c.want && !begins(got, "FILE:"+c.want) {
			t.Errorf("%q\ngot  %s\nwant FILE:%s", c.text, got, c.want)
		}
	}
}

// begins reports whether what is wanted, up to an ellipsis, is how text begins, which has no more lines.
func begins(text, want string) bool {
	want, cut := strings.CutSuffix(want, "…")
	return cut && strings.HasPrefix(text, want) && strings.Count(text, "\n") == strings.Count(want, "\n")
}

func TestProblemsOfVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, value, want string }{
		{"HARK_LLM_MAX_TOKENS", "many", "llm.max_tokens wants a whole number"},
		{"HARK_LLM_MAX_TOKENS", "-5", "llm.max_tokens wants a number above 0"},
		{"HARK_LLM_TEMPERATURE", "hot", "llm.temperature wants a number"},
		{"HARK_LLM_TIMEOUT", "60", "llm.timeout wants a time with its unit"},
		{"HARK_MEMORY_LOG_BOTS", "yes", "memory.log_bots wants true or false"},
		{"HARK_BUILDER_LAYOUT", "x", `builder.layout wants "sections"`},
		{"HARK_ANSWER_PERSONA", "\xff", "answer.persona wants text in UTF-8"},
	} {
		_, err := Load(write(t, "config.toml", ""), environ(c.name, c.value))
		if err == nil || !strings.HasPrefix(err.Error(), c.name+": "+c.want) {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}

func TestMisspeltVariables(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"HARK_LLM_MODLE":         "HARK_LLM_MODEL",
		"HARK_TOKEN":             "HARK_DISCORD_TOKEN",
		"HARK_LLM_X":             "HARK_LLM_MODEL",
		"HARK_DISCORD_TOKENFILE": "HARK_DISCORD_TOKEN_FILE",
		"HARK_LLM_MODEL_FILE":    "HARK_LLM_MODEL",
		"HARK_CONFG":             "HARK_CONFIG",
		"HARK_BUILDER_LABELS_HI": "HARK_BUILDER_LABELS_HIGH",
	} {
		err := CheckEnv([]string{"PATH=/bin", name + "=hunter2", "HARK_LLM_MODEL=x"})
		if err == nil || err.Error() != name+" is not a variable of Hark's; did you mean "+want+"?" {
			t.Errorf("%s: %v", name, err)
		}
	}
	fine := []string{"HARK_LONG=1", "HARK_DATA=x", "HARK_CONFIG=y", "HARK_DISCORD_OPENAPI=z", "HARK_LLM_API_KEY_FILE=a",
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

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"modle", "model", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
