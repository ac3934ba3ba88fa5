package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
	"hark/memory"
)

// TestKilledHarkKeepsWhatItAcknowledged kills a Hark process between events, again and again. Messages before an
// answered question are stored once, though Discord sends them twice.
func TestKilledHarkKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rounds := 3
	if os.Getenv("HARK_LONG") != "" {
		rounds = 30
	}
	acknowledged := map[memory.MessageID]string{}
	for round := range rounds {
		kill := w.child()
		w.waitSession(round + 1)
		w.discord.Duplicate(20)
		var said []discordtest.Message
		for i := range 20 {
			said = append(said, w.discord.Say(w.staff.ID, w.jane.ID, fmt.Sprintf("round %d, line %d", round, i)))
		}
		if round == rounds-1 {
			said = append(said, w.discord.Say(w.staff.ID, w.jane.ID, "the lighthouse keeper is called Ulla"))
		}
		w.discord.Edit(w.staff.ID, said[0].ID, fmt.Sprintf("round %d, edited", round))
		w.discord.Delete(w.staff.ID, said[1].ID)
		w.ask(w.staff, w.ana, "did you hear that?")
		for i, m := range said {
			acknowledged[memory.MessageID(m.ID)] = m.Content
			if i == 0 {
				acknowledged[memory.MessageID(m.ID)] = fmt.Sprintf("round %d, edited", round)
			}
		}
		delete(acknowledged, memory.MessageID(said[1].ID))
		w.discord.Say(w.staff.ID, w.jane.ID, "said while it is being killed")
		kill()
	}
	w.start()
	w.ask(w.staff, w.ana, "what is the lighthouse keeper called?")
	w.holds(w.prompt(), "Ulla")
	w.stopWell()
	got := w.logged(w.staff.ID)
	for id, text := range acknowledged {
		if got[id] != text {
			t.Errorf("message %d is %q and was %q", id, got[id], text)
		}
	}
}

// TestKilledHarkAnswersOnce kills a Hark process while it answers, and asks more while it is away. Each question gets
// one whole answer. Deleted ones get none, and leave nothing.
func TestKilledHarkAnswersOnce(t *testing.T) {
	t.Parallel()
	w := newPresent(t)
	w.env["HARK_LIMITS_MEMBER_MESSAGES"], w.env["HARK_LIMITS_GUILD_MESSAGES"] = "0", "0"
	rounds := 4
	if os.Getenv("HARK_LONG") != "" {
		rounds = 60
	}
	var asked []discordtest.Message
	deleted := map[discordtest.ID]bool{}
	ask := func(i int, text string) discordtest.Message {
		m := w.discord.Say([]discordtest.ID{w.staff.ID, w.general.ID}[i%2], w.ana.ID, w.discord.Bot.Mention()+" "+text)
		asked = append(asked, m)
		return m
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, m := range asked {
				t.Logf("%d in %d, deleted %t: %q: %q", m.ID, m.ChannelID, deleted[m.ID], m.Content, w.answersTo(m))
			}
		}
	})
	for round := range rounds {
		kill := w.child()
		w.waitSession(round + 1)
		moment := rand.IntN(6) // changes of Hark's messages before the kill
		if round%2 == 0 {      // other rounds only continue
			// or Hark says that it is busy
			w.discord.WaitFor("earlier answers", func() bool { return w.unanswered(asked, deleted) == 0 })
			for i := range 4 {
				ask(i, fmt.Sprintf("round %d, question %d?", round, i))
			}
		}
		before := w.changes()
		w.discord.WaitFor("Hark to write", func() bool {
			return w.changes() >= before+moment || w.unanswered(asked, deleted) == 0
		})
		kill()
		w.discord.Advance(5 * time.Minute) // Discord forgets nonces
		for i := range 2 - 2*(round%2) {
			ask(i, fmt.Sprintf("round %d, while away %d?", round, i))
		}
		m := ask(round, fmt.Sprintf("deleted-canary %d?", round))
		w.discord.Delete(m.ChannelID, m.ID)
		deleted[m.ID] = true
	}
	w.start()
	w.discord.WaitFor("all answers", func() bool { return w.unanswered(asked, deleted) == 0 })
	w.settled()
	w.stopWell()
	for _, m := range asked {
		switch n := len(w.answersTo(m)); {
		case deleted[m.ID] && n > 0:
			t.Errorf("%q was deleted, and is answered", m.Content)
		case n > 1:
			t.Errorf("%q is answered %d times: %q", m.Content, n, w.answersTo(m))
		}
	}
	logged := w.logged(w.staff.ID)
	maps.Copy(logged, w.logged(w.general.ID))
	for _, m := range asked {
		if !deleted[m.ID] && logged[memory.MessageID(m.ID)] == "" {
			t.Errorf("%q isn't remembered", m.Content)
		}
	}
	w.keepsNot("deleted-canary")
}

func (w *world) changes() (n int) {
	for _, c := range []discordtest.ID{w.staff.ID, w.general.ID} {
		for _, m := range w.discord.Sent(c) {
			n += len(m.Versions)
		}
	}
	return n
}

// answersTo returns the texts of the answers to a question.
func (w *world) answersTo(question discordtest.Message) (texts []string) {
	for _, m := range w.discord.Sent(question.ChannelID) {
		if !m.Deleted && m.Reference != nil && m.Reference.MessageID == question.ID {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

// unanswered counts questions without a whole answer.
func (w *world) unanswered(asked []discordtest.Message, deleted map[discordtest.ID]bool) (n int) {
	for _, m := range asked {
		if !deleted[m.ID] && !slices.ContainsFunc(w.answersTo(m), func(text string) bool {
			return strings.HasPrefix(text, "Noted") && !strings.Contains(text, "Interrupted")
		}) {
			n++
		}
	}
	return n
}

// child starts a Hark process. kill sends SIGKILL.
func (w *world) child() (kill func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	hark := exec.CommandContext(ctx, "hark", "run")
	hark.Env = append(environOf(w.env), "PATH="+os.Getenv("PATH"))
	hark.Stdout, hark.Stderr = w.log, w.log
	if err := hark.Start(); err != nil {
		w.Fatal(err)
	}
	kill = func() {
		cancel()
		_ = hark.Wait()
	}
	w.Cleanup(func() {
		kill()
		if w.Failed() {
			w.Logf("Hark's log:\n%s", w.log)
		}
	})
	return kill
}
