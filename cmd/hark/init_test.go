package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// initialise has "hark init" asked with these answers, and returns what it says and the file's text.
func (w *world) initialise(code int, answers ...string) (out, asked, file string) {
	w.Helper()
	stdout, stderr := &buffer{}, &buffer{}
	env := w.environment(stdout, stderr)
	env.stdin = strings.NewReader(strings.Join(answers, "\n") + "\n")
	if got := run(w.Context(), env, []string{"init"}); got != code {
		w.Errorf("exit code %d:\n%s%s", got, stdout, stderr)
	}
	data, err := os.ReadFile(w.env["HARK_CONFIG"])
	if err != nil && !os.IsNotExist(err) {
		w.Error(err)
	}
	entries, err := os.ReadDir(filepath.Dir(w.env["HARK_CONFIG"]))
	if err != nil || len(entries) > 1 {
		w.Errorf("beside the file there are %v, %v", entries, err)
	}
	return stdout.String(), stderr.String(), string(data)
}

// toInit is a world in which nothing is configured but where Discord is.
func toInit(t *testing.T, options ...discordtest.Option) *world {
	w := newWorld(t, options...)
	path := w.env["HARK_CONFIG"]
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.env = map[string]string{"HARK_CONFIG": path, "HARK_DISCORD_API_URL": w.discord.URL, "HARK_DATA": w.env["HARK_DATA"]}
	return w
}

func TestInit(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t, llmtest.Key("m0del-key"), llmtest.Models("small", "large", "nomic-embed-text"))
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	out, asked, file := w.initialise(0,
		w.discord.Token,
		"3", "no address", model.URL()+"/", "wr0ng-key", "1", "y", // the list is refused, and so is 1 as a name
		"3", "", "m0del-key", "77", "1",
		"3", model.URL(), "", "1")
	if want := newFileHead + "\n[discord]\ntoken = '" + w.discord.Token + "'\n\n[llm]\nbase_url = '" + model.URL() + "'\napi_key = 'm0del-key'\nmodel = 'large'\n\n" +
		"[embedding]\nbase_url = '" + model.URL() + "'\napi_key = 'm0del-key'\nmodel = 'nomic-embed-text'\n"; file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	for _, said := range []string{
		"✓ Discord: it takes the token", "✓ intents", "Please write an address that begins with http://", "✗ models: the model's server at", "✗ model: the model's server at",
		"  1  large\n   2  nomic-embed-text\n   3  small\n", "Please write a number from 1 to 3, or a name.", "✓ model: large: it answered within", "   1  nomic-embed-text\n", "✓ embedder: nomic-embed-text gives 64 dimensions",
	} {
		w.holds(asked, said)
	}
	for _, said := range []string{"only you can read it", "https://discord.com/oauth2/authorize?client_id=" + w.discord.AppID.String(), "Then start it: hark run\n"} {
		w.holds(out, said)
	}
	for _, secret := range []string{w.discord.Token, "m0del-key", "wr0ng-key"} {
		w.lacks(out+asked, secret)
	}
	if info, err := os.Stat(w.env["HARK_CONFIG"]); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if code, said := w.doctor(); code != 0 {
		t.Errorf("the doctor says\n%s", said)
	}
}

// What it doesn't ask about stays, and what was chosen before can be kept by Enter alone.
func TestInitAgain(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	before := "# mine\n[discord]\ntoken = '" + w.discord.Token + "' # Hark's\n[llm]\nmodel = \"test-model\"\nmax_tokens = 77\nbase_url = '" + model.URL() + "'\n" +
		"[embedding]\nmodel = 'old'\ndimensions = 7\n"
	w.configure(before)
	if _, asked, file := w.initialise(1, "n"); file != before || !strings.Contains(asked, "nothing was changed") {
		t.Errorf("refused, it says %s, and the file is %s", asked, file)
	}
	_, asked, file := w.initialise(0, "maybe", "y", "", "", "", "", "", "4")
	want := strings.NewReplacer("\"test-model\"", "'test-model'", "model = 'old'\ndimensions = 7", "model = ''\ndimensions = 0").Replace(before)
	if file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	for _, said := range []string{"is there already", "Please write y or n.", "(Enter: the same)", "Number [3]", "✓ embedder: hark-hash"} {
		w.holds(asked, said)
	}
}

// A key isn't left for a server that it isn't for, nor written where the environment has it.
func TestInitAndKeys(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	w.env["HARK_DISCORD_TOKEN"] = w.discord.Token
	w.configure("[llm]\nmodel = 'gpt'\napi_key = 'openai-key'\n")
	_, asked, file := w.initialise(0, "y", "2", model.URL(), "1", "4")
	if want := "[llm]\nbase_url = '" + model.URL() + "'\nmodel = 'test-model'\napi_key = ''\n\n[embedding]\nmodel = ''\n"; file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	w.holds(asked, "It is taken from HARK_DISCORD_TOKEN, which goes before the file.")
	for _, r := range model.Requests() {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s was sent a key", r.Path)
		}
	}
	w.env["HARK_LLM_API_KEY"] = "environments-key"
	_, asked, file = w.initialise(0, "y", "", "", "", "", "4")
	w.holds(asked, "HARK_LLM_API_KEY is set in the environment, and goes before the file.")
	w.lacks(file, "environments-key")
}

// What is amiss can be mended at once, or kept.
func TestInitKeepsWhatIsAmiss(t *testing.T) {
	t.Parallel()
	w := toInit(t, discordtest.WithoutIntents(discordtest.MessageContent))
	_, asked, file := w.initialise(0, "wrong", "y", w.discord.Token, "y", "", "n", "2", "http://127.0.0.1:1/v1", "llama", "n", "2", "http://127.0.0.1:1/v1", "nomic", "n")
	c, err := config.LoadText("", file, w.environment(nil, nil).lookup)
	if err != nil || c.Discord.Token.Reveal() != w.discord.Token || c.LLM.Model != "llama" || c.Embedding.Model != "nomic" || c.Embedding.BaseURL != "http://127.0.0.1:1/v1" {
		t.Errorf("%v: %s", err, file)
	}
	if n := strings.Count(asked, "✗ intents: "); n != 2 {
		t.Errorf("the intent is named %d times", n)
	}
	for _, said := range []string{"✗ Discord: Discord refuses the token", "✗ models: ", "✗ model: ", "✗ embedder: "} {
		w.holds(asked, said)
	}
}

func TestInitWithoutAnything(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	out, asked, file := w.initialise(0, "", "", "")
	w.holds(asked, "Without a token Hark can't come to Discord")
	w.holds(file, "[llm]\nmodel = ''\n")
	w.lacks(out, "Invite")
}

func TestInitThatCantBe(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	if _, asked, file := w.initialise(1, "", "1"); file != "" || !strings.Contains(asked, "the answers ended before all was asked; nothing was written") {
		t.Errorf("cut short it says %s, and writes %s", asked, file)
	}
	w.configure("[llm]\nmodle = 'x'\n")
	if _, asked, _ := w.initialise(1); !strings.Contains(asked, "unknown key llm.modle") || !strings.Contains(asked, "mend that first") {
		t.Errorf("of a file with a fault it says %s", asked)
	}
	w.configure("llm = { window = 3 }\n")
	if _, asked, file := w.initialise(1, "y", "", "4", "4"); !strings.Contains(asked, "put the key into its section by hand") || file != "llm = { window = 3 }\n" {
		t.Errorf("of a file that can't be changed it says %s and makes it %s", asked, file)
	}
	w.env["HARK_CONFIG"] = filepath.Join(t.TempDir(), "none", "config.toml")
	stderr := &buffer{}
	if code := run(t.Context(), w.environment(&buffer{}, stderr), []string{"init"}); code != 1 || !strings.Contains(stderr.String(), "there is no directory") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
