package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/internal/mcptest"
)

const changes = "garden__water"

// gardening is a world with a server of tools, whose tool isn't read-only and which the model calls where it may.
func gardening(t *testing.T) (*world, *mcptest.Server) {
	w, s := newWorld(t), mcptest.New(t, mcptest.Tool{Name: "water", Description: "Waters a bed.",
		Schema: `{"type":"object","properties":{"bed":{"type":"string"}}}`,
		Call:   mcptest.Says("outcome-canary: the roses are watered")})
	s.Key = "secret-canary"
	w.configure(fmt.Sprintf("[[tools.mcp]]\nname = 'garden'\naddress = %q\napi_key_env = 'GARDEN_KEY'\n", s.URL))
	w.env["GARDEN_KEY"] = s.Key
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		called := slices.ContainsFunc(r.Messages, func(m llmtest.Message) bool { return m.Role == "tool" })
		switch {
		case !offers(r, changes):
			return llmtest.Say("Noted, without tools.")
		case called:
			return llmtest.Say("Noted: the garden's water is on.")
		}
		return calls([2]string{changes, `{"bed":"argument-canary"}`})
	})
	return w, s
}

func offers(r llmtest.Request, tool string) bool {
	return strings.Contains(string(r.Body), `"name":"`+tool+`"`)
}

// switchesOn has the owner switch a server of tools on in the general channel.
func (w *world) switchesOn(server, shown string) {
	w.Helper()
	w.use(w.guild.Owner.ID, "hark set", shown, discordtest.Opt{Name: "setting", Value: "tools"},
		discordtest.Opt{Name: "value", Value: server}, discordtest.Opt{Name: "channel", Value: w.general.ID})
}

// asksToRun is the message that asks whether a tool may run.
func (w *world) asksToRun() discordtest.Message {
	w.Helper()
	return w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool {
		return strings.Contains(m.Content, "argument-canary") && !m.Deleted
	}).Message
}

// A tool from outside runs where an admin switched its server on and the asker agrees. Neither what it was sent nor
// what it returned is kept.
func TestToolsFromOutside(t *testing.T) {
	t.Parallel()
	w, s := gardening(t)
	w.env["HARK_LOG_LEVEL"] = "debug"
	w.start()
	w.lacks(w.ask(w.general, w.ana, "water the roses").Content, "With tools")
	w.switchesOn("garden", "with the tools of garden")
	w.lacks(w.ask(w.staff, w.ana, "water the roses").Content, "With tools")

	q := w.question(w.general, w.ana, "water the roses please")
	m := w.asksToRun()
	refused := w.press(m, w.otto, "Run it")
	if got := refused.WaitMessage().Content; !strings.HasPrefix(got, "Only") || len(s.Calls()) > 0 {
		t.Errorf("otto is told %q, called %+v", got, s.Calls())
	}
	w.press(m, w.ana, "Run it")
	answer := w.reply(w.general.ID, q.ID, "With tools")
	w.holds(answer.Content, "Noted: the garden's water is on.\n-# With tools from outside: garden\\: water")
	if got := s.Calls(); !slices.Equal(got, []mcptest.Call{{Tool: "water", Arguments: `{"bed":"argument-canary"}`}}) {
		t.Errorf("called %+v", got)
	}
	w.holds(w.prompt(), "outcome-canary")
	w.traced(answer)
	shown, _ := w.hark(0, "trace", answer.ID.String())
	w.holds(shown, changes)
	w.settled()
	w.stopWell()
	w.keepsNot("outcome-canary", "argument-canary", "secret-canary")
	for _, secret := range []string{"outcome-canary", "argument-canary", "secret-canary"} {
		w.lacks(w.log.String(), secret)
	}
	if !w.now(m).Deleted {
		t.Error("the question whether it may run is still there")
	}
}

// A server that can't be reached delays neither the start nor answers, and the log and the doctor say so.
func TestServersOfToolsThatAreAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[[tools.mcp]]\nname = 'garden'\ncommand = 'no-such-command-of-anybody'\n" +
		"[[tools.mcp]]\nname = 'away'\naddress = 'http://127.0.0.1:1/mcp'\n")
	w.start()
	w.switchesOn("garden, away", "with the tools of away, garden")
	w.ask(w.general, w.ana, "water the roses")
	w.ask(w.general, w.ana, "water the tulips")
	w.stopWell()
	for _, line := range []string{`"server":"garden","problem":"there is no command of that name`,
		`"server":"away","problem":"nothing answers at its address`} {
		if n := strings.Count(w.log.String(), line); n != 1 {
			t.Errorf("%d lines have %s", n, line)
		}
	}
	_, out, _ := w.runs("", "doctor")
	w.holds(out, `✗ tools of "garden": there is no command of that name → install it, or name it with its directory`)
	w.holds(out, `✗ tools of "away": nothing answers at its address → check it, and whether the server runs`)
	s := mcptest.New(t, mcptest.Tool{Name: "water", Call: mcptest.Says("")})
	w.configure(fmt.Sprintf("[[tools.mcp]]\nname = 'garden'\naddress = %q\n", s.URL))
	_, out, _ = w.runs("", "doctor")
	w.holds(out, `✓ tools of "garden": 1 tool, for channels`)
}
