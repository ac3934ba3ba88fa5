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

	"hark/internal/discordtest"
	"hark/internal/llmtest"
	"hark/internal/mcptest"
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
	p.line("the zebra is here", "#terminal> ")

	model.Queue(llmtest.Say("It", " is here [1]", ", among a great many words that don't fit ",
		"in one line of the terminal."))
	p.line("@hark where is the zebra?", "\r\none line of the", "terminal.\x1b[0m\r\n", "#terminal> ")

	// Ctrl-C ends an answer, not the talk.
	pause := make(chan struct{})
	defer close(pause)
	model.Queue(llmtest.Reply{ReasoningContent: []string{"hm"}, Text: []string{"Let me "}, Pause: pause})
	p.line("@hark think", "Let")
	p.write("\x03")
	p.wait("interrupted; ")
	p.wait("#terminal> ")

	// Lines can be edited and called back.
	model.Queue(llmtest.Say("Noted."))
	p.line("@hark xnote this\x1b[H\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C\x1b[3~", "Noted.", "#terminal> ")
	// Ctrl-C clears the line, and ends the talk on an empty one.
	p.write("never said\x03@hark is this all?")
	p.wait("is this all?")
	model.Queue(llmtest.Say("All."))
	p.line("", "All.", "#terminal> ")
	p.write("\x03")
	p.wait("\r\n")
	p.ended(1) // an answer failed
	requests := model.Requests()
	if last := requests[len(requests)-1].Last(); !strings.Contains(last, "is this all?") ||
		strings.Contains(last, "never said") {
		t.Errorf("asked %q", last)
	}
	if strings.Contains(requests[len(requests)-1].Prompt(), "Let me") {
		t.Error("the answer that was ended is remembered")
	}
}

func TestChatOnATerminalWithoutColour(t *testing.T) {
	t.Parallel()
	p := startOnTerminal(t, 80, "NO_COLOR=1")
	p.wait("operator #terminal> ") // without a user name
	if p.mode() == p.before {
		t.Error("the terminal isn't raw while a line is read")
	}
	p.line("Ana: \u202ethe deadline is Friday", "#terminal> ")
	p.line("@hark when is the deadline?", "│ \uFFFDthe deadline is Friday\r\n— Ana in #terminal", "#terminal> ")
	if err := p.hark.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ended(130)
	if p.mode() != p.before {
		t.Error("the terminal is left raw")
	}
	if strings.Contains(p.screen.String(), "\x1b[3") {
		t.Errorf("colours in %q", &p.screen)
	}
}

// pty is a terminal with Hark on it.
type pty struct {
	*testing.T
	hark   *exec.Cmd
	master *os.File
	before uint32 // its mode before Hark was on it
	screen buffer
	seen   int // bytes of the screen that wait has passed
	wrote  wait.Signal
	exit   chan error
}

// startOnTerminal starts "hark chat" on a terminal so many columns wide.
func startOnTerminal(t *testing.T, columns uint16, env ...string) *pty {
	t.Helper()
	return onTerminal(t, columns, env, "chat", "--data", filepath.Join(t.TempDir(), "data"))
}

func onTerminal(t *testing.T, columns uint16, env []string, args ...string) *pty {
	t.Helper()
	p := &pty{T: t, exit: make(chan error, 1)}
	p.screen.wrote = p.wrote.Send
	var terminal *os.File
	p.master, terminal = openPTY(t)
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 24, Col: columns}); err != nil {
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

// line types a line and waits for texts, one after the other.
func (p *pty) line(keys string, texts ...string) {
	p.Helper()
	p.write(keys + "\r")
	for _, text := range texts {
		p.wait(text)
	}
}

// wait waits for text on the screen, behind that of the last wait.
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

func (p *pty) ended(code int) {
	p.Helper()
	wait.For(p, "Hark to end", p.exit)
	if got := p.hark.ProcessState.ExitCode(); got != code {
		p.Errorf("exit code %d; the screen has %q", got, &p.screen)
	}
}

func (p *pty) mode() uint32 {
	p.Helper()
	state, err := unix.IoctlGetTermios(int(p.master.Fd()), unix.TCGETS)
	if err != nil {
		p.Fatal(err)
	}
	return state.Lflag
}

// On a terminal the log is text, in colours without NO_COLOR.
func TestLogOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env    string
		colour bool
	}{{"NO_COLOR=", true}, {"NO_COLOR=1", false}} {
		p := onTerminal(t, 200, []string{"HARK_WEB_LISTEN=127.0.0.1:0", c.env}, "run", "--wait", "--data",
			filepath.Join(t.TempDir(), "data"))
		p.wait(waitingForChange)
		if err := p.hark.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		p.wait("stopped")
		p.ended(0)
		if text := p.screen.String(); strings.Contains(text, "\x1b[") != c.colour ||
			strings.Contains(text, "{") || !strings.Contains(text, "INF") {
			t.Errorf("with %s the screen has %q", c.env, text)
		}
	}
}

func TestForgettingIsConfirmedOnATerminal(t *testing.T) {
	t.Parallel()
	whole := newDataDir(t)
	for name, c := range map[string]struct {
		keys, says string
		code       int
		forgotten  bool
	}{
		"yes":      {"y\r", "Forgotten: 650 messages", 0, true},
		"in words": {"YES\r", "Forgotten: 650 messages", 0, true},
		"no":       {"n\r", "hark: nothing was changed", 1, false},
		"nothing":  {"\r", "hark: nothing was changed", 1, false},
		"else":     {"yesterday\r", "hark: nothing was changed", 1, false},
		"Ctrl-D":   {"\x04", "hark: nothing was changed", 1, false},
		"Ctrl-C":   {"\x03", "hark: interrupted", 130, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := whole.copy(t)
			p := onTerminal(t, 200, nil, "forget", "--user", "jane", "--data", d.path("data"))
			p.wait("650 messages")
			p.wait("[y/N] ")
			p.write(c.keys)
			p.wait(c.says)
			p.ended(c.code)
			if d.in("jane-canary") == c.forgotten {
				t.Errorf("forgotten: %t", !c.forgotten)
			}
		})
	}
}

// Commands are completed, ask before they delete, and the history doesn't call back what is forgotten.
func TestCommandsOnATerminal(t *testing.T) {
	t.Parallel()
	p := startOnTerminal(t, 120, "NO_COLOR=1", "USER=ana")
	p.wait("ana #terminal> ")
	p.line("the zebra is striped", "#terminal> ")
	p.line("/as Ben", "You are Ben now.", "Ben #terminal> ")
	p.line("I like zebras", "Ben #terminal> ")

	p.line("/rec\tzebra", "/recall zebra", "ana in #terminal", "Ben #terminal> ") // completed
	p.line("/lo\ta\tZoo \"All of it\"", "/lore add Zoo", "Remembered: Zoo, in local.", "Ben #terminal> ")
	p.line("/lore show Z\t", "Ben #terminal> ")
	p.write("/lore \t")
	p.wait("add  edit  list  remove  show")
	p.line("remove Zoo", "[y/N] ")
	p.line("n", "nothing was changed", "Ben #terminal> ")
	p.line("/lore remove Zoo", "[y/N] ")
	p.write("\x03") // doesn't agree
	p.wait("nothing was changed")
	p.wait("Ben #terminal> ")
	p.line("\x1b[A", "/lore remove Zoo", "[y/N] ") // the last line, which isn't an answer
	p.line("y", "Forgotten: Zoo.", "Ben #terminal> ")
	p.line("/as ana", "You are ana now.")
	p.line("\x1b[A\x1b[A\x1b[A", "You are ana now.", "ana #terminal> ") // nothing typed before is left

	p.line("/memory forget", "[y/N] ")
	p.line("yes", "Forgotten: 1 message", "ana #terminal> ")
	p.line("/recal", "did you mean /recall?", "ana #terminal> ")
	p.write("/quit\r")
	p.ended(0)
	if _, after, _ := strings.Cut(p.screen.String(), "Forgotten: 1 message"); strings.Contains(after, "striped") {
		t.Errorf("it came back in %q", after)
	}
}

// What the model proposes to remember is kept only if somebody agrees.
func TestRememberingOnATerminal(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), filepath.Join(t.TempDir(), "data")
	p := onTerminal(t, 120, []string{"NO_COLOR=1", "USER=ana", "HARK_LLM_MODEL=test-model",
		"HARK_LLM_BASE_URL=" + model.URL()}, "chat", "--data", data)
	p.wait("#terminal> ")
	p.line("the zebra is called Zoe", "#terminal> ")
	ask := func(name, answer string) {
		t.Helper()
		model.Queue(calls([2]string{"remember", `{"name":"` + name + `","text":"the zebra is called Zoe"}`}),
			llmtest.Say("As **you** wish."))
		p.write("@hark remember " + name + ": the zebra is called Zoe\r")
		p.wait("  " + name)
		p.wait("    the zebra is called Zoe")
		p.wait("[y/N] ")
		p.write(answer)
	}
	ask("Stripes", "\r")
	p.wait("#terminal> ")
	p.line("/lore list", "#terminal> ")
	ask("Zebra", "y\r")
	p.wait("Remembered: Zebra")
	p.wait("#terminal> ")
	p.line("/lore list", "in #terminal of local, told by ana", "#terminal> ")
	ask("zebra", "y\r")
	p.wait("#terminal> ")
	p.line("/why", "tokens of", "#terminal> ")
	p.write("\x04")
	p.ended(0)
	entries, err := os.ReadDir(p.hark.Dir)
	if err != nil || len(entries) != 0 {
		t.Errorf("beside the memory there is %v, %v", entries, err)
	}
	// It is forgotten with its source.
	c := commandLine{T: t}
	c.run(0, "forget", "--user", "ana", "--yes", "--data", data)
	c.stdin = "/lore list\n"
	c.run(0, "chat", "--data", data)
	if strings.Contains(c.out.String(), "Zoe") {
		t.Errorf("left: %s", c.out.String())
	}
}

// A tool from outside runs only if somebody agrees.
func TestToolsFromOutsideOnATerminal(t *testing.T) {
	t.Parallel()
	model, data := llmtest.New(t), filepath.Join(t.TempDir(), "data")
	server := mcptest.New(t, mcptest.Tool{Name: "water", Call: mcptest.Says("watered")})
	config := writeFile(t, fmt.Sprintf("[[tools.mcp]]\nname = 'garden'\naddress = %q\n", server.URL))
	p := onTerminal(t, 120, []string{"NO_COLOR=1", "USER=ana", "HARK_LLM_MODEL=test-model", "HARK_CONFIG=" + config,
		"HARK_LLM_BASE_URL=" + model.URL()}, "chat", "--data", data)
	p.wait("#terminal> ")
	waters := calls([2]string{"garden__water", `{"bed":"roses"}`})
	for answer, want := range map[string]int{"n": 0, "y": 1} {
		model.Queue(waters, llmtest.Say("As you wish."))
		p.write("@hark water the roses\r")
		p.wait("May I run water of garden? It gets:")
		p.wait(`    {"bed":"roses"}`)
		p.wait("[y/N] ")
		before := len(server.Calls())
		p.line(answer, "As you wish.")
		if want > 0 {
			p.wait("  with garden: water")
		}
		p.wait("#terminal> ")
		if n := len(server.Calls()) - before; n != want {
			t.Errorf("%s: %d calls", answer, n)
		}
	}
	p.write("\x04")
	p.ended(0)
}

// The progress of an import names its file. A backup isn't written to a terminal.
func TestImportAndBackupOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "ferries.jsonl")
	put(t, file, posted("trip", "1", "Ada", "The ferry leaves at noon."))
	p := onTerminal(t, 200, nil, "import", "--data", filepath.Join(dir, "data"), file)
	p.wait("ferries.jsonl ") // in the bar
	p.wait(file)
	p.ended(0)
	p = onTerminal(t, 200, nil, "backup", "-", "--data", filepath.Join(dir, "data"))
	p.wait("can't be written to a terminal")
	p.ended(1)
}

// No secret is shown. Ctrl-C leaves no file, and restores the terminal.
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
			p.write("s3cret\x03") // Ctrl-C proves that it was read
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
	p.wait("Number or name [4]: ")
	p.line("4", "Number or name [4]: ")
	p.line("", "hark run --config ")
	p.ended(0)
	if strings.Contains(p.screen.String(), d.Token) {
		t.Error("the token is shown")
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "token = '"+d.Token+"'") {
		t.Errorf("%s, %v", data, err)
	}
}
