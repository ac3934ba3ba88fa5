package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"hark/internal/chat"
	"hark/internal/config"
	"hark/internal/llmtest"
)

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
	models := newModels(c)
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
		reply, err := m.Chat(t.Context(), chat.Request{Messages: []chat.Message{{Role: chat.User, Content: "how are you"}}}, nil)
		if err != nil || reply.Model != test.model || reply.Instead != nil {
			t.Errorf("%s: %+v, %v", test.name, reply, err)
		}
		requests := test.server.Requests()
		sent := requests[len(requests)-1]
		if sent.Model != test.model || sent.Header.Get("X-Title") != test.title || *sent.Temperature != test.warmth || *sent.MaxTokens != 1000 {
			t.Errorf("%s: sent %s with %v", test.name, sent.Body, sent.Header)
		}
		if window, room := m.Window(); window != test.window || room != test.room || m.CanSee() != test.sees {
			t.Errorf("%s: window %d, room %d, it sees: %t", test.name, window, room, m.CanSee())
		}
	}
	if f := models.Fallback(); f.Name() != "llama3" || f.CanSee() {
		t.Errorf("fallback %s", f.Name())
	}
	a := &app{models: newModels(config.Default())}
	if a.model() != nil || a.models.Fallback() != nil {
		t.Error("there is a model where none is configured")
	}
}

// A server that fails three times and is then well has answered, and isn't left alone.
func TestDoctorChecksEachModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := llmtest.New(t, llmtest.Key("the other's key"), llmtest.Models("m2"))
	w.env["HARK_LLM_FALLBACK_MODEL"], w.env["HARK_LLM_FALLBACK_BASE_URL"] = "m3", other.URL()
	w.env["HARK_LLM_FALLBACK_API_KEY"] = "the other's key"
	w.configure(fmt.Sprintf("[[llm.models]]\nname = 'one'\nmodel = 'm2'\nbase_url = %q\napi_key = \"the other's key\"\nwindow = 3000\n"+
		"[[llm.models]]\nname = 'two'\nmodel = 'm2'\nbase_url = %[1]q\napi_key = 'a wrong key'", other.URL()))
	other.Answer(func(r llmtest.Request) llmtest.Reply { return llmtest.Say("H") })
	code, out := w.doctor()
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "model") {
			w.sees(strings.ReplaceAll(line, other.URL(), "OTHER"))
		}
	}
	for _, secret := range []string{"the other's key", "a wrong key"} {
		w.lacks(out+w.log.String(), secret)
	}
	for _, s := range []*llmtest.Server{w.model, other} {
		for _, r := range s.Requests() {
			if r.Method == "POST" && *r.MaxTokens != 1 {
				t.Errorf("asked for more than a token: %s", r.Body)
			}
		}
	}
}

// Where the model fails, another answers, and is asked at once while the first isn't to be; where that fails too, Hark quotes.
func TestAnotherModelAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := llmtest.New(t)
	w.env["HARK_LLM_FALLBACK_MODEL"], w.env["HARK_LLM_FALLBACK_BASE_URL"] = "spare", other.URL()
	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.RateLimited(time.Hour) })
	other.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("Noted") })
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.later()
	for range 4 {
		w.ask(w.general, w.ana, when)
	}
	if first, second := len(w.model.Requests()), len(other.Requests()); first != 1 || second != 4 {
		t.Errorf("the first was asked %d times, the other %d", first, second)
	}
	other.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Fail(501, "", "canary") })
	q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" "+when)
	w.reply(w.general.ID, q.ID, "> "+publicWords)
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	log := w.log.String()
	if n := strings.Count(log, `"model":"spare"`); n != 4 {
		t.Errorf("it is logged %d times that another model answered", n)
	}
	w.lacks(log, "canary")
	traces, _ := w.hark(0, "trace", "--json")
	w.holds(traces, `"spare"`)
}
