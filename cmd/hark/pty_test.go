//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"hark/internal/llmtest"
	"hark/internal/wait"
)

func makeFIFO(t *testing.T, path string) string {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestChatOnATerminal(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t)
	p := startOnTerminal(t, 60, "HARK_LLM_MODEL=test-model", "HARK_LLM_BASE_URL="+model.URL(), "USER=ana")
	p.wait("\x1b[33mYou are ana. ")
	p.wait("\x1b[36mana #terminal> \x1b[0m")
	p.write("the zebra is here\r")
	p.wait("#terminal> ")

	model.Queue(llmtest.Say("It", " is here [1]", ", among a great many words that don't fit ", "in one line of the terminal."))
	p.write("@hark where is the zebra?\r")
	p.wait("\r\none line of the")
	p.wait("terminal.\x1b[0m\r\n")
	p.wait("#terminal> ")

	// Ctrl-C ends an answer, not the talk.
	pause := make(chan struct{})
	defer close(pause)
	model.Queue(llmtest.Reply{ReasoningContent: []string{"hm"}, Text: []string{"Let me "}, Pause: pause})
	p.write("@hark think\r")
	p.wait("Let")
	p.write("\x03")
	p.wait("interrupted; ")
	p.wait("#terminal> ")

	// Lines can be edited and called back.
	model.Queue(llmtest.Say("Noted."))
	p.write("@hark xnote this\x1b[H\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[3~\r")
	p.wait("Noted.")
	p.wait("#terminal> ")
	// Ctrl-C takes back what was typed, and where nothing is, ends the talk.
	p.write("never said\x03@hark is this all?")
	p.wait("is this all?")
	model.Queue(llmtest.Say("All."))
	p.write("\r")
	p.wait("All.")
	p.wait("#terminal> ")
	p.write("\x03")
	p.wait("\r\n")
	p.ended(1) // an answer failed
	requests := model.Requests()
	if last := requests[len(requests)-1].Last(); !strings.Contains(last, "is this all?") || strings.Contains(last, "never said") {
		t.Errorf("asked %q", last)
	}
	if strings.Contains(requests[len(requests)-1].Prompt(), "Let me") {
		t.Error("the answer that was ended is remembered")
	}
}

func TestChatOnATerminalWithoutColour(t *testing.T) {
	t.Parallel()
	p := startOnTerminal(t, 80, "NO_COLOR=1")
	p.wait("#terminal> ")
	p.write("Ana: \u202ethe deadline is Friday\r")
	p.wait("#terminal> ")
	p.write("@hark when is the deadline?\r")
	p.wait("│ \uFFFDthe deadline is Friday\r\n— Ana in #terminal")
	p.wait("#terminal> ")
	p.write("\x04")
	p.ended(0)
	if strings.Contains(p.screen.String(), "\x1b[3") {
		t.Errorf("colours in %q", &p.screen)
	}
}

func TestChatOnATerminalEndsWhenTold(t *testing.T) {
	t.Parallel()
	p := startOnTerminal(t, 80)
	p.wait("operator #terminal> ") // whoever has no name there
	if p.mode() == p.before {
		t.Error("the terminal isn't raw while a line is read")
	}
	if err := p.hark.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ended(130)
	if p.mode() != p.before {
		t.Error("the terminal is left raw")
	}
}

// pty is a terminal with Hark on it.
type pty struct {
	*testing.T
	hark   *exec.Cmd
	master *os.File
	before uint32 // its mode before Hark was on it
	screen buffer
	seen   int // bytes of the screen that were waited for
	wrote  wait.Signal
	exit   chan error
}

// startOnTerminal starts "hark chat" on a terminal so many columns wide.
func startOnTerminal(t *testing.T, columns uint16, env ...string) *pty {
	t.Helper()
	return onTerminal(t, columns, env, "chat", "--data", filepath.Join(t.TempDir(), "data"))
}

// onTerminal starts a command on a terminal.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) *pty {
	t.Helper()
	p := &pty{T: t, exit: make(chan error, 1)}
	p.screen.wrote = p.wrote.Send
	var terminal *os.File
	p.master, terminal = openPTY(t)
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	p.before = p.mode()
	p.hark = exec.Command("hark", args...)
	p.hark.Dir = t.TempDir()
	p.hark.Env = append([]string{"TERM=xterm", "HOME=" + t.TempDir()}, env...)
	p.hark.Stdin, p.hark.Stdout, p.hark.Stderr = terminal, terminal, terminal
	p.hark.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.hark.Start(); err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		buf := make([]byte, 4096)
		for {
			n, err := p.master.Read(buf)
			_, _ = p.screen.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	go func() { p.exit <- p.hark.Wait() }()
	t.Cleanup(func() {
		_ = p.hark.Process.Kill()
		terminal.Close()
		p.master.Close()
		<-copied
	})
	return p
}

func openPTY(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminal can be had here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		t.Skipf("no terminal can be had here: %v", err)
	}
	return master, terminal
}

func (p *pty) write(keys string) {
	p.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}

// wait returns once text is on the screen, after what was waited for before.
func (p *pty) wait(text string) {
	p.Helper()
	p.wrote.Until(p, fmt.Sprintf("%q", text), func() bool {
		i := strings.Index(p.screen.String()[p.seen:], text)
		if i >= 0 {
			p.seen += i + len(text)
		}
		return i >= 0
	}, func() string {
		all := p.screen.String()
		return fmt.Sprintf("the screen has %q after %q", all[p.seen:], all[max(0, p.seen-400):p.seen])
	})
}

// ended waits for Hark to end.
func (p *pty) ended(code int) {
	p.Helper()
	wait.For(p, "Hark to end", p.exit)
	if got := p.hark.ProcessState.ExitCode(); got != code {
		p.Errorf("exit code %d; the screen has %q", got, &p.screen)
	}
}

// mode is how the terminal treats what is typed.
func (p *pty) mode() uint32 {
	p.Helper()
	state, err := unix.IoctlGetTermios(int(p.master.Fd()), unix.TCGETS)
	if err != nil {
		p.Fatal(err)
	}
	return state.Lflag
}

// On a terminal the log is for people, in colours unless they don't want them.
func TestLogOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env    string
		colour bool
	}{{"NO_COLOR=", true}, {"NO_COLOR=1", false}} {
		p := onTerminal(t, 200, []string{"HARK_WEB_LISTEN=127.0.0.1:0", c.env}, "run", "--wait", "--data", filepath.Join(t.TempDir(), "data"))
		p.wait(waitingForChange)
		if err := p.hark.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.wait("stopped")
		p.ended(0)
		if text := p.screen.String(); strings.Contains(text, "\x1b[") != c.colour || strings.Contains(text, "{") || !strings.Contains(text, "INF") {
			t.Errorf("with %s the screen has %q", c.env, text)
		}
	}
}
