package main

import (
	"strings"
	"testing"

	"hark/builder"
	"hark/internal/config"
	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

func given(name string, value any) discordtest.Opt { return discordtest.Opt{Name: name, Value: value} }

// lastRequest is what the model was sent last.
func (w *world) lastRequest() llmtest.Request {
	w.Helper()
	requests := w.model.Requests()
	if len(requests) == 0 {
		w.Fatal("the model wasn't asked")
	}
	return requests[len(requests)-1]
}

// What those who manage the server set reaches the model, where they set it and nowhere else.
func TestSettingsReachTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[[llm.models]]\nname = \"Large one\"\nmodel = \"large-1\"\ntemperature = 0.25\n")
	w.start()
	owner := w.guild.Owner.ID
	w.discord.Say(w.general.ID, w.jane.ID, "The greenhouse opens at nine.")
	w.later()
	w.settled() // and the commands are there
	form := w.discord.Slash(w.general.ID, owner, "hark set", given("setting", "persona"))
	form.Wait()
	w.holds(form.Submit(map[string]string{"text": "You are the archivist.\nYou answer in verse."}).WaitMessage().Content, "Done.")
	w.use(owner, "hark set", "1.5", given("setting", "temperature"), given("value", "1.5"))
	w.use(owner, "hark set", "analysis", given("setting", "mode"), given("value", "analysis"))
	w.use(owner, "hark set", "", given("setting", "language"), given("value", "de"), given("server", true))
	if offered := w.discord.Complete(w.general.ID, owner, "model", given("model", "la")).Wait().Choices(); len(offered) != 1 || offered["Large one"] != "Large one" {
		t.Errorf("offered %v", offered)
	}
	w.use(owner, "model", "Large one", given("model", "large ONE"))

	w.ask(w.general, w.ana, "when does the greenhouse open?")
	r := w.lastRequest()
	if r.Model != "large-1" || r.Temperature == nil || *r.Temperature != 1.5 {
		t.Errorf("model %q, temperature %v", r.Model, r.Temperature)
	}
	w.holds(r.Messages[0].Content, "You are the archivist.\nYou answer in verse.")
	w.holds(r.Messages[1].Content, "💬 Relevanter Verlauf")
	w.ask(w.staff, w.ana, "when does the greenhouse open?")
	r = w.lastRequest()
	if r.Model != "test-model" || r.Temperature != nil {
		t.Errorf("elsewhere %q, with temperature %v, is asked", r.Model, r.Temperature)
	}
	w.lacks(r.Messages[0].Content, "archivist")
	w.holds(r.Messages[1].Content, "💬 Relevanter Verlauf")

	// What is changed or taken back holds from the next question on.
	form = w.discord.Slash(w.general.ID, owner, "hark set", given("setting", "persona"))
	form.Wait()
	form.Submit(map[string]string{"text": "You are the gardener."}).WaitMessage()
	w.use(owner, "hark set", "0.25", given("setting", "temperature"), given("value", "default"))
	w.ask(w.general, w.ana, "and who has the key?")
	r = w.lastRequest()
	w.holds(r.Messages[0].Content, "You are the gardener.")
	if r.Model != "large-1" || r.Temperature == nil || *r.Temperature != 0.25 {
		t.Errorf("taken back, %q is asked with temperature %v", r.Model, r.Temperature)
	}
	listed, _ := w.hark(0, "trace", "--limit", "9", "--json") // the first answer is logged for sure
	w.holds(listed, "large-1")

	// A channel that is deleted takes its persona with it.
	w.discord.RemoveChannel(w.general.ID)
	w.discord.WaitFor("the channel's end", func() bool {
		return !w.onDisk("You are the gardener.")
	})
	if code := w.stop(); code != 0 {
		t.Errorf("stopped with %d", code)
	}
	w.lacks(w.log.String(), "archivist")
}

func TestBuildersOfModelsAndLanguages(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.LLM.Model, c.LLM.Window, c.Builder.Language = "gpt-4o", 20_000, "de"
	*c.Builder.Labels["lore"] = "Garten"
	c.LLM.Models = []config.Model{{Name: "far", Model: "llama", Window: 9000}, {Name: "tiny", Model: "gpt-4"}}
	own, err := newBuilder(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &builders{config: c, own: own}
	for _, key := range []builderKey{{"", ""}, {"gpt-4o", ""}, {"", "de"}, {"gpt-4o", "de"}} {
		if b.of(key.model, key.language) != own {
			t.Errorf("%+v has a builder of its own", key)
		}
	}
	french := b.of("gpt-4o", "fr")
	if french == own || french != b.of("", "fr") || french.Labels().Lore == "Garten" || !strings.Contains(french.Labels().History, "Historique") {
		t.Errorf("in French: %+v", french.Labels())
	}
	other := b.of("far", "de")
	if other == own || other.Labels().Lore != "Garten" {
		t.Errorf("another model's labels are %+v", other.Labels())
	}
	if r := other.Build(builder.Input{Query: builder.Turn{Content: "hello"}}).Report; r.Window != 9000 {
		t.Errorf("another model's window is %d", r.Window)
	}
	c.LLM.MaxTokens = 8192 // all of what the other has
	b = &builders{config: c, own: own}
	for range 2 {
		if none := b.of("tiny", ""); none != nil {
			t.Error("a builder without room for a prompt")
		}
	}
}
