package main

import "testing"

func TestWhatIsTooOldIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-old sings no more")
	w.later()
	w.discord.Say(w.general.ID, w.jane.ID, "canary-young sings")
	w.settled()
	w.env["HARK_MEMORY_RETENTION"] = "1h"
	w.restart()
	w.waitLog(`"why":"age","messages":(1),`)
	w.settled() // nor is it fetched again
	if w.onDisk("canary-old") || !w.onDisk("canary-young") {
		t.Errorf("the old is there: %t, the young: %t", w.onDisk("canary-old"), w.onDisk("canary-young"))
	}
	w.lacks(w.log.String(), "canary")
}
