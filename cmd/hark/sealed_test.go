package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A memory is moved to a sealed one, and then nothing that was said or is said later can be read on the disk.
func TestAMemoryIsMovedToASealedOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.discord.Say(w.general.ID, w.jane.ID, "old-canary hides in the lighthouse")
	w.settled()
	w.stopWell()
	w.keeps("old-canary")

	key := filepath.Join(t.TempDir(), "key")
	put(w, key, "a passphrase of the operator\n")
	w.env["HARK_MEMORY_KEY_FILE"] = key
	_, told := w.hark(1, "run")
	w.holds(told, "the memory isn't sealed, but memory.key_file")
	_, told = w.doctor()
	w.holds(told, "sealed: not yet")
	sealed := filepath.Join(t.TempDir(), "sealed")
	told, _ = w.hark(0, "move", "--to", sealed, "--key-file", key)
	w.holds(told, "set HARK_DATA to "+sealed)
	w.holds(told, "set memory.key_file to "+key)
	w.env["HARK_DATA"] = sealed
	w.start()
	w.later()
	w.discord.Say(w.general.ID, w.ana.ID, "new-canary hides in the barn")
	w.ask(w.general, w.otto, "what hides in the lighthouse, and what in the barn?")
	w.holds(w.prompt(), "old-canary")
	w.holds(w.prompt(), "new-canary")
	w.settled()
	w.keepsNot("old-canary", "new-canary", "general", "jane")
	_, told = w.doctor("--verify")
	w.holds(told, "sealed: with the key ")
	w.holds(told, "✓ sealed values: ")
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

	data := w.env["HARK_DATA"]
	beside := filepath.Join(data, "hark.key")
	put(w, beside, "a passphrase of the operator\n")
	w.env["HARK_MEMORY_KEY_FILE"] = beside
	export := filepath.Join(t.TempDir(), "export.json")
	for _, command := range [][]string{{"run"}, {"doctor"}, {"chat"}, {"context", "what?"}, {"mcp", "--operator"},
		{"search", "lighthouse"}, {"trace"}, {"web"}, {"backfill"}, {"export", "--user", "jane", "--out", export},
		{"forget", "--user", "jane", "--yes"}, {"import", backup},
		{"backup", filepath.Join(t.TempDir(), "copy.db")}, {"key", "rotate", "--to", key},
		{"move", "--to", "elsewhere", "--key-file", key}, {"reindex"}, {"restore", "--yes", backup}} {
		stdout, stderr := w.hark(1, command...)
		if told := stdout + stderr; !strings.Contains(told, "lies in the data directory") {
			t.Errorf("%v says %q", command, told)
		}
	}
	delete(w.env, "HARK_MEMORY_KEY_FILE")
	if err := os.Remove(beside); err != nil {
		t.Fatal(err)
	}
	_, told = w.hark(1, "restore", "--yes", backup)
	w.holds(told, "name the file with that key with --key-file")
	_, told = w.hark(1, "restore", "--yes", "--key-file", key, backup)
	w.holds(told, "in memory.key_file")
	w.env["HARK_DATA"] = t.TempDir()
	told, _ = w.hark(0, "restore", "--yes", "--key-file", key, backup)
	w.holds(told, "set memory.key_file to "+key)
	w.env["HARK_DATA"] = data
	_, told = w.hark(1, "run")
	w.holds(told, "the memory is sealed: name the file with its key")
}
