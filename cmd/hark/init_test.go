package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/terminal"
)

// initialise runs "hark init" with answers, and returns its output and the file.
func (w *world) initialise(code int, answers ...string) (out, asked, file string) {
	w.Helper()
	got, stdout, stderr := w.runs(strings.Join(answers, "\n")+"\n", "init")
	if got != code {
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
	return stdout, stderr, string(data)
}

// toInit is a world where only Discord's address is configured.
func toInit(t *testing.T, options ...discordtest.Option) *world {
	w := newWorld(t, options...)
	path := w.env["HARK_CONFIG"]
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.env = map[string]string{"HARK_CONFIG": path, "HARK_DISCORD_API_URL": w.discord.URL,
		"HARK_DATA": w.env["HARK_DATA"]}
	return w
}

func TestInit(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t, llmtest.Key("m0del-key"), llmtest.Models("small", "large", "nomic-embed-text"))
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	out, asked, file := w.initialise(0,
		w.discord.Token,
		"3", "", "no address", model.URL()+"/", "wr0ng-key", "", "", "large", // the list is refused, and so is the model
		"m0del-key",
		"3", "", "", "77", "1")
	if want := newFileHead + "\n[discord]\ntoken = '" + w.discord.Token + "'\n\n[llm]\nbase_url = '" +
		model.URL() + "'\napi_key = 'm0del-key'\nmodel = 'large'\n\n" +
		"[embedding]\nbase_url = '" + model.URL() +
		"'\napi_key = 'm0del-key'\nmodel = 'nomic-embed-text'\n"; file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	w.sees(asked + out)
	w.holds(out, w.discord.AppID.String())
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

// "back" leads to the question before, with what was answered, and nothing of what was taken back is written.
func TestInitGoesBack(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t, llmtest.Key("m0del-key"), llmtest.Models("large", "nomic-embed-text"))
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	_, asked, file := w.initialise(0,
		"back", w.discord.Token, "back", "", // from the model to the token
		"3", "back", "3", model.URL(), "wr0ng-key", "Back", "3", model.URL(), "m0del-key", "2", // nomic answers as well
		"5", "back", "back", // from the embedder to the model
		"3", "", "", "large", "4")
	if want := newFileHead + "\n[discord]\ntoken = '" + w.discord.Token + "'\n\n[llm]\nbase_url = '" + model.URL() +
		"'\napi_key = 'm0del-key'\nmodel = 'large'\n\n[embedding]\nmodel = ''\n"; file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	w.sees(asked)
	again := toInit(t)
	_, _, file = again.initialise(0, "", "3", model.URL(), "m0del-key", "1", "back", "4", "4")
	if want := newFileHead + "\n[llm]\nmodel = ''\n\n[embedding]\nmodel = ''\n"; file != want {
		t.Errorf("a model that was taken back leaves\n%s", file)
	}
}

// Other settings stay, and Enter keeps earlier choices.
func TestInitAgain(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	before := "# mine\n[discord]\ntoken = '" + w.discord.Token +
		"' # Hark's\n[llm]\nmodel = \"test-model\"\nmax_tokens = 77\nbase_url = '" + model.URL() + "'\n" +
		"[embedding]\nmodel = 'old'\ndimensions = 7\n"
	w.configure(before)
	if _, asked, file := w.initialise(1, "n"); file != before {
		t.Errorf("refused, it says %s, and the file is %s", asked, file)
	}
	_, asked, file := w.initialise(0, "maybe", "y", "", "", "", "", "", "4")
	want := strings.NewReplacer("\"test-model\"", "'test-model'", "model = 'old'\ndimensions = 7",
		"model = ''\ndimensions = 0").Replace(before)
	if file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	w.sees(asked)
}

// A key isn't kept for another server, nor written if the environment has it.
func TestInitAndKeys(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	w.env["HARK_DISCORD_TOKEN"] = w.discord.Token
	w.configure("[llm]\nmodel = 'gpt'\napi_key = 'openai-key'\n")
	_, asked, file := w.initialise(0, "y", "2", model.URL(), "1", "4")
	if want := "[llm]\nbase_url = '" + model.URL() +
		"'\nwindow = 8192\nthinking = 'off'\ntimeout = '5m'\n" +
		"model = 'test-model'\napi_key = ''\n\n[embedding]\nmodel = ''\n"; file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	w.sees(asked)
	for _, r := range model.Requests() {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s was sent a key", r.Path)
		}
	}
	w.env["HARK_LLM_API_KEY"] = "environments-key"
	_, asked, file = w.initialise(0, "y", "", "", "", "", "4")
	w.sees(asked)
	w.lacks(file, "environments-key")
}

// What is said of a key that the embedder's server refuses names the embedder's own setting. A server of Ollama's is
// asked for with a key only if it wants one.
func TestInitAndTheEmbeddersKey(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	server := llmtest.New(t, llmtest.Key("e-key"), llmtest.Models("bge-m3", "chat"))
	_, asked, file := w.initialise(0, w.discord.Token, "4",
		"3", server.URL(), "wr0ng-key", "bge-m3", "y",
		"2", server.URL(), "e-key", "1")
	w.sees(asked)
	w.lacks(asked, "llm.api_key")
	want := newFileHead + "\n[discord]\ntoken = '" + w.discord.Token +
		"'\n\n[llm]\nmodel = ''\n\n[embedding]\nbase_url = '" + server.URL() + "'\napi_key = 'e-key'\nmodel = 'bge-m3'\n"
	if file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
}

// What is set of one embedding model goes with it.
func TestInitWithAnotherEmbedder(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	server := llmtest.New(t, llmtest.Models("old", "nomic-embed-text"))
	w.configure("[discord]\ntoken = '" + w.discord.Token + "'\n[embedding]\nmodel = 'old'\nbase_url = '" + server.URL() +
		"'\nquery_prefix = 'q: '\ndimensions = 32\ndocument_prefix = ''\n")
	_, asked, file := w.initialise(0, "y", "", "4", "3", "", "", "nomic-embed-text")
	w.sees(asked)
	c, err := config.LoadText("", file, w.environment(nil, nil).lookup)
	if e := c.Embedding; err != nil || e.Model != "nomic-embed-text" || e.QueryPrefix != nil || e.DocumentPrefix != nil ||
		e.Dimensions != 0 {
		t.Errorf("%v: %s", err, file)
	}
}

// Wrong answers can be corrected or kept.
func TestInitKeepsWhatIsAmiss(t *testing.T) {
	t.Parallel()
	w := toInit(t, discordtest.WithIntents(0))
	out, asked, file := w.initialise(0, "wrong", "y", w.discord.Token, "y", "", "n", "2",
		"http://127.0.0.1:1/v1", "llama", "n", "2", "http://127.0.0.1:1/v1", "nomic", "n")
	c, err := config.LoadText("", file, w.environment(nil, nil).lookup)
	if err != nil || c.Discord.Token.Reveal() != w.discord.Token || c.LLM.Model != "llama" ||
		c.Embedding.Model != "nomic" || c.Embedding.BaseURL != "http://127.0.0.1:1/v1" {
		t.Errorf("%v: %s", err, file)
	}
	if n := strings.Count(asked, "✗ intents: "); n != 2 {
		t.Errorf("the intent is named %d times", n)
	}
	for _, check := range []string{"intents", "model", "embedder"} {
		if n := strings.Count(out, "Still to mend: "+check+": "); n != 1 {
			t.Errorf("at the end %s is named %d times", check, n)
		}
	}
	w.lacks(out, "Still to mend: Discord") // the second token was well
	w.sees(asked + out)
}

func TestInitThatCantBe(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	_, _, file := w.initialise(1, "", "1")
	if file != "" {
		t.Errorf("cut short it writes %s", file)
	}
	w.configure("[llm]\nmodle = 'x'\n")
	_, asked, _ := w.initialise(1)
	w.sees(asked)
	w.configure("")
	w.env["HARK_LLM_TIMEOUT"] = "300"
	_, asked, _ = w.initialise(1)
	w.lacks(asked, "another file") // which wouldn't help
	delete(w.env, "HARK_LLM_TIMEOUT")
	const table = "llm = { window = 3 }\n" // which can't be changed
	w.configure(table)
	_, asked, file = w.initialise(1, "y", "", "4", "4")
	w.sees(asked)
	if file != table {
		t.Errorf("it makes it %s", file)
	}
}

// Other servers are chosen by their names or numbers, too. llama.cpp's says on which port to start it.
func TestInitKnowsServersByName(t *testing.T) {
	t.Parallel()
	for _, embedders := range []bool{false, true} {
		all := serverOffers(embedders)
		addresses := map[string]bool{}
		for i, o := range all {
			byNumber := addressOf(all, strconv.Itoa(i+1))
			if addressOf(all, strings.ToLower(o.name)) != o.url || byNumber != o.url || !config.IsAddress(o.url) ||
				addresses[o.url] {
				t.Errorf("%s is at %s", o.name, o.url)
			}
			addresses[o.url] = true
		}
		var listed strings.Builder
		printOffers(&listed, all)
		golden.Seen(t, listed.String())
	}
	var asked bytes.Buffer
	w := wizard{Asker: terminal.NewAsker(strings.NewReader("nowhere\nlm-studio\n6\nhttp://here/v1/\n"), &asked)}
	for _, want := range []string{"http://localhost:1234/v1", "http://localhost:8081/v1", "http://here/v1"} {
		got, err := w.askURL(t.Context(), elsewhere, server{}, nil)
		if err != nil || got != want {
			t.Errorf("it is at %s, %v; want %s\n%s", got, err, want, &asked)
		}
	}
}

// A server can be named where the servers are offered. What docs/models.md has for it is written, and the embedder is
// offered where that page starts a second server.
func TestInitByTheNameOfAServer(t *testing.T) {
	t.Parallel()
	w := toInit(t)
	model := llmtest.New(t, llmtest.Models("bge-m3", "qwen3"))
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	_, asked, file := w.initialise(0, w.discord.Token,
		"lama", "LLaMA-cpp", model.URL(), "", "1", // the chat model comes first
		"static", "back", "llama.cpp", model.URL(), "", "bge-m3")
	if want := newFileHead + "\n[discord]\ntoken = '" + w.discord.Token + "'\n\n[llm]\nbase_url = '" + model.URL() +
		"'\nmodel = 'qwen3'\nthinking = 'off'\ntimeout = '5m'\n\n[embedding]\nbase_url = '" + model.URL() +
		"'\nmodel = 'bge-m3'\n"; file != want {
		t.Errorf("\ngot  %s\nwant %s", file, want)
	}
	w.sees(asked)
}

func TestInitOffersAnEmbedderBesideTheModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, want string }{
		{"http://localhost:8081/v1", "http://localhost:8082/v1"}, // llama.cpp
		{"http://host.docker.internal:8081/v1", "http://host.docker.internal:8082/v1"},
		{"http://localhost:8000/v1", "http://localhost:8001/v1"}, // vLLM
		{"http://localhost:1234/v1", "http://localhost:1234/v1"}, // LM Studio
		{"http://localhost:9999/v1", "http://localhost:9999/v1"},
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"},
	} {
		var asked bytes.Buffer
		w := wizard{Asker: terminal.NewAsker(strings.NewReader("\n"), &asked)}
		got, err := w.askURL(t.Context(), elsewhere, server{}, &server{url: c.model, model: "m"})
		if err != nil || got != c.want {
			t.Errorf("beside %s: %s, %v; want %s", c.model, got, err, c.want)
		}
	}
	w := wizard{Asker: terminal.NewAsker(strings.NewReader("\n"), io.Discard)}
	const moved = "http://ollama:11500/v1"
	got, err := w.askURL(t.Context(), atOllama, server{}, &server{url: moved, model: "m", kind: "Ollama"})
	if err != nil || got != moved {
		t.Errorf("beside Ollama: %s, %v", got, err)
	}
}

// What suited one server goes with it. What was set by hand stays.
func TestInitWithAnotherServer(t *testing.T) {
	t.Parallel()
	preset := config.Default().LLM
	ollamas := suit(preset, server{}, server{url: ollama})
	if ollamas.Window != 8192 || ollamas.Thinking != "off" || ollamas.Timeout.Duration != localTimeout {
		t.Errorf("Ollama has %+v", ollamas)
	}
	moved := suit(preset, server{}, server{url: "http://there:1/v1", kind: "Ollama"})
	if !reflect.DeepEqual(ollamas, moved) {
		t.Errorf("elsewhere it has %+v", moved)
	}
	text, err := config.Edit("[llm]\n", suitedValues(preset, ollamas))
	if err != nil {
		t.Fatal(err)
	}
	byHand := ollamas
	byHand.MaxTokens = 77
	deepSeeks := suit(byHand, server{url: ollama}, server{url: "https://api.deepseek.com/v1"})
	text, err = config.Edit(text, suitedValues(byHand, deepSeeks))
	if err != nil {
		t.Fatal(err)
	}
	if want := "[llm]\nthinking = 'low'\n"; text != want || deepSeeks.MaxTokens != 77 {
		t.Errorf("%d tokens, and\n%s", deepSeeks.MaxTokens, text)
	}
}

// A server may refuse a key with 400 or 403. The key is asked for again, not the model.
func TestInitAsksAgainForAKey(t *testing.T) {
	t.Parallel()
	for status, said := range map[int]string{
		400: "API key not valid. Please pass a valid API key.",
		403: "Invalid API key",
	} {
		w := toInit(t)
		model := llmtest.New(t)
		model.Answer(func(r llmtest.Request) llmtest.Reply {
			if r.Header.Get("Authorization") == "Bearer m0del-key" {
				return llmtest.Say("H")
			}
			return llmtest.Fail(status, "", said)
		})
		_, asked, _ := w.initialise(0, w.discord.Token, "3", model.URL(), "wr0ng-key", "1", "m0del-key", "none")
		if n := strings.Count(asked, "Model (number or name)"); n != 1 || !strings.Contains(asked, "✓ model") {
			t.Errorf("%d: the model is asked for %d times:\n%s", status, n, asked)
		}
	}
}
