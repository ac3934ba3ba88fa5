package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
)

// TestKilledHarkKeepsWhatItAcknowledged kills a Hark process between two events, again and again. What came before
// a question that was answered is acknowledged, and must be there once, though Discord tells of it twice.
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
	if code := w.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	got := w.logged(w.staff.ID)
	for id, text := range acknowledged {
		if got[id] != text {
			t.Errorf("message %d is %q and was %q", id, got[id], text)
		}
	}
}

// child starts Hark as a process of its own. kill ends it with SIGKILL.
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
