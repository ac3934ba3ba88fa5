package main

import (
	"path/filepath"
	"testing"
)

// A memory is sealed while Hark runs, and then nothing that was said or is said later can be read on the disk.
func TestARunningHarkSealsItsMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "old-canary hides in the lighthouse")
	w.settled()
	w.keeps("old-canary")
	w.stopWell()

	key := filepath.Join(t.TempDir(), "key")
	put(w, key, "a passphrase of the operator\n")
	w.env["HARK_MEMORY_KEY_FILE"] = key
	w.start()
	w.waitLog("the memory is sealed")
	w.later()
	w.discord.Say(w.general.ID, w.ana.ID, "new-canary hides in the barn")
	w.ask(w.general, w.otto, "what hides in the lighthouse, and what in the barn?")
	w.holds(w.prompt(), "old-canary")
	w.holds(w.prompt(), "new-canary")
	w.settled()
	w.keepsNot("old-canary", "new-canary", "general", "jane")
	_, told := w.doctor()
	w.holds(told, "sealed: with the key ")
	backup := filepath.Join(t.TempDir(), "hark.db")
	w.hark(0, "backup", backup)
	for _, text := range []string{"canary", "jane"} {
		if holdsText(t, filepath.Dir(backup), text) {
			t.Errorf("the backup holds %q", text)
		}
	}
	w.stopWell()
	w.keepsNot("old-canary", "new-canary", "general", "jane")
	w.lacks(w.log.String(), "canary")

	delete(w.env, "HARK_MEMORY_KEY_FILE")
	_, told = w.hark(1, "run")
	w.holds(told, "the memory is sealed: name the file with its key")
}
