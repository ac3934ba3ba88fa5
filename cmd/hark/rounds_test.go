package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// calls is a reply that calls tools, each named with its arguments.
func calls(all ...[2]string) llmtest.Reply {
	var r llmtest.Reply
	for i, c := range all {
		half := len(c[1]) / 2
		r.Tools = append(r.Tools, llmtest.ToolCall{ID: fmt.Sprintf("call%d", i), Name: c[0], Arguments: []string{c[1][:half], c[1][half:]}})
	}
	return r
}

// question asks Hark something, without waiting for the answer.
func (w *world) question(channel discordtest.Channel, who discordtest.User, text string) discordtest.Message {
	w.Helper()
	return w.discord.Say(channel.ID, who.ID, w.discord.Bot.Mention()+" "+text)
}

// Tools that are switched off for a server aren't offered in any of its channels, but where they are switched on again; elsewhere they are.
func TestToolsAreSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shed := w.discord.AddGuild("Shed")
	corner := w.discord.AddChannel(shed.ID, discordtest.Channel{Name: "corner"})
	w.discord.AddMember(shed.ID, w.ana)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.later()
	offered := func(channel discordtest.Channel) bool {
		t.Helper()
		w.ask(channel, w.ana, when)
		r := w.lastRequest()
		got := slices.ContainsFunc(r.Offered(), func(t llmtest.Tool) bool { return t.Name == "search_memory" })
		if names := strings.Contains(r.Prompt(), "search_memory"); !got && (len(r.Offered()) > 0 || len(r.Tools) > 0 || names) {
			t.Errorf("no tools are offered but %s; named: %t", r.Tools, names)
		}
		return got
	}
	if !offered(w.general) {
		t.Error("no tools are offered")
	}
	w.use(w.guild.Owner.ID, "hark set", "", given("setting", "tools"), given("value", "off"), given("server", true))
	if offered(w.general) || offered(w.staff) || !offered(corner) {
		t.Error("they are switched off for one server, and not or elsewhere too")
	}
	w.shown(w.discord.Slash(w.staff.ID, w.guild.Owner.ID, "hark set", given("setting", "tools"), given("value", "on")), "")
	if offered(w.general) || !offered(w.staff) {
		t.Error("they are switched on for one channel, and not or elsewhere too")
	}

	// A model that calls all the same gets none of what they find.
	w.model.Queue(calls([2]string{"search_memory", `{"query":"meeting"}`}))
	q := w.question(w.general, w.ana, when)
	w.reply(w.general.ID, q.ID, "")
}
