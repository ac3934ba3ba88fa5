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
	"strings"
	"testing"
	"time"

	"hark/internal/golden"
)

// session is a process that runs commands of Hark's one after the other in a directory, and what was seen of them. A process
// for each command would do most of its work on starting.
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

// request and outcome are what is exchanged with the process.
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

// serveSession is what the process does.
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

// lookIn is the value of a variable; of several the last.
func lookIn(env []string, key string) (value string, set bool) {
	for _, variable := range env {
		if name, v, _ := strings.Cut(variable, "="); name == key {
			value, set = v, true
		}
	}
	return value, set
}

// run runs a command to its end.
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

// note notes what is seen of a command.
func (s *session) note(args []string, got outcome) {
	s.seen.WriteString(transcript(args, got) + "\n")
}

// transcript is a command and what is seen of it at a terminal, where lines of standard error are marked.
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

// end ends the process and compares what was seen with testdata/session.
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

// steady is a text without what differs from run to run: the day of the test and its hours, ids that it made, times that
// something took, and names, each given as a word and what stands for it.
func steady(text string, names ...string) string {
	text = strings.NewReplacer(names...).Replace(text)
	now := time.Now().UTC()
	var days []string
	for _, d := range []int{-1, 0, 1} {
		for _, form := range []string{time.DateOnly, "2 Jan 2006", "01-02"} {
			days = append(days, regexp.QuoteMeta(now.AddDate(0, 0, d).Format(form)))
		}
	}
	text = regexp.MustCompile(`\b(?:`+strings.Join(days, "|")+`)(?:[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?`).ReplaceAllString(text, "NOW")
	text = vectors.ReplaceAllString(text, "")
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

// volatile is what is different each time and everywhere.
var volatile = regexp.MustCompile(`application \d+|commit [0-9a-f]+|go1\.\S+|SQLite [0-9.]+|\w+/(amd64|arm64)|version \d+, [0-9.]+ .?B|\b(?:\d+h)?(?:\d+m)?[0-9.]+ ?[mµn]?s\b|\d+ texts a second|` +
	`http://127\.0\.0\.1:\d+(?:/[\w/.]*\w)?|\.hark-\d+|restore-stream-\d+|\bto \d\d:\d\d\b|\b0\.\d\d+\b`)

var (
	temporary = regexp.MustCompile(`/[^\s"':]*/Test[^\s"'/]*/\d{3}`)
	vectors   = regexp.MustCompile(`, \d+ vectors?\b`) // which are made by the side
	stamp     = regexp.MustCompile(`<t:\d+`)
	madeID    = regexp.MustCompile(`\b\d{16,20}\b`)
)
