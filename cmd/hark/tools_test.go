package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hark/internal/llmtest"
)

// The model looks something up: it finds what all may read, cites it by a link, and the answer goes with it.
func TestTheModelLooksThingsUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"], w.env["HARK_BUILDER_MAX_TOKENS"] = "127.0.0.1:0", "700" // so that not all is in the prompt
	w.env["HARK_ANSWER_TOOL_TOKENS"] = "3000"
	w.start()
	address := w.waitLog(`"address":"([^"]+)"`)
	public := w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.discord.Say(w.staff.ID, w.jane.ID, privateWords)
	for i := range 30 {
		w.discord.Say(w.general.ID, w.otto.ID, fmt.Sprintf("hello there, said otto for the %d. time", i))
	}
	w.later()

	w.model.Queue(
		llmtest.Reply{Text: []string{"Let me look."}, Tools: []llmtest.ToolCall{
			{ID: "a", Name: "search_memory", Arguments: []string{`{"query":"meet`, `ing"}`}}, {ID: "b", Name: "search_memory", Arguments: []string{`{"query":"meeting","channel":"staff"}`}},
			{ID: "c", Name: "nonsense"},
		}})
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		number := regexp.MustCompile(`(\[\d+\]) [^\n]*Thursday`).FindStringSubmatch(r.Prompt())
		if number == nil {
			t.Errorf("nothing was found:\n%s", r.Prompt())
			return llmtest.Say("Nothing.")
		}
		return llmtest.Say("It is on Thursday ", number[1], ".")
	})
	question := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" hello there")
	link := fmt.Sprintf("https://discord.com/channels/%d/%d/%d", w.guild.ID, w.general.ID, public.ID)
	answer := w.reply(w.general.ID, question.ID, link)
	w.holds(answer.Content, "It is on Thursday")
	requests := w.model.Requests()
	w.lacks(string(requests[len(requests)-2].Body), "Thursday")
	w.holds(w.prompt(), "Thursday at noon")
	w.lacks(w.prompts(), "lighthouse")

	w.traced(answer)
	list, _ := w.tell(0, "trace", "--limit", "1")
	for _, line := range []string{`search_memory, ok, [1-9]\d* messages, \d+ tokens, \d+ ms`, `search_memory, bad arguments, 0 messages`, `unknown, unknown tool, 0 messages`} {
		if !regexp.MustCompile(`(?m)^  round 1: ` + line).MatchString(list) {
			t.Errorf("no %q in\n%s", line, list)
		}
	}
	var told struct {
		Calls []struct{ Tool, Outcome string } `json:"tool_calls"`
	}
	asJSON, _ := w.tell(0, "trace", answer.ID.String(), "--json")
	if err := json.Unmarshal([]byte(asJSON), &told); err != nil || len(told.Calls) != 3 || told.Calls[1].Outcome != "bad arguments" {
		t.Errorf("told %s, %v", asJSON, err)
	}
	shown, _ := w.tell(0, "trace", answer.ID.String())
	w.holds(shown, `search_memory{"query":"meeting"}`)
	w.holds(shown, "── tools · message 4, tool, bytes 0–")
	w.get(address, "/metrics", 200, `hark_tool_calls_total{outcome="ok",tool="search_memory"} 1`)
	w.get(address, "/metrics", 200, `hark_tool_calls_total{outcome="unknown tool",tool="unknown"} 1`)

	w.model.Answer(func(llmtest.Request) llmtest.Reply { return llmtest.Say("Noted.") })
	w.discord.Delete(w.general.ID, public.ID)
	w.ask(w.general, w.ana, "and once more?")
	w.lacks(w.prompt(), "Thursday")
	if list, _ := w.tell(0, "trace"); strings.Contains(list, answer.ID.String()) {
		t.Errorf("the answer is still there:\n%s", list)
	}
	w.stop()
	for _, secret := range []string{"Thursday", "lighthouse", "meeting", "nonsense"} {
		w.lacks(w.log.String(), secret)
	}
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
