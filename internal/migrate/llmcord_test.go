package migrate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/config"
)

const example = `
bot_token: the-token
status_message: hello
permissions: {users: {admin_ids: [1]}}
providers:
  openai: &openai {base_url: "https://api.openai.com/v1", api_key: the-key}
  local: {base_url: "http://localhost:1234/v1", api_key: sk-no-key-required, extra_headers: {X-Title: the-title}, extra_query: {v: the-query}}
  other: {<<: *openai, base_url: "https://other.example/v1"}
models:
  openai/gpt-5: {temperature: 1, max_tokens: 900}
  local/gemma: {temperature: 0.2}
  other/gpt-5:
  local/default/x:
system_prompt: "You are \"Bo\".\nIt is {date}, {time}! Be kind."
`

// read is the configuration that Hark reads of what was made.
func read(t *testing.T, text []byte) config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatalf("Hark doesn't take it: %v\n%s", err, text)
	}
	return c
}

func TestLlmcord(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"as it is": example,
		"in groups": "discord:\n  bot_token: the-token\nllm:" +
			strings.ReplaceAll(strings.TrimPrefix(example, "\nbot_token: the-token"), "\n", "\n  "),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, err := Llmcord([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			c := read(t, made.TOML)
			if c.Discord.Token.Reveal() != "the-token" || c.LLM.Model != "gpt-5" ||
				c.LLM.APIKey.Reveal() != "the-key" || c.LLM.MaxTokens != 900 || *c.LLM.Temperature != 1 ||
				!c.LLM.Vision {
				t.Errorf("made\n%s", made.TOML)
			}
			if c.Answer.Persona != "You are \"Bo\".\nBe kind." {
				t.Errorf("persona %q", c.Answer.Persona)
			}
			if len(c.LLM.Models) != 3 {
				t.Fatalf("made\n%s", made.TOML)
			}
			local, other := c.LLM.Models[0], c.LLM.Models[1]
			if local.Name != "local/gemma" || local.Model != "gemma" || local.APIKey.IsSet() ||
				*local.Temperature != 0.2 || local.Headers["X-Title"].Reveal() != "the-title" || !local.Vision {
				t.Errorf("made\n%s", made.TOML)
			}
			if other.BaseURL != "https://other.example/v1" || other.APIKey.Reveal() != "the-key" {
				t.Errorf("made\n%s", made.TOML)
			}
			says := ""
			for _, n := range append(made.Taken, made.Left...) {
				says += n.Key + ": " + n.Says + "\n"
			}
			for _, secret := range []string{"the-token", "the-key", "the-title", "the-query", "hello"} {
				if strings.Contains(says, secret) {
					t.Errorf("it tells %s:\n%s", secret, says)
				}
			}
			for _, want := range []string{"status_message: ", "permissions.users.admin_ids: ",
				"providers.local.extra_query: ", "models.other/gpt-5: "} {
				if !strings.Contains(says, want) {
					t.Errorf("nothing of %q in\n%s", want, says)
				}
			}
		})
	}
}

// Whatever a file has, what is made of it is something that Hark takes.
func FuzzLlmcord(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("bot_token: \"\\0\\x01 x\"\nsystem_prompt: \"a\\0b\\x07\\u2028\\\"\\\"\\\" {date\"\nproviders: {a: {base_url: 'http://x', extra_headers: {\"\": 1, a: \"\\n\"}}}\nmodel: a/default\nmodels: [a/b, a/B, ' a/c', a/default, {x: y}]"))
	f.Add([]byte("bot_token: !!binary aGk=\nproviders: &p {x: *p}\nmodels: {? [a] : b, x/: 1, x/y: {temperature: .nan, max_tokens: 1e400}}\n<<: {a: b}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		made, err := Llmcord(in)
		if err != nil {
			if err.Error() == "" || len(made.TOML) > 0 {
				t.Errorf("%v, with %q", err, made.TOML)
			}
			return
		}
		read(t, made.TOML)
	})
}
