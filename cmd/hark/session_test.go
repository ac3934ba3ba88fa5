package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"hark/internal/llmtest"
)

// condenseWords begin what the model is told that condenses.
const condenseWords = "You condense"

// condenses has the model answer questions, and condense what it is given to the lines with a figure in them.
func (w *world) condenses() {
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		system, user := r.Messages[0].Content, r.Messages[len(r.Messages)-1].Content
		if !strings.HasPrefix(system, condenseWords) {
			return llmtest.Say("Noted.")
		}
		var kept []string
		for line := range strings.Lines(user) {
			var said struct{ Summary, Author, Text string }
			if err := json.Unmarshal([]byte(line), &said); err != nil {
				w.Errorf("%q: %v", line, err)
			}
			if text := said.Summary + strings.TrimPrefix(said.Text, w.discord.Bot.Mention()); strings.ContainsAny(text, "0123456789") {
				kept = append(kept, said.Author+" "+text)
			}
		}
		return llmtest.Say(strings.Join(kept, "\n"))
	})
}

// Sixty turns and more with Hark, of which it remembers the first decision, also after it was started anew.
func TestLongSessionIsCondensed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["HARK_MEMORY_SUMMARIES"], w.env["HARK_WEB_LISTEN"] = "model", "127.0.0.1:0"
	w.env["HARK_LIMITS_MEMBER_MESSAGES"], w.env["HARK_LIMITS_GUILD_MESSAGES"] = "0", "0" // all of it is asked in a moment
	w.env["HARK_LOG_LEVEL"] = "debug"
	w.condenses()
	w.later()
	w.start()
	address := w.waitLog(`"address":"([^"]+)"`)
	w.ask(w.general, w.ana, "we agreed that the budget is 480 euros")
	last := ""
	for i := 0; i < 30 || strings.Count(w.log.String(), "condensed a ") < 3; i++ {
		if i == 60 {
			t.Fatal("122 turns weren't condensed three times")
		}
		last = fmt.Sprintf("and the %skra?", strings.Repeat("o", i+1))
		w.traced(w.ask(w.general, w.ana, last))
	}
	condensed := regexp.MustCompile(`🧵 .*\n  (.*480 euros.*)\n`)
	question := func() string {
		t.Helper()
		answer := w.ask(w.general, w.ana, "what did we agree on?")
		w.traced(answer)
		sent := "" // for the answer; the session may have been condensed since
		for _, r := range w.model.Requests() {
			if !strings.HasPrefix(r.Messages[0].Content, condenseWords) {
				sent = r.Prompt()
			}
		}
		if m := condensed.FindStringSubmatch(sent); m == nil || !strings.Contains(sent, last) {
			t.Fatalf("the model was sent\n%s", sent)
		}
		return answer.ID.String()
	}
	id := question()
	w.get(address, "/metrics", 200, "hark_sessions_condense_failed_total 0\n")
	shown, _ := w.tell(0, "trace", id)
	if m := regexp.MustCompile(`(?m)^  condensed +(\d+) `).FindStringSubmatch(shown); m == nil || len(m[1]) != 2 {
		t.Errorf("the trace is\n%s", shown)
	}
	if code := w.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	w.start()
	question()
	asJSON, _ := w.tell(0, "context", "--json", "--channel", "general", "what did we agree on?")
	var told struct {
		Condensed struct {
			Text    string
			Sources []string
		}
	}
	if err := json.Unmarshal([]byte(asJSON), &told); err != nil || !strings.Contains(told.Condensed.Text, "480") || len(told.Condensed.Sources) < 10 {
		t.Errorf("the context is %v\n%s", err, asJSON)
	}
	export, _ := w.tell(0, "export", "--user", "ana")
	w.holds(export, `"kind": "session"`)
	w.lacks(export, told.Condensed.Text) // Hark said some of it
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
