package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"hark/internal/config"
	"hark/internal/golden"
	"hark/internal/llmtest"
	"hark/internal/tokens"
)

func TestPromptsFitTheWindow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		model                          string
		window, prompt, answer, layout string // empty: the default
		known, want                    int    // the window, and the longest prompt; 0: an error
		fails                          bool
	}{
		{known: 0, want: 4000},
		{model: "llama3", known: 0, want: 4000},
		{model: "gpt-4", known: 8192, want: 4000},
		{model: "gpt-4", prompt: "8000", known: 8192, want: 7192},
		{model: "openai/gpt-4o:free", prompt: "100000", known: 128_000, want: 100_000},
		{model: "gpt-4", window: "32768", prompt: "8000", known: 32_768, want: 8000},
		{model: "llama3", window: "4096", known: 4096, want: 3096},
		{model: "llama3", window: "5000", known: 5000, want: 4000},
		{window: "4096", known: 4096, want: 3096},
		{model: "llama3", window: "1000", known: 1000, fails: true},
		{model: "llama3", window: "1020", known: 1020, fails: true},
		{model: "gpt-4", answer: "8160", known: 8192, fails: true},
		{model: "llama3", prompt: "20", fails: true},
	} {
		env := map[string]string{"HARK_LLM_MODEL": tc.model, "HARK_LLM_WINDOW": tc.window, "HARK_BUILDER_MAX_TOKENS": tc.prompt, "HARK_LLM_MAX_TOKENS": tc.answer}
		c, err := config.Load("", func(key string) (string, bool) { v := env[key]; return v, v != "" })
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBuilder(c, nil)
		if tc.fails {
			golden.Seen(t, fmt.Sprint(err))
			continue
		}
		if err != nil || windowOf(c) != tc.known || promptTokens(c) != tc.want {
			t.Errorf("%+v: window %d, prompt %d, %v", tc, windowOf(c), promptTokens(c), err)
			continue
		}
		if tight := squeezed(c); (tight != nil) != (tc.want < c.Builder.MaxTokens) {
			t.Errorf("%+v: %v", tc, tight)
		}
		if b == nil {
			t.Errorf("%+v: no builder", tc)
		}
	}
}

// A window that is too small for what is configured is told at the start, and prompts are shorter.
func TestWindowIsToldAndObeyed(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("It is so.") })
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "llama3", "HARK_LLM_BASE_URL": model.URL(), "HARK_LLM_WINDOW": "2048", "HARK_MEMORY_SUMMARIES": "extract"}}
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
	if code := run(t.Context(), w.environment(&buffer{}, w.log), []string{"run"}); code != 1 {
		t.Errorf("exit code %d", code)
	}
	lines := strings.Split(strings.TrimSpace(w.log.String()), "\n")
	w.sees(lines[len(lines)-1])
}

// From end to end: a server refuses what is longer than its window, and the second, smaller prompt is answered.
func TestPromptThatIsTooLongIsSentOnceMore(t *testing.T) {
	t.Parallel()
	const window = 1900
	for _, layout := range []string{"sections", "chat"} {
		w := newWorld(t)
		w.env["HARK_BUILDER_LAYOUT"] = layout
		w.model.Answer(func(r llmtest.Request) llmtest.Reply {
			n := sentTokens(r)
			if n+*r.MaxTokens > window {
				return llmtest.Fail(400, "context_length_exceeded", "This model's maximum context length is "+strconv.Itoa(window)+
					" tokens. However, your messages resulted in "+strconv.Itoa(n)+" tokens.")
			}
			return llmtest.Say("In the lighthouse", " [1].")
		})
		w.start()
		for i := range 40 {
			w.discord.Say(w.general.ID, w.jane.ID, fmt.Sprintf("The zebra number %d is in the lighthouse, %s", i, strings.Repeat("they say so everywhere, ", 12)))
		}
		w.later()
		q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" where is the zebra?")
		w.reply(w.general.ID, q.ID, "In the lighthouse")
		var asked []int
		for _, r := range w.model.Requests() {
			asked = append(asked, sentTokens(r))
		}
		if len(asked) != 2 || asked[0]+1000 <= window || asked[1]+1000 > window {
			t.Errorf("%s: prompts of %v tokens for a window of %d", layout, asked, window)
		}
		w.stop()
		w.lacks(w.log.String(), "zebra")
	}
}

// sentTokens are those of a request's messages and tools, as servers count them.
func sentTokens(r llmtest.Request) int {
	var tools struct{ Tools json.RawMessage }
	_ = json.Unmarshal(r.Body, &tools)
	return tokens.New().Count(r.Prompt()) + tokens.New().Count(string(tools.Tools))
}
