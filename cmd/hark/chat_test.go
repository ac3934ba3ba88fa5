package main

import (
	"strings"
	"testing"

	"hark/internal/llmtest"
)

func TestChatWithAModelShowsItsSources(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), t.TempDir()
	c := commandLine{T: t, env: map[string]string{
		"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL(), "HARK_ANSWER_TIMEZONE": "Europe/Berlin"}}
	c.run(0, "import", writeFile(t, posted("garden/1", "1", "Jane", "The zebra is here.")), "--data", data)
	model.Queue(llmtest.Say("It is here [1], I think [7]."))
	c.stdin = "Ana: @hark where is the zebra?\n"
	c.run(0, "chat", "--data", data)
	want := "It is here [1], I think.\n  [1] Jane, #garden/1, 31 May 2024 14:00\n"
	if c.out.String() != want || c.err.String() != "" {
		t.Errorf("got %q, want %q; told %q", c.out.String(), want, c.err.String())
	}
}

func TestChatWithoutItsModelQuotes(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Fail(401, "invalid_api_key", "no") })
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}}
	c.stdin = "Jane: the zebra is here\nAna: @hark where is the zebra?\n"
	c.run(0, "chat", "--data", t.TempDir())
	if strings.Contains(c.out.String(), "[1]") || !strings.Contains(c.out.String(), "— **Jane** in #terminal, ") {
		t.Errorf("a number leads nowhere, or there is no author: %q", c.out.String())
	}
	if !strings.Contains(c.out.String(), "> the zebra is here\n") || !strings.Contains(c.err.String(), "llm.api_key") {
		t.Errorf("got %q; told %q", c.out.String(), c.err.String())
	}
}

// Whoever runs Hark is told how to get longer answers.
func TestChatTellsOfACutAnswer(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	model.Queue(llmtest.Reply{Text: []string{"The zebra is he"}, Finish: "length"})
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}}
	c.stdin = "Ana: @hark where is the zebra?\n"
	c.run(0, "chat", "--data", t.TempDir())
	const told = "hark: the answer reached its longest length and is cut off; llm.max_tokens sets that length\n"
	if c.out.String() != "The zebra is he\n" || c.err.String() != told {
		t.Errorf("got %q; told %q", c.out.String(), c.err.String())
	}
}

func TestChatTellsOfTools(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	model.Queue(llmtest.Reply{Tools: []llmtest.ToolCall{{ID: "a", Name: "current_time",
		Arguments: []string{`{}`}}}}, llmtest.Say("It is late."))
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}}
	c.stdin = "Ana: @hark what time is it?\n"
	c.run(0, "chat", "--data", t.TempDir())
	if c.out.String() != "It is late.\n" || c.err.String() != "hark: current_time …\n" {
		t.Errorf("got %q; told %q", c.out.String(), c.err.String())
	}
}

// A byte order mark, any line ending, or a line that is too long doesn't lose other lines.
func TestLinesAreSaid(t *testing.T) {
	t.Parallel()
	c := commandLine{T: t, stdin: "\ufeffJane: the deadline is Friday\r\n\n" +
		strings.Repeat("x", 1<<20+1) + "\nTom: @hark when is the deadline?"}
	c.run(1, "chat", "--data", t.TempDir())
	c.says("**Jane** in #terminal")
	c.says("> the deadline is Friday\n")
	c.says("skipped a line")
}

// /why says how the last answer came about, as the page of the answer does.
func TestChatSaysHowAnAnswerCameAbout(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := commandLine{T: t}
	for _, step := range []struct{ said, want string }{
		{"@hark who waters the zeppelin?",
			"No model wrote it: none is configured.\nIt quotes nothing: the search found nothing.\n"},
		{"@hark thanks!", "No model wrote it: none is configured.\n" +
			"It quotes nothing: the question asks for nothing that could have been said here.\n"},
		{"Jane: the zebra is here\nAna: @hark where is the zebra?",
			"No model wrote it: none is configured.\nIt quotes 1 message.\n"},
	} {
		c.stdin = step.said + "\n/why\n"
		c.run(0, "chat", "--data", data)
		if !strings.Contains(c.out.String(), step.want) {
			t.Errorf("%q: %q isn't in\n%s", step.said, step.want, c.out.String())
		}
	}
	model := llmtest.New(t)
	model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Fail(401, "invalid_api_key", "no") })
	c.env = map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}
	c.stdin = "Ana: @hark where is the zebra?\n/why\n"
	c.run(0, "chat", "--data", data)
	if want := "No model wrote it: the model failed.\nIt quotes 1 message.\n"; !strings.Contains(c.out.String(), want) {
		t.Errorf("%q isn't in\n%s", want, c.out.String())
	}
	c.run(0, "trace", "--limit", "1", "--json", "--data", data)
	for _, want := range []string{`"writer": "model failed"`, `"messages": 1`} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("%q isn't in\n%s", want, c.out.String())
		}
	}
}
