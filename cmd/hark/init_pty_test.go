//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hark/internal/discordtest"
)

// On a terminal nothing secret is shown, and Ctrl-C leaves nothing half-written, and the terminal as it was.
func TestInitOnATerminal(t *testing.T) {
	t.Parallel()
	d := discordtest.New(t)
	path := filepath.Join(t.TempDir(), "config.toml")
	env := []string{"HARK_DISCORD_API_URL=" + d.URL}
	for _, typed := range []bool{true, false} {
		p := onTerminal(t, 80, env, "init", "--config", path)
		p.wait(" (Enter: none): ")
		if p.mode() == p.before {
			t.Error("what is typed is shown")
		}
		if typed {
			p.write("s3cret\x03") // who reads the second has read the first
		} else if err := p.hark.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.wait("interrupted; ")
		p.ended(130)
		if p.mode() != p.before || strings.Contains(p.screen.String(), "s3cret") {
			t.Errorf("the terminal is left with mode %x, and shows %q", p.mode(), p.screen.String())
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("a file is there: %v", err)
		}
	}

	p := onTerminal(t, 80, env, "init", "--config", path)
	p.wait(" (Enter: none): ")
	p.write(d.Token + "\r")
	p.wait("✓ intents")
	p.wait("Number [4]: ")
	p.write("4\r")
	p.wait("Number [4]: ")
	p.write("\r")
	p.wait("hark run --config ")
	p.ended(0)
	if strings.Contains(p.screen.String(), d.Token) {
		t.Error("the token is shown")
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "token = '"+d.Token+"'") {
		t.Errorf("%s, %v", data, err)
	}
}
