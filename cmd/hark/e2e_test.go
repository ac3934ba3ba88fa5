package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/memory"
	"hark/memory/sqlite"
)

const (
	publicWords  = "The meeting is on Thursday at noon in the greenhouse."
	privateWords = "The meeting about Otto's dismissal is at midnight in the lighthouse."
	when         = "when and where is the meeting?"
)

func TestAnswerDrawsOnWhatAllHereCanRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	public := w.discord.Say(w.general.ID, w.jane.ID, publicWords)
	w.discord.Say(w.staff.ID, w.jane.ID, privateWords)
	w.later()

	answer := w.ask(w.general, w.ana, when)
	w.holds(w.prompt(), "Thursday at noon")
	w.lacks(w.prompts(), "lighthouse")
	w.lacks(w.prompts(), "midnight")
	link := fmt.Sprintf("https://discord.com/channels/%d/%d/%d", w.guild.ID, w.general.ID, public.ID)
	w.reply(w.general.ID, answer.Reference.MessageID, link)

	w.ask(w.staff, w.ana, when)
	w.holds(w.prompt(), "midnight in the lighthouse")
	w.holds(w.prompt(), "Thursday at noon")
	w.stopWell()
	for _, secret := range []string{"Thursday", "lighthouse", "meeting", w.discord.Token} {
		w.lacks(w.log.String(), secret)
	}
}

// holdLog keeps Hark from writing to its memory until it is released.
func (w *world) holdLog() (release func()) {
	w.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.env["HARK_DATA"], sqlite.FileName)+"?_pragma=busy_timeout(60000)&_txlock=immediate")
	if err != nil {
		w.Fatal(err)
	}
	held, err := db.BeginTx(w.Context(), nil)
	if err != nil {
		w.Fatal(err)
	}
	return func() {
		if err := errors.Join(held.Rollback(), db.Close()); err != nil {
			w.Error(err)
		}
	}
}

func TestStoppingKeepsAllThatWasHeard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.start()
	w.ask(w.general, w.ana, "are you there?")
	w.model.Queue(llmtest.Reply{Hold: hold, Text: []string{"never said"}})
	w.discord.Say(w.general.ID, w.ana.ID, w.discord.Bot.Mention()+" think hard")
	w.modelAsked(2) // rather than about the next question
	release := w.holdLog()
	for i := range 200 {
		w.discord.Say(w.staff.ID, w.jane.ID, fmt.Sprintf("line %d", i))
	}
	w.discord.WaitTakenIn()
	w.cancel()
	release()
	if code := w.ended(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	heard := w.logged(w.staff.ID)
	for _, m := range w.discord.Messages(w.staff.ID) {
		if heard[memory.MessageID(m.ID)] != m.Content {
			t.Errorf("%q is logged as %q", m.Content, heard[memory.MessageID(m.ID)])
		}
	}
	w.discord.WaitSent(w.general.ID, func(m discordtest.Sent) bool { return strings.Contains(m.Content, "restarted") })
	w.holds(w.log.String(), "stopped")
}
