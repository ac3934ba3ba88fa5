package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
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

// In the terminal it is told that a tool is used.
func TestChatTellsOfTools(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	model.Queue(llmtest.Reply{Tools: []llmtest.ToolCall{{ID: "a", Name: "current_time", Arguments: []string{`{}`}}}}, llmtest.Say("It is late."))
	c := commandLine{T: t, env: map[string]string{"HARK_LLM_MODEL": "test-model", "HARK_LLM_BASE_URL": model.URL()}}
	c.stdin = "Ana: @hark what time is it?\n"
	c.run(0, "chat", "--data", t.TempDir())
	if c.out.String() != "It is late.\n" || c.err.String() != "hark: current_time …\n" {
		t.Errorf("got %q; told %q", c.out.String(), c.err.String())
	}
	// Where answers are shown as they grow, it stands on a line of its own.
	var got buffer
	l := &live{w: &got, width: func() int { return 20 }}
	talk := conversation{warn: &got, live: l, colour: colours{dim: "<", off: ">"}}
	l.begin()
	l.show("Let me look up")
	talk.using("search_memory")
	talk.using("current_time")
	l.show("Let me look up\n\nIt is late.")
	l.end()
	if want := "Let me look up\n<hark: search_memory …>\n<hark: current_time …>\n\n\nIt is late.\n"; got.String() != want {
		t.Errorf("shown %q, want %q", got.String(), want)
	}
}

// Every line is read once, those that are too long are told of and passed over.
func TestReadLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	for _, c := range []struct {
		in   string
		want []string // "!" for one that is too long
	}{
		{"", nil},
		{"one", []string{"one"}},
		{"one\n", []string{"one"}},
		{"one\r\n\ntwo", []string{"one", "", "two"}},
		{long + "\nshort\n", []string{"!", "short"}},
		{"short\n" + long, []string{"short", "!"}},
		{strings.Repeat("x", 50) + "\n", []string{strings.Repeat("x", 50)}},
	} {
		in := bufio.NewReaderSize(strings.NewReader(c.in), 16)
		var got []string
		for {
			line, whole, err := readLine(in, 60)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !whole {
				line += "!"
			}
			got = append(got, line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%.20q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// A mark at the beginning of a file isn't part of a name, and a line too long costs only itself.
func TestLinesAreSaid(t *testing.T) {
	t.Parallel()
	var out, warned bytes.Buffer
	env := environment{
		stdin:  strings.NewReader("\ufeffJane: the deadline is Friday\n" + strings.Repeat("x", maxLine+1) + "\nTom: @hark when is the deadline?\n"),
		stdout: &out, stderr: &warned,
		lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil },
	}
	if code := run(t.Context(), env, []string{"chat", "--data", t.TempDir()}); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(out.String(), "**Jane** in #terminal") || !strings.Contains(warned.String(), "was passed over") {
		t.Errorf("answered %q, warned %q", &out, &warned)
	}
}
