package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/internal/eval"
	"hark/search"
)

// The gate closes for what looks like small talk and what was absent, and for no more questions than it may.
func TestTheGateIsLearned(t *testing.T) {
	t.Parallel()
	var all []decision
	for i := range 600 {
		d := decision{kind: kind(i % 3), held: i%2 == 1}
		d.Values, d.Found = make([]float64, len(search.GateNames())), true
		d.Values[0], d.Values[1] = 1, float64(i%7) // found
		if d.kind == isQuestion {
			d.Values[1] += 5
		}
		all = append(all, d)
	}
	w := fitGate(all)
	declined := 0
	for _, d := range all {
		if d.kind == isQuestion && !d.held && dot(w, d.Values) < 0 {
			declined++
		}
	}
	if share := float64(declined) / 100; share > lost {
		t.Errorf("%.3f of the questions are declined", share)
	}
	all = append(all, decision{Gated: eval.Gated{Declined: true}, kind: isSmallTalk, held: true})
	if got := judge(all, w); !strings.Contains(got, "0.0 % of those whose evidence is found") ||
		strings.HasPrefix(got, "0.0") {
		t.Error(got)
	}
	if got := string(gateSource(w, judge(all, w))); !strings.Contains(got, "gateFound:") ||
		!strings.Contains(got, "DO NOT EDIT") {
		t.Error(got)
	}
}

// Every second line is held back: the files are as long as they are said to be, and say nothing twice.
func TestTheLinesOfTheGate(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range gateFiles {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for _, line := range lines {
			if seen[line] {
				t.Errorf("%s: %q is there twice", name, line)
			}
			seen[line] = true
		}
		if len(lines) != 200 {
			t.Errorf("%s has %d lines", name, len(lines))
		}
	}
}
