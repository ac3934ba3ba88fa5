package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// Every line is read once, those that are too long are told of and passed over.
func TestReadLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	for _, c := range []struct {
		in   string
		want []string // "!" for one that is too long
	}{
		{"", nil},
		{"one", []string{"one"}},
		{"one\n", []string{"one"}},
		{"one\r\n\ntwo", []string{"one", "", "two"}},
		{long + "\nshort\n", []string{"!", "short"}},
		{"short\n" + long, []string{"short", "!"}},
		{strings.Repeat("x", 50) + "\n", []string{strings.Repeat("x", 50)}},
	} {
		in := bufio.NewReaderSize(strings.NewReader(c.in), 16)
		var got []string
		for {
			line, whole, err := readLine(in, 60)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !whole {
				line += "!"
			}
			got = append(got, line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%.20q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// A mark at the beginning of a file isn't part of a name, and a line too long costs only itself.
func TestLinesAreSaid(t *testing.T) {
	t.Parallel()
	var out, warned bytes.Buffer
	env := environment{
		stdin:  strings.NewReader("\ufeffJane: the deadline is Friday\n" + strings.Repeat("x", maxLine+1) + "\nTom: @hark when is the deadline?\n"),
		stdout: &out, stderr: &warned,
		lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil },
	}
	if code := run(t.Context(), env, []string{"chat", "--data", t.TempDir()}); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(out.String(), "**Jane** in #terminal") || !strings.Contains(warned.String(), "was passed over") {
		t.Errorf("answered %q, warned %q", &out, &warned)
	}
}
