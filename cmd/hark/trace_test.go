package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"hark/internal/archive"
	"hark/internal/discordtest"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/memory"
)

// sentMessages returns the messages of the last request to the model.
func (w *world) sentMessages() (contents []string) {
	w.Helper()
	var request struct {
		Messages []struct{ Content string }
	}
	if err := json.Unmarshal([]byte(w.prompt()), &request); err != nil {
		w.Fatal(err)
	}
	for _, m := range request.Messages {
		contents = append(contents, m.Content)
	}
	return contents
}

// traced waits until an answer's trace is logged.
func (w *world) traced(answer discordtest.Sent) {
	w.Helper()
	w.waitLog(`"answer":(` + answer.ID.String() + `),`)
}

func TestTraceShowsThePromptAsItWasSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "The canary sings in the greenhouse at noon.")
	w.later()
	answer := w.ask(w.general, w.ana, "where does the canary sing?")
	w.traced(answer)
	id, want := answer.ID.String(), strings.Join(w.sentMessages(), "\n\n")
	w.holds(want, "sings in the greenhouse")

	list, _ := w.hark(0, "trace", "--limit", "1")
	w.holds(list, id)
	w.holds(list, "#general in Garden, test-model")
	if !regexp.MustCompile(`(?m)^  history +\d+ +\d+ +\d+ +1 +0 +0$`).MatchString(list) ||
		!regexp.MustCompile(`(?m)^  all +\d+ tokens of 4000$`).MatchString(list) {
		t.Errorf("listed\n%s", list)
	}
	w.lacks(list, "canary")
	exact, _ := w.hark(0, "trace", id, "--prompt")
	if exact != want {
		t.Errorf("the prompt is\n%s\nand was\n%s", exact, want)
	}
	shown, _ := w.hark(0, "trace", id)
	history := regexp.MustCompile(
		`(?s)\n── history · \d+ tokens · message 2, user, bytes \d+–\d+ ──\n(.+?)\n\n── `).FindStringSubmatch(shown)
	if history == nil || !strings.HasPrefix(history[1], "💬 Relevant History\n") ||
		!strings.Contains(history[1], "sings in the greenhouse") {
		t.Errorf("shown\n%s", shown)
	}
	var told jsonTrace
	asJSON, _ := w.hark(0, "trace", id, "--json")
	if err := json.Unmarshal([]byte(asJSON), &told); err != nil {
		t.Fatal(err)
	}
	if told.Answer.String() != id || told.Layout != "sections" || told.Model != "test-model" || told.Warning ||
		len(told.Prompt.Messages) != 2 {
		t.Errorf("told %s", asJSON)
	}
	for _, s := range told.Sections {
		if s.Section == "history" {
			text := told.Prompt.Messages[s.At[0].Message].Content[s.At[0].Start:s.At[0].End]
			if text != history[1] || s.Included != 1 || s.Tokens == 0 || s.Floor == 0 || s.Ceiling == 0 {
				t.Errorf("history is %+v: %q", s, text)
			}
		}
	}
	// An export has nothing that others said.
	export, _ := w.hark(0, "export", "--user", "ana")
	w.holds(export, id)
	w.lacks(export, "sings in the greenhouse")
	w.stopWell()
	// The log has no words of messages and no names.
	for _, message := range w.discord.Messages(w.general.ID) {
		for _, word := range regexp.MustCompile(`[A-Za-z]{4,}`).FindAllString(message.Content, -1) {
			w.lacks(w.log.String(), word)
		}
	}
	for _, name := range []string{"Garden", "jane", "otto", `"ana"`} {
		w.lacks(w.log.String(), name)
	}
}

func TestForgottenPromptsCantBeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	said := w.discord.Say(w.general.ID, w.jane.ID, "The canary sings in the greenhouse at noon.")
	w.later()
	first := w.ask(w.general, w.ana, "where does it sing in the greenhouse?")
	w.traced(first)
	w.later()
	second := w.ask(w.general, w.ana, "who is "+w.otto.Mention()+"?")
	w.traced(second)
	w.hark(0, "trace", second.ID.String(), "--prompt")
	w.keeps(`canary sings`)

	w.hark(0, "forget", "--user", "otto", "--yes")
	w.told(1, "trace", second.ID.String(), "--prompt")

	w.discord.Delete(w.general.ID, said.ID)
	w.settled()
	_, why := w.hark(1, "trace", first.ID.String())
	w.holds(why, "no answer "+first.ID.String())
	w.restart()
	w.keepsNot("canary sings")
}

func TestSectionsOfThePrompt(t *testing.T) {
	t.Parallel()
	p := memory.Prompt{Messages: []memory.PromptMessage{{}, {Content: "a\nb\nc"}},
		Boundaries: []memory.Boundary{{Section: "history", Message: 1, Start: 2, End: 5}}}
	var out strings.Builder
	k := &archive.Archive{}
	for _, window := range []int{0, 1000, 1100} {
		out.Reset()
		printTrace(&out, k, memory.Trace{Tokens: 800, MaxTokens: 900, Window: window,
			Sections: []memory.TraceUse{{Section: "history"}}}, p)
		golden.Seen(t, out.String())
		if got := traceJSON(k, memory.Trace{Tokens: 800, Window: window}); got.Warning != (window == 1000) {
			t.Errorf("%+v", got)
		}
	}
}

// A talk keeps prompts too, and drops old ones when it begins.
func TestChatKeepsPrompts(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("It is Friday.") })
	c := &commandLine{T: t, env: map[string]string{"HARK_DATA": t.TempDir(), "HARK_LLM_MODEL": "test-model",
		"HARK_LLM_BASE_URL": model.URL(), "HARK_BUILDER_LAYOUT": "chat"}}
	c.stdin = "Jane: the canary sings on Friday\nTom: @hark when does it sing?\n"
	c.run(0, "chat")
	c.run(0, "trace", "--json")
	var told []struct{ Answer string }
	if err := json.Unmarshal([]byte(c.out.String()), &told); err != nil || len(told) != 1 {
		t.Fatal(err, c.out.String())
	}
	c.run(0, "trace", told[0].Answer)
	section := regexp.MustCompile(`\n── current_session · \d+ tokens · message 3, user, bytes 0–\d+ ──\n` +
		`.*the canary sings on Friday\n`)
	if !section.MatchString(c.out.String()) {
		t.Errorf("shown\n%s", c.out.String())
	}
	c.run(0, "trace", told[0].Answer, "--prompt")
	if got := c.out.String(); !strings.HasPrefix(got, "[system]\n=== SYSTEM INSTRUCTIONS ===\n") ||
		!strings.Contains(got, "\n\n[user]\n") {
		t.Errorf("the prompt is\n%s", got)
	}
	c.env["HARK_MEMORY_TRACE_RETENTION"] = "1ns"
	c.stdin = ""
	c.run(0, "chat")
	delete(c.env, "HARK_MEMORY_TRACE_RETENTION")
	c.run(1, "trace", told[0].Answer, "--prompt")
}
