package main

import (
	"database/sql"
	"errors"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("USER", "me")
			e.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"firstline": firstLine, "private": private, "database": makeDatabase},
	})
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

// makeDatabase is the command "database FILE SQL": it makes a SQLite database by the statements in a file.
func makeDatabase(s *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		s.Fatalf("usage: database file sql")
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: s.MkAbs(args[0])}).String())
	s.Check(err)
	_, err = db.Exec(s.ReadFile(args[1]))
	s.Check(errors.Join(err, db.Close()))
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

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"", "run", "chat", "import", "search", "context", "trace", "history", "eval", "init", "doctor", "healthcheck", "version",
		"backup", "restore", "export", "forget", "reindex", "backfill", "lore", "lore add", "lore list", "lore show", "lore edit", "lore remove", "summaries", "summaries remove", "mode", "settings", "migrate", "migrate llmcord"} {
		args := append(strings.Fields(command), "--help")
		out, stderr := &buffer{}, &buffer{}
		env := environment{stdout: out, stderr: stderr, lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil }}
		if code := run(t.Context(), env, args); code != 0 || stderr.String() != "" {
			t.Errorf("%s --help: exit code %d, %s", command, code, stderr)
		}
		golden := filepath.Join("testdata", "help", "hark"+strings.ReplaceAll(command, " ", "")+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("%s --help is\n%s\nwant (or run with -update)\n%s", command, out, want)
		}
	}
}

func TestReadmesTwoCommands(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
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
