package config

import (
	"encoding/json"
	"testing"
)

// Extra fields reach the body as they were written, from a file, a JSON object or TOML's table.
func TestExtraFieldsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	const want = `{"big":12345678901234567890,"chat_template_kwargs":{"enable_thinking":false},"day":"2026-01-02",` +
		`"plugins":[{"id":"web"},{}],"stop":["\n"],"top_k":40,"top_p":0.5}`
	const file = `top_k = 40
top_p = 0.5
stop = ["\n"]
day = 2026-01-02
chat_template_kwargs.enable_thinking = false
plugins = [{ id = "web" }, {}]
`
	wanted := func(how string, c Config, want string) {
		t.Helper()
		got, err := json.Marshal(c.LLM.Extra.Reveal())
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", how, got, err)
		}
	}
	const withoutBig = `{"chat_template_kwargs":{"enable_thinking":false},"day":"2026-01-02",` +
		`"plugins":[{"id":"web"},{}],"stop":["\n"],"top_k":40,"top_p":0.5}`
	wanted("a section", load(t, "[llm.extra]\n"+file), withoutBig)
	wanted("JSON", load(t, "llm.extra.no = 1", "HARK_LLM_EXTRA", want), want)
	wanted("TOML in a variable", load(t, "", "HARK_LLM_EXTRA", ` { top_k = 40, "a.b" = { c = [true] } } `),
		`{"a.b":{"c":[true]},"top_k":40}`)
	wanted("null", load(t, "", "HARK_LLM_EXTRA", `{"stop": null}`), `{"stop":null}`)
	wanted("none", load(t, "llm.extra = {}"), "null")
	c := load(t, "llm.model = 'a'\n[llm.fallback]\nmodel = 'b'\n", "HARK_LLM_FALLBACK_EXTRA", `{"seed": 1}`)
	got, err := json.Marshal(c.LLM.Fallback.Extra.Reveal())
	if err != nil || string(got) != `{"seed":1}` || c.LLM.Extra != nil {
		t.Errorf("the fallback has %s, %v", got, err)
	}
}

// Whatever is in the variable, it is a table or refused.
func FuzzExtraFromText(f *testing.F) {
	f.Add(`{"a": [1, {"b": null}]}`)
	f.Add(`{ a = 1979-05-27, b.c = inf }`)
	f.Add("{}\nb = 1")
	f.Fuzz(func(t *testing.T, text string) {
		table, is := extraFromText(text)
		if !is {
			return
		}
		extra, is := extraOf(table)
		if is && len(extra.Reveal()) != len(table) {
			t.Errorf("%q became %v", text, extra.Reveal())
		}
	})
}
