package main

import (
	"slices"
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
	for name, c := range map[string]struct {
		text []string
		want string
	}{
		"interrupted":                 {[]string{"Let me look."}, "Let me look.\n-# ⚠️ Interrupted: I'm being restarted. Please ask again in a minute."},
		"interrupted before any word": {nil, "I'm being restarted. Please ask again in a minute."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			hold := make(chan struct{})
			defer close(hold)
			call := calls([2]string{"search_memory", `{"query":"meeting"}`})
			call.Text = c.text
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
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("answered %q, want %q", got, c.want)
			}
			for _, text := range w.logged(w.general.ID) {
				if strings.Contains(text, "Let me look.") && text != c.want {
					t.Errorf("logged %q", text)
				}
			}
		})
	}
}

// A program that lies across the end of a message is ended there, and goes on in the next as the same.
func TestFenceAcrossTwoMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.later()
	const line = "fmt.Println(\"a line of it\")\n"
	prose := strings.Repeat("And so on. ", 160)
	code := strings.Repeat(line, 30)
	answer := "Noted. " + prose + "\n```go\n" + code + "```\nThat **is** all."
	var chunks []string
	for piece := range slices.Chunk([]byte(answer), 7) {
		chunks = append(chunks, string(piece))
	}
	w.model.Queue(llmtest.Say(chunks...))
	q := w.question(w.general, w.ana, "how?")
	w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "That **is** all.") })
	w.traced(w.reply(w.general.ID, q.ID, "Noted"))
	sent := w.discord.Sent(w.general.ID)
	if len(sent) != 2 || !strings.HasSuffix(sent[0].Content, line+"```") || !strings.HasPrefix(sent[1].Content, "```go\n"+line) {
		t.Fatalf("%d messages, of which the first is %q", len(sent), sent[0].Content)
	}
	lines := 0
	for _, m := range sent {
		if units := len([]rune(m.Content)); units > 2000 || strings.Count(m.Content, "```") != 2 {
			t.Errorf("a message of %d characters: %q", units, m.Content)
		}
		lines += strings.Count(m.Content, line)
	}
	if lines != 30 {
		t.Errorf("%d lines of the program", lines)
	}
}
