package migrate

import (
	"encoding/json"
	"strings"
	"testing"
)

const parameters = `
bot_token: t
providers:
  openrouter:
    base_url: https://openrouter.ai/api/v1
    extra_body: {zdr: true, provider: {sort: price, only: [a, b]}, temperature: 0.4, user: the-user, stop: null, stream: false}
  mistral: {base_url: "https://api.mistral.ai/v1"}
models:
  openrouter/x-ai/grok-4: {reasoning_effort: high, top_p: 0.9, max_tokens: 900, max_completion_tokens: many, Model: x}
  openrouter/z-ai/glm: {temperature: 1, zdr: false, top_k: .inf, seed: 12345678901234567890}
  openrouter/bare: {zdr: , provider: , user: , temperature: nan}
  mistral/small: {reasoning_effort: none}
  mistral/medium: {reasoning_effort: xhigh}
`

// What llmcord sends with a model's requests, Hark sends with that model's, and with no other's.
func TestLlmcordParameters(t *testing.T) {
	t.Parallel()
	made, err := Llmcord([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	c := read(t, made.TOML)
	all := c.LLM.All()
	if len(all) != 5 || c.LLM.MaxTokens != 900 {
		t.Fatalf("made\n%s", made.TOML)
	}
	const ofOpenRouter = `"provider":{"only":["a","b"],"sort":"price"}`
	for i, want := range []struct {
		thinking, extra string
	}{
		{"high", `{` + ofOpenRouter + `,"top_p":0.9,"user":"the-user","zdr":true}`},
		{"auto", `{` + ofOpenRouter + `,"user":"the-user","zdr":false}`},
		{"auto", `null`},
		{"off", `null`},
		{"auto", `{"reasoning_effort":"xhigh"}`},
	} {
		extra, err := json.Marshal(all[i].Extra.Reveal())
		if err != nil || string(extra) != want.extra || all[i].Thinking != want.thinking {
			t.Errorf("%s: thinking %s, extra %s, %v", all[i].Name, all[i].Thinking, extra, err)
		}
	}
	if *all[0].Temperature != 0.4 || *all[1].Temperature != 1 {
		t.Errorf("temperatures %v, %v", *all[0].Temperature, *all[1].Temperature)
	}
	told := func(notes []Note, key string) string {
		for _, n := range notes {
			if n.Key == key {
				return n.Says
			}
		}
		return ""
	}
	for key, want := range map[string]string{
		"models.openrouter/x-ai/grok-4":            "llm.model, temperature, vision, thinking, extra (provider, top_p, user, zdr)",
		"models.openrouter/z-ai/glm":               "temperature, extra (provider, user, zdr)",
		"models.mistral/medium":                    "extra (reasoning_effort)",
		"providers.openrouter.extra_body":          "its models",
		"models.openrouter/x-ai/grok-4.max_tokens": "llm.max_tokens",
	} {
		if says := told(made.Taken, key); !strings.Contains(says, want) {
			t.Errorf("of %s it says %q, without %q", key, says, want)
		}
	}
	for key, want := range map[string]string{
		"providers.openrouter.extra_body.stream":              "Hark writes",
		"models.openrouter/x-ai/grok-4.Model":                 "Hark writes",
		"models.openrouter/x-ai/grok-4.max_completion_tokens": "a number of tokens",
		"models.openrouter/z-ai/glm.top_k":                    "can't be written in TOML",
		"models.openrouter/z-ai/glm.seed":                     "can't be written in TOML",
		"models.openrouter/bare.temperature":                  "a number from 0 to 2",
	} {
		if says := told(made.Left, key); !strings.Contains(says, want) {
			t.Errorf("of %s it says %q, without %q", key, says, want)
		}
	}
	once := 0
	for _, n := range made.Left {
		if n.Key == "providers.openrouter.extra_body.stream" {
			once++
		}
	}
	if once != 1 {
		t.Errorf("a provider's field is told %d times", once)
	}
}

// A value that repeats itself without end is left out.
func TestLlmcordParameterWithoutEnd(t *testing.T) {
	t.Parallel()
	made, err := Llmcord([]byte("bot_token: t\nproviders: {a: {base_url: 'http://a'}}\n" +
		"models:\n  a/b: {x: &x [1, *x], y: &y [1, 1], z: [*y, *y]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	extra := read(t, made.TOML).LLM.Extra
	if extra["x"].IsSet() || extra["z"].Reveal() != "[[1,1],[1,1]]" {
		t.Errorf("made\n%s", made.TOML)
	}
}
