package setup

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"hark/builder"
	"hark/internal/answer"
	"hark/internal/chat"
	"hark/internal/config"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/store"
	"hark/memory"
	"hark/memory/sqlite"
)

// nobody is an address where nobody listens.
const nobody = "http://127.0.0.1:9/v1"

// local is a channel for what is said.
var local = memory.Channel{ID: 1, Guild: memory.LocalGuild, Kind: memory.LocalChannel, Name: "terminal"}

// opens puts an app together that embeds with a model at address, or with the built-in embedder if model is empty.
func opens(t *testing.T, dir, model, address string) *App {
	t.Helper()
	c := config.Default()
	c.Data, c.Embedding.Model, c.Embedding.BaseURL = dir, model, address
	a, err := Open(t.Context(), c, nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// says logs a message of the terminal's channel.
func says(t *testing.T, a *App, text string) {
	t.Helper()
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(len(text)) * time.Hour)
	m := memory.Message{ID: memory.FirstMessageID(at), Guild: memory.LocalGuild, Channel: local.ID,
		Author: 7, Content: text}
	if err := a.Store.Apply(t.Context(), memory.ChannelSeen{Channel: local}, memory.Posted{Message: m}); err != nil {
		t.Fatal(err)
	}
}

// recalls checks that an app recalls want messages of what was said, and whether meaning had a part in it.
func recalls(t *testing.T, a *App, want int, byMeaning bool) {
	t.Helper()
	q := answer.Question{Guild: memory.LocalGuild, Text: "which ferry?",
		Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Operator: true, Everywhere: true}
	r, err := a.Answers.Recall(t.Context(), q)
	if err != nil || len(r.Result.Hits) != want || r.Result.TextOnly == byMeaning {
		t.Errorf("recalled %d of %d, text only %v, %v", len(r.Result.Hits), want, r.Result.TextOnly, err)
	}
}

// lies checks where a store's vectors lie and how many are to be made.
func lies(t *testing.T, a *App, use, next memory.Space, waiting int) {
	t.Helper()
	if u, n := sqlite.StoredSpaces(t.Context(), a.Config.Data); u != use || n != next {
		t.Errorf("the vectors lie in %v and %v, want %v and %v", u, n, use, next)
	}
	if n, err := a.Store.Waiting(t.Context(), memory.Everywhere); err != nil || n != waiting {
		t.Errorf("%d wait, want %d; %v", n, waiting, err)
	}
}

func indexes(t *testing.T, a *App) {
	t.Helper()
	if err := a.Index(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

var (
	none    = memory.Space{}
	builtin = embed.Builtin{}.Space()
)

// With an embedder newly configured, the built-in one's vectors answer until its own are made, and those outlast its
// absence: at every start without it nothing is thrown away, and what is new waits or is embedded by who made the rest.
func TestEmbeddersComeAndGo(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), llmtest.New(t)
	var a *App
	opens := func(model, address string) {
		if a != nil {
			a.Close()
		}
		a = opens(t, dir, model, address)
	}
	opens("", "")
	says(t, a, "the ferry leaves at noon")
	indexes(t, a)
	lies(t, a, builtin, none, 0)
	recalls(t, a, 1, true)

	opens("model", nobody) // it was never reached
	golden.Seen(t, fmt.Sprint(a.StandIn()))
	says(t, a, "the ferry was late once again")
	indexes(t, a)
	lies(t, a, builtin, none, 0)
	recalls(t, a, 2, true)

	opens("model", server.URL())
	model := a.Embedder.Space()
	lies(t, a, builtin, model, 2)
	recalls(t, a, 2, true)

	opens("model", nobody) // half-way
	if a.StandIn() != nil {
		t.Errorf("it says %v", a.StandIn())
	}
	lies(t, a, builtin, model, 2)
	recalls(t, a, 2, true)

	opens("another", nobody) // which isn't known to be worth giving up the other for
	lies(t, a, builtin, model, 0)
	recalls(t, a, 2, true)

	opens("model", server.URL())
	indexes(t, a)
	lies(t, a, model, none, 0)
	recalls(t, a, 2, true)

	opens("model", nobody) // complete
	recalls(t, a, 2, false)
	says(t, a, "no ferry runs on Sundays, they say")
	lies(t, a, model, none, 1)

	opens("another", nobody)
	golden.Seen(t, fmt.Sprint(a.StandIn()))
	lies(t, a, model, none, 1)
	recalls(t, a, 3, false)
	if err := a.Index(t.Context(), nil); err == nil || !strings.Contains(err.Error(), a.StandIn().Error()) {
		t.Errorf("it embeds with nobody: %v", err)
	}

	opens("model", server.URL())
	lies(t, a, model, none, 1)
	indexes(t, a)
	recalls(t, a, 3, true)

	opens("", "") // back to the built-in one
	lies(t, a, model, builtin, 3)
	recalls(t, a, 3, false)
	indexes(t, a)
	lies(t, a, builtin, none, 0)
	recalls(t, a, 3, true)
}

// A store without vectors is the stand-in's at once.
func TestAnEmbedderThatWasNeverThere(t *testing.T) {
	t.Parallel()
	a := opens(t, t.TempDir(), "model", nobody)
	if a.StandIn() == nil {
		t.Error("it says nothing")
	}
	says(t, a, "the ferry leaves at noon")
	lies(t, a, builtin, none, 1)
	indexes(t, a)
	recalls(t, a, 1, true)
}

// A command that is about to search doesn't make its user wait for thousands of vectors.
func TestCommandsLeaveALongFillToOthers(t *testing.T) {
	t.Parallel()
	a := opens(t, t.TempDir(), "", "")
	var events []memory.Event
	for n := range FewSegments + 1 {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
		events = append(events, memory.Posted{Message: memory.Message{
			ID: memory.FirstMessageID(at), Guild: memory.LocalGuild, Channel: local.ID, Author: 7,
			Content: "the ferry leaves at noon"}})
	}
	if err := a.Store.Apply(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	err := a.IndexFew(t.Context())
	if err == nil || !strings.Contains(err.Error(), "2001 segments wait") ||
		!strings.Contains(err.Error(), "hark run") {
		t.Errorf("got %v", err)
	}
	lies(t, a, builtin, none, FewSegments+1)
	indexes(t, a)
	if err := a.IndexFew(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBuildersOfModelsAndLanguages(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.LLM.Model, c.LLM.Window, c.Builder.Language = "gpt-4o", 20_000, "de"
	c.Builder.Labels["lore"] = "Garten"
	c.LLM.Models = []config.Model{{Name: "far", Model: "llama", Window: 9000}, {Name: "tiny", Model: "gpt-4", Window: 60}}
	own, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	a := &App{Config: c, Builder: own, Models: NewModels(c)}
	for _, key := range [][2]string{{"", ""}, {"gpt-4o", ""}, {"", "de"}, {"gpt-4o", "de"}} {
		if a.builderOf(t.Context(), key[0], key[1], "") != own {
			t.Errorf("%q has a builder of its own", key)
		}
	}
	french := a.builderOf(t.Context(), "gpt-4o", "fr", "")
	if french == own || french.Labels().Lore == "Garten" || !strings.Contains(french.Labels().History, "Historique") {
		t.Errorf("in French: %+v", french.Labels())
	}
	other := a.builderOf(t.Context(), "far", "de", "")
	if other == own || other.Labels().Lore != "Garten" {
		t.Errorf("another model's labels are %+v", other.Labels())
	}
	if r := other.Build(builder.Input{Query: builder.Turn{Content: "hello"}}).Report; r.Window != 9000 {
		t.Errorf("another model's window is %d", r.Window)
	}
	if a.builderOf(t.Context(), "tiny", "", "") != nil {
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
	c, err := loadConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	models := NewModels(c)
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
		{"far", "llama3", 2000, 2000 - 666, true, 0.5, there, ""},
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
			*sent.Temperature != test.warmth || *sent.MaxTokens != min(1000, test.window/3) {
			t.Errorf("%s: sent %s with %v", test.name, sent.Body, sent.Header)
		}
		if window, room := m.Window(t.Context()); window != test.window || room != test.room || m.CanSee() != test.sees {
			t.Errorf("%s: window %d, room %d, it sees: %t", test.name, window, room, m.CanSee())
		}
	}
	if f := models.Fallback(); f.Name() != "llama3" || f.CanSee() {
		t.Errorf("fallback %s", f.Name())
	}
	a := &App{Models: NewModels(config.Default())}
	if a.Model() != nil || a.Models.Fallback() != nil {
		t.Error("there is a model where none is configured")
	}
}
