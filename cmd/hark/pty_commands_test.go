//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/llmtest"
)

// Commands on a terminal: they are completed, they ask before something goes, and what went can't be called back.
func TestCommandsOnATerminal(t *testing.T) {
	t.Parallel()
	p := startOnTerminal(t, 120, "NO_COLOR=1", "USER=ana")
	p.wait("ana #terminal> ")
	p.write("the zebra is striped\r")
	p.wait("#terminal> ")
	p.write("/as Ben\r")
	p.wait("You are Ben now.")
	p.wait("Ben #terminal> ")
	p.write("I like zebras\r")
	p.wait("Ben #terminal> ")

	p.write("/rec\tzebra\r") // completed, with a space
	p.wait("/recall zebra")
	p.wait("ana in #terminal")
	p.wait("Ben #terminal> ")
	p.write("/lo\ta\tZoo \"All of it\"\r")
	p.wait("/lore add Zoo")
	p.wait("Remembered: Zoo, in local.")
	p.wait("Ben #terminal> ")
	p.write("/lore show Z\t\r")
	p.wait("Ben #terminal> ")
	p.write("/lore \t")
	p.wait("add  edit  list  remove  show")
	p.write("remove Zoo\r")
	p.wait("[y/N] ")
	p.write("n\r")
	p.wait("nothing was changed")
	p.wait("Ben #terminal> ")
	p.write("/lore remove Zoo\r")
	p.wait("[y/N] ")
	p.write("\x03") // isn't agreeing
	p.wait("nothing was changed")
	p.wait("Ben #terminal> ")
	p.write("\x1b[A\r") // the last line once more, which is no answer
	p.wait("/lore remove Zoo")
	p.wait("[y/N] ")
	p.write("y\r")
	p.wait("Forgotten: Zoo.")
	p.wait("Ben #terminal> ")
	p.write("/as ana\r")
	p.wait("You are ana now.")
	p.write("\x1b[A\x1b[A\x1b[A\r") // of what was typed before nothing is left
	p.wait("You are ana now.")
	p.wait("ana #terminal> ")

	p.write("/memory forget\r")
	p.wait("[y/N] ")
	p.write("yes\r")
	p.wait("Forgotten: 1 message")
	p.wait("ana #terminal> ")
	p.write("/recal\r")
	p.wait("did you mean /recall?")
	p.wait("ana #terminal> ")
	p.write("/quit\r")
	p.ended(0)
	if _, after, _ := strings.Cut(p.screen.String(), "Forgotten: 1 message"); strings.Contains(after, "striped") {
		t.Errorf("it came back in %q", after)
	}
}

// What the model would have remembered is asked about, and kept only if somebody agrees.
func TestRememberingOnATerminal(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), filepath.Join(t.TempDir(), "data")
	p := onTerminal(t, 120, []string{"NO_COLOR=1", "USER=ana", "HARK_LLM_MODEL=test-model", "HARK_LLM_BASE_URL=" + model.URL()}, "chat", "--data", data)
	p.wait("#terminal> ")
	p.write("the zebra is called Zoe\r")
	p.wait("#terminal> ")
	ask := func(name, answer string) {
		t.Helper()
		model.Queue(calls([2]string{"remember", `{"name":"` + name + `","text":"the zebra is called Zoe"}`}), llmtest.Say("As **you** wish."))
		p.write("@hark remember " + name + ": the zebra is called Zoe\r")
		p.wait("  " + name)
		p.wait("    the zebra is called Zoe")
		p.wait("[y/N] ")
		p.write(answer)
	}
	ask("Stripes", "\r")
	p.wait("#terminal> ")
	p.write("/lore list\r")
	p.wait("#terminal> ")
	ask("Zebra", "y\r")
	p.wait("Remembered: Zebra")
	p.wait("#terminal> ")
	p.write("/lore list\r")
	p.wait("in #terminal of local, told by ana")
	p.wait("#terminal> ")
	ask("zebra", "y\r")
	p.wait("#terminal> ")
	p.write("/why\r")
	p.wait("tokens of")
	p.wait("#terminal> ")
	p.write("/quit\r")
	p.ended(0)
	entries, err := os.ReadDir(p.hark.Dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("beside the memory there is %v, %v", entries, err)
	}
	// It goes with what it is from.
	c := commandLine{T: t}
	c.run(0, "forget", "--user", "ana", "--yes", "--data", data)
	c.stdin = "/lore list\n"
	c.run(0, "chat", "--data", data)
	if strings.Contains(c.out.String(), "Zoe") {
		t.Errorf("left: %s", c.out.String())
	}
}

// The progress of an import names its file.
func TestImportOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "ferries.jsonl")
	line := `{"type":"message","channel":"trip","id":"1","author":"Ada","time":"2024-05-01T10:00:00Z","text":"The ferry leaves at noon."}`
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	p := onTerminal(t, 200, nil, "import", "--data", filepath.Join(dir, "data"), file)
	p.wait("ferries.jsonl ") // in the bar
	p.wait(file)
	p.ended(0)
}
