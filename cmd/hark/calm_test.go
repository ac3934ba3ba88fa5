package main

import (
	"fmt"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// What was spent is known after a restart, is told to machines, and begins anew for who is forgotten.
func TestTokensOutliveARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_WEB_LISTEN"] = "127.0.0.1:0"
	w.env["HARK_LIMITS_MEMBER_TOKENS"] = "100" // less than one prompt
	w.start()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.discord.Say(w.general.ID, w.jane.ID, "The canary sings in the greenhouse.")
	first := w.ask(w.general, w.ana, "where does it sing?")
	w.holds(w.reply(w.general.ID, first.Reference.MessageID, "-# 0 of your 100 ").Content, "Noted")
	quoted := func(text string) string {
		q := w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" "+text)
		return w.reply(w.general.ID, q.ID, "> The canary").Content
	}
	w.holds(quoted("where does the canary sing?"), "<t:")
	w.discord.WaitFor("the second to be counted, which is after it was shown", func() bool {
		return w.scrape(address).values["hark_questions_busy{}"] == 0
	})
	w.get(address, "/metrics", 200, `hark_questions_refused_total{limit="member_tokens"} 1`)
	for _, line := range []string{`hark_questions_total{outcome="answered"} 2`, "# TYPE hark_questions_busy gauge\nhark_questions_busy ", "hark_questions_waiting 0", "hark_answer_tokens_total "} {
		w.get(address, "/metrics", 200, line)
	}
	w.restart()
	w.lacks(quoted("where does the canary sing now?"), "Noted")
	w.ask(w.general, w.jane, "and for me?")
	export, _ := w.tell(0, "export", "--user", "ana")
	w.holds(export, `"tokens": {`)
	if n := len(w.model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	w.tell(0, "forget", "--user", "ana", "--yes")
	w.ask(w.general, w.ana, "and now?")
}

// A stop in mid-answer, with others waiting, is told to all who asked.
func TestStopInMidStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pause := make(chan struct{})
	defer close(pause)
	w.model.Answer(func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: []string{"It is Fri"}, Pause: pause}
	})
	w.start()
	ask := func(channel discordtest.Channel, text string) discordtest.Message {
		return w.discord.Say(channel.ID, w.ana.ID, w.discord.Bot.Mention()+" "+text)
	}
	first, other := ask(w.general, "when?"), ask(w.staff, "when here?")
	w.reply(w.general.ID, first.ID, "It is Fri")
	w.reply(w.staff.ID, other.ID, "It is Fri")
	var waiting []discordtest.Message
	for i := range 3 {
		waiting = append(waiting, ask(w.general, fmt.Sprint("and then ", i, "?")))
	}
	w.settled()
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, q := range append([]discordtest.Message{first, other}, waiting...) {
		got := w.repliesTo(q)
		if len(got) != 1 {
			t.Errorf("question %d got %q", q.ID, got)
			continue
		}
		w.sees(got[0])
	}
	if n := len(w.model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}
