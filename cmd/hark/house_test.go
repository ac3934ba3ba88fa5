package main

import (
	"strings"
	"testing"
	"time"

	"hark/internal/discordtest"
)

// oldAndYoung is a world in which a Hark runs that remembers something of two days ago and something of an hour ago.
func oldAndYoung(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, discordtest.WithTime(time.Now().Add(-2*24*time.Hour)))
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-old sings no more")
	w.discord.Advance(47 * time.Hour)
	w.discord.Say(w.general.ID, w.jane.ID, "canary-young sings")
	w.settled()
	return w
}

// onlyYoung checks that what is old is gone.
func (w *world) onlyYoung() {
	w.Helper()
	if w.onDisk("canary-old") || !w.onDisk("canary-young") {
		w.Errorf("the old is there: %t, the young: %t", w.onDisk("canary-old"), w.onDisk("canary-young"))
	}
}

func TestWhatIsTooOldIsForgotten(t *testing.T) {
	t.Parallel()
	w := oldAndYoung(t)
	w.env["HARK_MEMORY_RETENTION"] = "1d"
	w.restart()
	w.waitLog(`"why":"age","messages":(1),`)
	w.settled() // nor is it fetched again
	w.onlyYoung()
	w.lacks(w.log.String(), "canary")
}

// What is too old goes at once where the operator says so, also of what would wait.
func TestWhatIsExpiredIsForgottenWhenAsked(t *testing.T) {
	t.Parallel()
	w := oldAndYoung(t)
	out, _ := w.hark(0, "forget", "--expired", "--yes")
	w.sees(strings.SplitN(out, "\n", 2)[0])
	if !w.onDisk("canary-old") {
		t.Error("it went though everything is remembered")
	}
	_, failed := w.hark(1, "forget", "--expired", "--user", "jane")
	w.sees(failed)
	w.env["HARK_MEMORY_RETENTION"] = "1d" // which the running Hark doesn't know yet
	_, failed = w.hark(1, "forget", "--expired")
	w.sees(failed)
	out, _ = w.hark(0, "forget", "--expired", "--yes")
	w.sees(strings.SplitN(out, "\n", 2)[0])
	w.onlyYoung()
}

func TestDeletedChannelIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cage := w.discord.AddChannel(w.guild.ID, discordtest.Channel{Name: "cage"})
	w.start()
	w.discord.Say(cage.ID, w.jane.ID, "canary-caged sings")
	w.discord.Say(w.general.ID, w.jane.ID, "canary-free sings")
	w.settled()
	if !w.onDisk("canary-caged") {
		t.Fatal("nothing was logged")
	}
	w.discord.RemoveChannel(cage.ID)
	w.waitLog(`"why":"deleted","messages":(1),`)
	if w.onDisk("canary-caged") || !w.onDisk("canary-free") {
		t.Errorf("of the deleted channel: %t, of the other: %t", w.onDisk("canary-caged"), w.onDisk("canary-free"))
	}
}
