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
	c.stdin = `{"type":"message","channel":"garden/1","id":"1","author":"Jane","time":"2024-05-31T12:00:00Z","text":"The zebra is here."}` + "\n"
	c.importText(data)
	model.Queue(llmtest.Say("It is here [1], I think [7]."))
	c.stdin = "Ana: @hark where is the zebra?\n"
	c.run(0, "chat", "--data", data)
	if want := "It is here [1], I think.\n  [1] Jane, #garden/1, 31 May 2024 14:00\n"; c.out.String() != want || c.err.String() != "" {
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
	if !strings.Contains(c.out.String(), "> the zebra is here\n") || !strings.Contains(c.err.String(), "llm.api_key") {
		t.Errorf("got %q; told %q", c.out.String(), c.err.String())
	}
}

// TestChatInAChannelOfDiscordsRemembersNothing asks in an imported channel: nothing is added to it.
func TestChatInAChannelOfDiscordsRemembersNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	c := commandLine{T: t}
	c.stdin = `{"guild": {"id": "5001", "name": "Harbour"}, "channel": {"id": "5002", "type": "GuildTextChat", "name": "dock"}, "messages": [
		{"id": "1000000000000000001", "type": "Default", "timestamp": "2023-08-04T00:00:00+00:00", "content": "The zebra is here.",
		 "author": {"id": "71", "name": "ada", "discriminator": "0000", "nickname": "Ada", "isBot": false}}]}`
	c.importText(data)
	c.stdin = "Ana: the other zebra is away\nAna: @hark where is the zebra?\n"
	c.run(0, "chat", "--channel", "dock", "--data", data)
	if !strings.Contains(c.out.String(), "> The zebra is here.\n") {
		t.Errorf("got %q", c.out.String())
	}
	c.stdin = ""
	c.run(0, "search", "--data", data, "zebra")
	if strings.Contains(c.out.String(), "away") || strings.Contains(c.out.String(), "Ana") {
		t.Errorf("remembered %q", c.out.String())
	}
}

// importText imports stdin.
func (c *commandLine) importText(data string) {
	c.Helper()
	c.run(0, "import", writeFile(c.T, c.stdin), "--data", data)
}
