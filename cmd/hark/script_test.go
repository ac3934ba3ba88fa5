package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"hark/internal/golden"
)

// TestScripts runs scripts. What an operator sees of their commands is in testdata/session; the scripts check what is done,
// and what must not be shown.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Updating(),
		Setup: func(e *testscript.Env) error {
			s := &session{TB: e.T().(testing.TB), dir: e.WorkDir, env: []string{"USER=me", "TZ=UTC"}}
			e.Values[sessionKey{}] = s
			e.Defer(s.end)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"run": runNoted, "try": runUnnoted, "input": input, "set": setVariable,
			"firstline": firstLine, "private": private},
	})
}

type sessionKey struct{}

func sessionOf(s *testscript.TestScript) *session { return s.Value(sessionKey{}).(*session) }

// runNoted is the command "run ARGUMENT…": it runs a command of Hark's, which must fail after a "!", and notes what is seen.
func runNoted(s *testscript.TestScript, neg bool, args []string) { runInSession(s, neg, args, true) }

// runUnnoted is the command "try ARGUMENT…": "run" for what shows more than the script is about.
func runUnnoted(s *testscript.TestScript, neg bool, args []string) { runInSession(s, neg, args, false) }

func runInSession(s *testscript.TestScript, neg bool, args []string, noted bool) {
	got, err := sessionOf(s).run(args)
	s.Check(err)
	if noted {
		sessionOf(s).note(args, got)
	}
	fmt.Fprint(s.Stdout(), got.Stdout)
	fmt.Fprint(s.Stderr(), got.Stderr)
	if (got.Code != 0) != neg {
		s.Fatalf("exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}

// input is the command "input FILE": the next command reads it.
func input(s *testscript.TestScript, _ bool, args []string) {
	sessionOf(s).stdin = s.ReadFile(args[0])
}

// setVariable is the command "set NAME=VALUE".
func setVariable(s *testscript.TestScript, _ bool, args []string) {
	sessionOf(s).env = append(sessionOf(s).env, args[0])
}

// firstLine is the command "firstline PATTERN": the first line of stdout matches it.
func firstLine(s *testscript.TestScript, neg bool, args []string) {
	line, _, _ := strings.Cut(s.ReadFile("stdout"), "\n")
	if neg || len(args) != 1 {
		s.Fatalf("usage: firstline pattern")
	}
	if !regexp.MustCompile("^(?:" + args[0] + ")").MatchString(line) {
		s.Fatalf("the first line is %q", line)
	}
}

// private is the command "private FILE…": only their owner can read the files.
func private(s *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		info, err := os.Stat(s.MkAbs(name))
		s.Check(err)
		if open := info.Mode().Perm()&0o077 != 0; open != neg {
			s.Fatalf("%s has mode %o", name, info.Mode().Perm())
		}
	}
}

func TestReadmesTwoCommands(t *testing.T) {
	t.Parallel()
	readme := content(t, "../../README.md")
	for _, command := range []string{"go run ./cmd/hark chat", "go test ./..."} {
		if !strings.Contains(string(readme), "\n"+command+"\n") {
			t.Errorf("README.md doesn't have %q on a line of its own", command)
		}
	}
	talk := regexp.MustCompile("Write lines such as `([^`]+)`, then `([^`]+)`").FindStringSubmatch(string(readme))
	if talk == nil {
		t.Fatal("README.md doesn't say what to write")
	}
	hark := exec.Command("hark", "chat")
	hark.Dir = t.TempDir()
	hark.Env = []string{}
	hark.Stdin = strings.NewReader(talk[1] + "\n" + talk[2] + "\n")
	out, err := hark.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "> the deadline is Friday\n") {
		t.Errorf("%v: %s", err, out)
	}
}
