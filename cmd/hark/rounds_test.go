package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/internal/config"
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

// told are the outcomes of tools in a request, in order.
func told(r llmtest.Request) (outcomes []string) {
	for _, m := range r.Messages {
		if m.Role == "tool" {
			outcomes = append(outcomes, m.Content)
		}
	}
	return outcomes
}

// question asks Hark something, without waiting for the answer.
func (w *world) question(channel discordtest.Channel, who discordtest.User, text string) discordtest.Message {
	w.Helper()
	return w.discord.Say(channel.ID, who.ID, w.discord.Bot.Mention()+" "+text)
}

// A model that calls tools badly is told what to mend, call by call, and answers when it has.
func TestBadCallsAreMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.later()
	w.model.Queue(
		calls([2]string{"search_memory", `{"query":`}, [2]string{"search_memory", `["meeting"]`}, [2]string{"search_memory", `{"query":5}`},
			[2]string{"search_memory", `{"quarry":"meeting"}`}, [2]string{"search_memory", `{}`}),
		calls([2]string{"current_time", `{"zone":"Atlantis/Harbour"}`}),
		calls([2]string{"current_time", `{"zone":"Asia/Tokyo"}`}),
	)
	answer := w.ask(w.general, w.ana, when)
	requests := w.model.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests", len(requests))
	}
	want := []string{"The arguments aren't a JSON object", "The arguments aren't a JSON object", `"query" has to be`, `There is no "quarry"`, `"query" is missing`, `"zone" has to be the IANA name`, "Asia/Tokyo"}
	got := told(requests[3])
	if len(got) != len(want) {
		t.Fatalf("told %q", got)
	}
	for i, outcome := range got {
		w.holds(outcome, want[i])
	}
	w.traced(answer)
	list, _ := w.tell(0, "trace", "--last", "1")
	if bad, ok := strings.Count(list, ", bad arguments, "), strings.Count(list, "current_time, ok"); bad != 6 || ok != 1 {
		t.Errorf("%d bad calls and %d good ones are in\n%s", bad, ok, list)
	}
}

// A model that never stops calling is stopped: by the number of rounds, and by being told that it asks the same again. One that
// calls what it is no longer given has answered nothing, and that is said.
func TestEndlessLoopsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.later()
	rounds := config.Default().Answer.ToolRounds
	for _, same := range []bool{false, true} {
		before, n := len(w.model.Requests()), 0
		w.model.Answer(func(r llmtest.Request) llmtest.Reply {
			if len(r.Offered()) == 0 {
				return llmtest.Say("Noted at last.")
			}
			if n++; same {
				return calls([2]string{"search_memory", `{"query":"meeting"}`})
			}
			return calls([2]string{"search_memory", fmt.Sprintf(`{"query":"meeting no %d"}`, n)})
		})
		if answer := w.ask(w.general, w.ana, when); !strings.HasPrefix(answer.Content, "Noted at last.") {
			t.Errorf("answered %q", answer.Content)
		}
		requests := w.model.Requests()[before:]
		last := requests[len(requests)-1]
		repeated := 0
		for _, outcome := range told(last) {
			if strings.HasPrefix(outcome, "You have asked that already") {
				repeated++
			}
		}
		if len(requests) != rounds+1 || !strings.HasPrefix(last.Last(), "That was the last time") || same != (repeated == rounds-1) || !same && repeated > 0 {
			t.Errorf("asked the same %t: %d requests, of which the last ends in %q; %d calls were repeated", same, len(requests), last.Last(), repeated)
		}
	}

	before := len(w.model.Requests())
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		return calls([2]string{"search_memory", fmt.Sprintf(`{"query":"meeting of %d"}`, len(r.Messages))})
	})
	q := w.question(w.general, w.ana, when)
	w.reply(w.general.ID, q.ID, "The language model gave no answer.")
	if n := len(w.model.Requests()) - before; n != rounds+1 {
		t.Errorf("%d requests", n)
	}
}

// Of ten calls at once five are made, and all are answered.
func TestTenCallsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.later()
	var ten [][2]string
	for i := range 10 {
		ten = append(ten, [2]string{"search_memory", fmt.Sprintf(`{"query":"meeting no %d"}`, i)})
	}
	w.model.Queue(calls(ten...))
	answer := w.ask(w.general, w.ana, when)
	outcomes := told(w.lastRequest())
	refused := slices.IndexFunc(outcomes, func(o string) bool { return strings.HasPrefix(o, "Too many calls at once") })
	if len(outcomes) != 10 || refused != 5 || !strings.HasPrefix(outcomes[9], "Too many calls at once") {
		t.Errorf("told %q", outcomes)
	}
	w.traced(answer)
	list, _ := w.tell(0, "trace", "--last", "1")
	if made, many := strings.Count(list, "search_memory, ok, "), strings.Count(list, "search_memory, too many at once, "); made != 5 || many != 5 {
		t.Errorf("%d made and %d refused in\n%s", made, many, list)
	}
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
	w.use(w.guild.Owner.ID, "hark tools", "set for the server", given("tools", "off"), given("server", true))
	if offered(w.general) || offered(w.staff) || !offered(corner) {
		t.Error("they are switched off for one server, and not or elsewhere too")
	}
	w.hark(0, "settings", "--channel", "staff", "tools", "on")
	if offered(w.general) || !offered(w.staff) {
		t.Error("they are switched on for one channel, and not or elsewhere too")
	}

	// A model that calls all the same gets none of what they find.
	w.model.Queue(calls([2]string{"search_memory", `{"query":"meeting"}`}))
	q := w.question(w.general, w.ana, when)
	w.reply(w.general.ID, q.ID, "The language model gave no answer.")
}
