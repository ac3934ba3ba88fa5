package main

import (
	"testing"
	"time"

	"hark/internal/discordtest"
)

func TestWhatIsTooOldIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, discordtest.WithTime(time.Now().Add(-2*24*time.Hour)))
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-old sings no more")
	w.discord.Advance(47 * time.Hour)
	w.discord.Say(w.general.ID, w.jane.ID, "canary-young sings")
	w.settled()
	w.env["HARK_MEMORY_RETENTION"] = "1d"
	w.restart()
	w.waitLog(`"why":"age","messages":(1),`)
	w.settled() // nor is it fetched again
	if w.onDisk("canary-old") || !w.onDisk("canary-young") {
		t.Errorf("the old is there: %t, the young: %t", w.onDisk("canary-old"), w.onDisk("canary-young"))
	}
	w.lacks(w.log.String(), "canary")
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
