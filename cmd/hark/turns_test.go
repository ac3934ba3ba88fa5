package main

import (
	"strings"
	"sync"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
)

// modelAsked returns once the model was asked n times.
func (w *world) modelAsked(n int) {
	w.Helper()
	w.discord.WaitFor("the model to be asked", func() bool {
		return len(w.model.Requests()) >= n
	})
}

// repliesTo are what Hark's replies to a question read at the end.
func (w *world) repliesTo(q discordtest.Message) (contents []string) {
	for _, m := range w.discord.Sent(q.ChannelID) {
		if m.Reference != nil && m.Reference.MessageID == q.ID && !m.Deleted {
			contents = append(contents, strings.TrimSpace(m.Content))
		}
	}
	return contents
}

// Who mentions Hark at the same time in one channel is answered one after the other, each once; the second with the first question before its eyes.
func TestTwoMentionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	busy, most, asked := 0, 0, 0
	holds := []chan struct{}{make(chan struct{}), make(chan struct{})}
	w.model.Answer(func(r llmtest.Request) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		n := asked
		asked++
		busy++
		most = max(most, busy)
		who := "first"
		if query := r.Last(); strings.Contains(query[strings.LastIndex(query, "=== CURRENT QUERY"):], "second?") {
			who = "second"
		}
		return llmtest.Reply{Hold: holds[n], Text: []string{"Noted for the ", who, "."}}
	})
	w.start()
	w.later()
	first := w.question(w.general, w.ana, "the first?")
	second := w.question(w.general, w.otto, "the second?")
	w.modelAsked(1)
	w.settled() // the second was heard
	for i, q := range []discordtest.Message{first, second} {
		w.modelAsked(i + 1)
		mu.Lock()
		if busy != 1 {
			t.Errorf("%d are answered at once", busy)
		}
		busy--
		mu.Unlock()
		close(holds[i])
		w.traced(w.reply(w.general.ID, q.ID, []string{"Noted for the first.", "Noted for the second."}[i]))
	}
	w.holds(w.prompt(), "the first?")
	w.holds(w.prompt(), "Noted for the first.") // which was sent after the second was asked
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if a, b := w.repliesTo(first), w.repliesTo(second); len(a) != 1 || len(b) != 1 || most != 1 || asked != 2 {
		t.Errorf("answered %q and %q, by %d requests, %d at once", a, b, asked, most)
	}
}

// A stop amid a round of tools is told, with what was shown before it.
func TestStopAmidTools(t *testing.T) {
	t.Parallel()
	for name, text := range map[string][]string{"in the middle": {"Let me look."}, "before any word": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hold := make(chan struct{})
			defer close(hold)
			call := calls([2]string{"search_memory", `{"query":"meeting"}`})
			call.Text = text
			w.model.Queue(call, llmtest.Reply{Hold: hold, Text: []string{"It is ", "Friday."}})
			w.start()
			w.discord.Say(w.general.ID, w.jane.ID, publicWords)
			w.later()
			q := w.question(w.general, w.ana, when)
			w.modelAsked(2)
			if code := w.stop(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			got := w.repliesTo(q)
			if len(got) != 1 {
				t.Fatalf("answered %q", got)
			}
			w.sees(got[0])
			for _, logged := range w.logged(w.general.ID) {
				if strings.Contains(logged, "Let me look.") && logged != got[0] {
					t.Errorf("logged %q", logged)
				}
			}
		})
	}
}
