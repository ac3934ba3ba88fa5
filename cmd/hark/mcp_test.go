package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"hark/internal/discordtest"
)

// asksMemory has a program with a token search for the ferry, and returns what it is told.
func (w *world) asksMemory(address, token string) string {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), "POST", "http://"+address+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"ferry"}}}`))
	if err != nil {
		w.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Sprint(response.StatusCode, " ", string(body), err)
	}
	return string(body)
}

var tokenShown = regexp.MustCompile(`hark_[\w-]+`)

// A member's program reads what the member may read in Discord now, until they take the token back or leave.
func TestProgramsOfMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"], w.env["HARK_WEB_MCP"] = "127.0.0.1:0", "true"
	w.start()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.discord.Say(w.general.ID, w.jane.ID, "the ferry leaves at public-nine")
	w.discord.Say(w.staff.ID, w.jane.ID, "the ferry leaves at secret-eight")
	w.settled()
	w.use(w.otto.ID, "memory connect", "haven't switched that on")
	w.use(w.guild.Owner.ID, "hark set", "Members' programs", discordtest.Opt{Name: "setting", Value: "programs"},
		discordtest.Opt{Name: "value", Value: "on"})
	connect := func(who discordtest.ID) string {
		t.Helper()
		return tokenShown.FindString(w.use(who, "memory connect", "Token").Content)
	}
	ottos, anas := connect(w.otto.ID), connect(w.ana.ID)
	both := func(token string, staff bool) {
		t.Helper()
		said := w.asksMemory(address, token)
		if !strings.Contains(said, "public-nine") || strings.Contains(said, "secret-eight") != staff {
			t.Errorf("staff: %v; told %s", staff, said)
		}
	}
	both(ottos, false)
	both(anas, true)
	w.discord.UpdateMember(w.guild.ID, w.otto.ID, func(m *discordtest.Member) { m.Roles = append(m.Roles, w.staffRole.ID) })
	both(ottos, true)
	w.discord.UpdateMember(w.guild.ID, w.otto.ID, func(m *discordtest.Member) { m.Roles = []discordtest.ID{} })
	both(ottos, false)
	w.use(w.otto.ID, "memory show", "Uses: 3")
	if _, out, _ := w.runs("", "export", "--user", "otto"); !strings.Contains(out, `"uses": 3`) || strings.Contains(out, ottos) {
		t.Errorf("exported: %s", out)
	}
	w.use(w.otto.ID, "memory disconnect", "Taken back")
	w.holds(w.asksMemory(address, ottos), "401")
	w.use(w.guild.Owner.ID, "hark set", "Members' programs", discordtest.Opt{Name: "setting", Value: "programs"},
		discordtest.Opt{Name: "value", Value: "off"})
	w.holds(w.asksMemory(address, anas), "don't let programs read")
	w.use(w.guild.Owner.ID, "hark set", "Members' programs", discordtest.Opt{Name: "setting", Value: "programs"},
		discordtest.Opt{Name: "value", Value: "on"})
	w.use(w.otto.ID, "memory disconnect", "no token here")
	w.discord.RemoveMember(w.guild.ID, w.ana.ID)
	if said := w.asksMemory(address, anas); strings.Contains(said, "ferry leaves") {
		t.Errorf("told somebody who left: %s", said)
	}
	w.discord.AddMember(w.guild.ID, w.ana, w.staffRole.ID)
	w.holds(w.asksMemory(address, anas), "401") // also once they are back
	w.discord.RemoveMember(w.guild.ID, w.ana.ID)
	if strings.Contains(w.log.String(), "hark_") {
		t.Error("a token is in the log")
	}
	w.keepsNot(ottos, anas)
	w.stopWell()

	// on standard input and output, for whom the operator says
	request := func(name string, arguments any) string {
		text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call",
			"params": map[string]any{"name": name, "arguments": arguments}})
		return string(text) + "\n"
	}
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"x","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	stdio := func(code int, args ...string) string {
		t.Helper()
		out, ended := &buffer{wrote: w.discord.Poke}, make(chan int, 1)
		e := w.environment(out, out)
		in, program := io.Pipe()
		e.stdin = in
		go func() { ended <- run(w.Context(), e, append([]string{"mcp"}, args...)); in.Close(); w.discord.Poke() }()
		// it may have ended
		_, _ = io.WriteString(program, "no message\n"+begin+request("search", map[string]any{"query": "ferry"}))
		w.discord.WaitFor("the program to be told", func() bool {
			return strings.Contains(out.String(), `"id":2`) || len(ended) > 0
		})
		program.Close()
		if got := <-ended; got != code {
			t.Errorf("hark mcp %v: %d %s", args, got, out)
		}
		return out.String()
	}
	told := stdio(0, "--operator")
	w.holds(told, "secret-eight")
	w.holds(told, "-32700")
	w.holds(stdio(0, "--as", "otto"), "public-nine")
	w.lacks(stdio(0, "--as", "otto"), "secret-eight")
	w.holds(stdio(0, "--as", "ana"), "isn't a member of that server any more")
	w.holds(stdio(1), "for whom?")
	w.holds(stdio(1, "--as", "nobody-at-all"), "nobody")
}
