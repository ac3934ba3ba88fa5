package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hark/internal/golden"
)

// TestScripts runs scripts, which check what commands do. What an operator sees is in testdata/session. The scripts
// have these commands of their own:
//
//	run ARGUMENT…      run a command of Hark's, which must fail after a "!", and note what is seen
//	try ARGUMENT…      run one that shows more than the script is about
//	input FILE         have the next command read it
//	set NAME=VALUE     set a variable
//	firstline PATTERN  the first line of stdout matches it
//	private FILE…      only their owner can read the files
//	cut FILE SIZE TO   copy the first bytes of a file
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": func(s *testscript.TestScript, neg bool, args []string) { runInSession(s, neg, args, true) },
			"try": func(s *testscript.TestScript, neg bool, args []string) { runInSession(s, neg, args, false) },
			"input": func(s *testscript.TestScript, _ bool, args []string) {
				sessionOf(s).stdin = s.ReadFile(args[0])
			},
			"set": func(s *testscript.TestScript, _ bool, args []string) {
				sessionOf(s).env = append(sessionOf(s).env, args[0])
			},
			"firstline": firstLine,
			"private":   private,
			"cut":       cut,
		},
	})
}

type sessionKey struct{}

func sessionOf(s *testscript.TestScript) *session { return s.Value(sessionKey{}).(*session) }

func runInSession(s *testscript.TestScript, neg bool, args []string, noted bool) {
	got, err := sessionOf(s).run(args)
	s.Check(err)
	if noted {
		sessionOf(s).seen.WriteString(transcript(args, got) + "\n")
	}
	fmt.Fprint(s.Stdout(), got.Stdout)
	fmt.Fprint(s.Stderr(), got.Stderr)
	if (got.Code != 0) != neg {
		s.Fatalf("exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}

func firstLine(s *testscript.TestScript, neg bool, args []string) {
	line, _, _ := strings.Cut(s.ReadFile("stdout"), "\n")
	if neg || len(args) != 1 {
		s.Fatalf("usage: firstline pattern")
	}
	if !regexp.MustCompile("^(?:" + args[0] + ")").MatchString(line) {
		s.Fatalf("the first line is %q", line)
	}
}

func private(s *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		info, err := os.Stat(s.MkAbs(name))
		s.Check(err)
		if open := info.Mode().Perm()&0o077 != 0; open != neg {
			s.Fatalf("%s has mode %o", name, info.Mode().Perm())
		}
	}
}

func cut(s *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	s.Check(err)
	s.Check(os.WriteFile(s.MkAbs(args[2]), []byte(s.ReadFile(args[0]))[:size], 0o600))
}

func TestReadmesTwoCommands(t *testing.T) {
	t.Parallel()
	readme := content(t, "../../README.md")
	for _, command := range []string{"go run ./cmd/hark chat", "go test ./..."} {
		if !strings.Contains(string(readme), "\n"+command+"\n") {
			t.Errorf("README.md doesn't have %q on a line of its own", command)
		}
	}
	talk := regexp.MustCompile("Write `([^`]+)`, then `([^`]+)`").FindStringSubmatch(string(readme))
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

// session is a process that runs a script's commands in a directory, and their output. One process for each command
// would be slow.
type session struct {
	testing.TB
	dir   string
	env   []string
	stdin string // of the next command
	seen  strings.Builder

	hark *exec.Cmd // nil before the first command
	ask  *json.Encoder
	told *json.Decoder
}

type (
	request struct {
		Args, Env []string
		Stdin     string
	}
	outcome struct {
		Code           int
		Stdout, Stderr string
	}
)

func serveSession() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r request
		if err := in.Decode(&r); err != nil {
			return
		}
		stdout, stderr := &buffer{}, &buffer{}
		code := run(context.Background(), environment{
			stdin: strings.NewReader(r.Stdin), stdout: stdout, stderr: stderr,
			lookup:  func(key string) (string, bool) { return lookIn(r.Env, key) },
			environ: func() []string { return r.Env },
		}, r.Args)
		if err := out.Encode(outcome{code, stdout.String(), stderr.String()}); err != nil {
			return
		}
	}
}

// lookIn returns a variable's last value.
func lookIn(env []string, key string) (value string, set bool) {
	for _, variable := range env {
		if name, v, _ := strings.Cut(variable, "="); name == key {
			value, set = v, true
		}
	}
	return value, set
}

func (s *session) run(args []string) (outcome, error) {
	if s.hark == nil {
		if err := s.start(); err != nil {
			return outcome{}, err
		}
	}
	if err := s.ask.Encode(request{args, s.env, s.stdin}); err != nil {
		return outcome{}, err
	}
	s.stdin = ""
	var got outcome
	if err := s.told.Decode(&got); err != nil {
		return outcome{}, fmt.Errorf("hark %s: %w", strings.Join(args, " "), err)
	}
	return got, nil
}

// transcript returns a command and its output, with standard error marked.
func transcript(args []string, got outcome) string {
	var b strings.Builder
	b.WriteString("$ hark")
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"") {
			a = "'" + a + "'"
		}
		b.WriteString(" " + a)
	}
	b.WriteByte('\n')
	put := func(mark, text string) {
		for line := range strings.Lines(text) {
			if !strings.HasSuffix(line, "\n") {
				line += "(no newline)\n"
			}
			b.WriteString(mark + line)
		}
	}
	put("", got.Stdout)
	put("2> ", got.Stderr)
	if got.Code != 0 {
		fmt.Fprintf(&b, "(exit code %d)\n", got.Code)
	}
	return b.String()
}

func (s *session) start() error {
	s.hark = exec.Command("hark-session")
	s.hark.Dir, s.hark.Stderr = s.dir, os.Stderr
	s.hark.Env = []string{"TZ=UTC", "TMPDIR=" + os.TempDir()}
	in, err := s.hark.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.hark.StdoutPipe()
	if err != nil {
		return err
	}
	s.ask, s.told = json.NewEncoder(in), json.NewDecoder(out)
	return s.hark.Start()
}

// end ends the process and compares its output with testdata/session.
func (s *session) end() {
	if s.hark == nil {
		return
	}
	_ = s.hark.Process.Kill()
	_ = s.hark.Wait()
	if !s.Failed() {
		_, name, _ := strings.Cut(s.Name(), "/")
		golden.File(s, filepath.Join("testdata", "session", name+".txt"), steady(s.seen.String(), s.dir, "DIR"))
	}
}

// steady replaces what differs from run to run: times, made ids, durations, and names, given as pairs of a word and its
// replacement.
func steady(text string, names ...string) string {
	text = strings.NewReplacer(names...).Replace(text)
	now := time.Now().UTC()
	var days []string
	for _, d := range []int{-1, 0, 1} {
		for _, form := range []string{time.DateOnly, "2 Jan 2006", "01-02"} {
			days = append(days, regexp.QuoteMeta(now.AddDate(0, 0, d).Format(form)))
		}
	}
	text = regexp.MustCompile(`\b(?:`+strings.Join(days, "|")+
		`)(?:[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?`).ReplaceAllString(text, "NOW")
	text = embedded.ReplaceAllString(text, "")
	text = temporary.ReplaceAllString(text, "DIR")
	text = stamp.ReplaceAllString(text, "<t:NOW")
	text = volatile.ReplaceAllString(text, "…")
	var ids []string
	return madeID.ReplaceAllStringFunc(text, func(id string) string {
		i := slices.Index(ids, id)
		if i < 0 {
			i, ids = len(ids), append(ids, id)
		}
		return fmt.Sprintf("ID%d", i+1)
	})
}

var volatile = regexp.MustCompile(
	`application \d+|commit [0-9a-f]+|go1\.\S+|SQLite [0-9.]+|\w+/(amd64|arm64)|version \d+, [0-9.]+ .?B|` +
		`\b(?:\d+h)?(?:\d+m)?[0-9.]+ ?[mµn]?s\b|\d+ texts a second|` +
		`http://127\.0\.0\.1:\d+(?:/[\w/.]*\w)?|\.hark-\d+|restore-stream-\d+|\bto \d\d:\d\d\b|\b0\.\d\d+\b`)

var (
	temporary = regexp.MustCompile(`/[^\s"':]*/Test[^\s"'/]*/\d{3}`)
	embedded  = regexp.MustCompile(`, \d+ vectors?\b`) // made in the background
	stamp     = regexp.MustCompile(`<t:\d+`)
	madeID    = regexp.MustCompile(`\b\d{16,20}\b`)
)
