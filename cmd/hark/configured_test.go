package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/chat"
	"hark/internal/config"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/setup"
	"hark/internal/tokens"
	"hark/memory"
)

// A window that is too small for what is configured is told at the start, and prompts are shorter.
func TestWindowIsToldAndObeyed(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("It is so.") })
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "llama3",
		"HARK_LLM_BASE_URL": model.URL(), "HARK_LLM_WINDOW": "2048", "HARK_MEMORY_SUMMARIES": "extract"}}
	for i := range 60 {
		c.stdin += fmt.Sprintf("Jane: the zebra of day %d is %s\n", i, strings.Repeat("here and there ", 20))
	}
	c.stdin += "Ana: @hark where is the zebra?\n"
	c.run(0, "chat", "--data", data)
	golden.Seen(t, c.err.String())
	if n := tokens.For("llama3").Count(model.Requests()[0].Prompt()); n > 1048 || n < 524 {
		t.Errorf("a prompt of %d tokens", n)
	}

	w := newWorld(t)
	w.env["HARK_LLM_WINDOW"] = "4500"
	w.start()
	w.holds(w.log.String(), `"level":"warn","window":4500,"prompt":3500,"answer":1000`)
	w.env["HARK_LLM_WINDOW"] = "900"
	w.stop()
	_, told := w.hark(1, "run")
	lines := strings.Split(strings.TrimSpace(told), "\n")
	w.sees(lines[len(lines)-1])
}

func TestBuildersOfModelsAndLanguages(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.LLM.Model, c.LLM.Window, c.Builder.Language = "gpt-4o", 20_000, "de"
	c.Builder.Labels["lore"] = "Garten"
	c.LLM.Models = []config.Model{{Name: "far", Model: "llama", Window: 9000}, {Name: "tiny", Model: "gpt-4"}}
	own, err := setup.NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{config: c, builder: own}
	for _, key := range [][2]string{{"", ""}, {"gpt-4o", ""}, {"", "de"}, {"gpt-4o", "de"}} {
		if a.builderOf(key[0], key[1]) != own {
			t.Errorf("%q has a builder of its own", key)
		}
	}
	french := a.builderOf("gpt-4o", "fr")
	if french == own || french.Labels().Lore == "Garten" || !strings.Contains(french.Labels().History, "Historique") {
		t.Errorf("in French: %+v", french.Labels())
	}
	other := a.builderOf("far", "de")
	if other == own || other.Labels().Lore != "Garten" {
		t.Errorf("another model's labels are %+v", other.Labels())
	}
	if r := other.Build(builder.Input{Query: builder.Turn{Content: "hello"}}).Report; r.Window != 9000 {
		t.Errorf("another model's window is %d", r.Window)
	}
	a.config.LLM.MaxTokens = 8192 // all of what the other has
	if a.builderOf("tiny", "") != nil {
		t.Error("a builder without room for a prompt")
	}
}

// Each model is asked where and as it is configured, and no server is told another's secrets.
func TestModelsAreAskedAsConfigured(t *testing.T) {
	t.Parallel()
	here, there := llmtest.New(t, llmtest.Key("key of here")), llmtest.New(t, llmtest.Key("key of there"))
	text := fmt.Sprintf(`
[llm]
model = "gpt-4o"
base_url = %q
api_key = "key of here"
temperature = 0.5
vision = true
headers = { "X-Title" = "title of here" }
[[llm.models]]
name = "Small"
model = "gpt-4"
temperature = 1
[[llm.models]]
name = "far"
model = "llama3"
base_url = %q
api_key = "key of there"
window = 2000
vision = true
[llm.fallback]
model = "llama3"
base_url = %[2]q
api_key = "key of there"
`, here.URL(), there.URL())
	c, err := config.Load(writeFile(t, text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	models := setup.NewModels(c)
	if names := models.Names(); !reflect.DeepEqual(names, []string{"gpt-4o", "Small", "far"}) {
		t.Errorf("names %q", names)
	}
	for _, test := range []struct {
		name, model  string
		window, room int
		sees         bool
		warmth       float64
		server       *llmtest.Server
		title        string
	}{
		{"gpt-4o", "gpt-4o", 128_000, 127_000, true, 0.5, here, "title of here"},
		{"small", "gpt-4", 8192, 7192, false, 1, here, "title of here"},
		{"far", "llama3", 2000, 1000, true, 0.5, there, ""},
	} {
		m := models.ByName(test.name)
		test.server.Queue(llmtest.Say("well"))
		reply, err := m.Chat(t.Context(),
			chat.Request{Messages: []chat.Message{{Role: chat.User, Content: "how are you"}}}, nil)
		if err != nil || reply.Model != test.model || reply.Instead != nil {
			t.Errorf("%s: %+v, %v", test.name, reply, err)
		}
		requests := test.server.Requests()
		sent := requests[len(requests)-1]
		if sent.Model != test.model || sent.Header.Get("X-Title") != test.title ||
			*sent.Temperature != test.warmth || *sent.MaxTokens != 1000 {
			t.Errorf("%s: sent %s with %v", test.name, sent.Body, sent.Header)
		}
		if window, room := m.Window(); window != test.window || room != test.room || m.CanSee() != test.sees {
			t.Errorf("%s: window %d, room %d, it sees: %t", test.name, window, room, m.CanSee())
		}
	}
	if f := models.Fallback(); f.Name() != "llama3" || f.CanSee() {
		t.Errorf("fallback %s", f.Name())
	}
	a := &app{models: setup.NewModels(config.Default())}
	if a.model() != nil || a.models.Fallback() != nil {
		t.Error("there is a model where none is configured")
	}
}

func TestHealthOfAnEmbedderThatIsStoodInFor(t *testing.T) {
	t.Parallel()
	a := &app{embedder: embed.Builtin{}}
	if s := a.embedderHealth(); !s.BuiltIn || s.Failed != nil || s.Name == "" {
		t.Errorf("the built-in one: %+v", s)
	}
	a.standIn = errors.New("it can't be reached")
	if s := a.embedderHealth(); s.BuiltIn || s.Failed != a.standIn {
		t.Errorf("one that stands in: %+v", s)
	}
	a.embedder, a.standIn = embed.NewBreaker(embed.Builtin{}), nil
	if _, err := a.embedder.Embed(t.Context(), memory.ForSearch, []string{"hello"}); err != nil {
		t.Fatal(err)
	}
	if s := a.embedderHealth(); s.At.IsZero() || s.BuiltIn {
		t.Errorf("one that was asked: %+v", s)
	}
}
