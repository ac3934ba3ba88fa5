package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// made is a set in which the first feature tells evidence, the second nothing, and the third the opposite.
func made(set string, n int) []question {
	var questions []question
	for i := range n {
		q := question{set: set, conversation: fmt.Sprintf("%s %d", set, i%7), answered: true}
		for j := range 30 {
			c := candidate{features: []float64{float64(j*j%11) / 20, float64((i+j)%3) / 2, float64(j%5) / 5}}
			if j == i%30 {
				c.evidence, c.near = true, true
				c.features[0], c.features[2] = 1, 0
			}
			q.candidates = append(q.candidates, c)
		}
		questions = append(questions, q)
	}
	return questions
}

func TestWeightsFollowWhatTells(t *testing.T) {
	t.Parallel()
	questions := append(made("one", 40), made("two", 15)...)
	w := learn(questions, 3, -1)
	if w[0] < 1 || math.Abs(w[1]) > w[0]/5 || w[2] > 0 {
		t.Errorf("learned %v", w)
	}
	if again := learn(questions, 3, -1); !slices.Equal(again, w) {
		t.Errorf("learned %v, then %v", w, again)
	}
	if w := learn(questions, 3, 0); w[0] != 0 {
		t.Errorf("without the first feature: %v", w)
	}
	if got := measure(questions, func(int) []float64 { return w }); got != "one 100.0/100.0  two 100.0/100.0" {
		t.Errorf("measured %s", got)
	}
	if got := measure(questions, func(int) []float64 {
		return []float64{-1, 0, 0}
	}); got != "one 0.0/0.0  two 0.0/0.0" {
		t.Errorf("the wrong way round measured %s", got)
	}
}

// No conversation is in two folds, and each fold's weights are learned without it.
func TestConversationsAreHeldOutWhole(t *testing.T) {
	t.Parallel()
	questions := made("one", 40)
	apart := deal(questions, folds)
	in := map[string]int{}
	for i, q := range questions {
		if fold, dealt := in[q.conversation]; dealt && fold != apart[i] {
			t.Errorf("%s is in two folds", q.conversation)
		}
		in[q.conversation] = apart[i]
	}
	held := learnApart(questions, apart, 3, -1)
	var rest []question
	for i, q := range questions {
		if apart[i] != 2 {
			rest = append(rest, q)
		}
	}
	if want := learn(rest, 3, -1); len(held) != folds || !slices.Equal(held[2], want) {
		t.Errorf("learned %v, want %v", held, want)
	}
}

func TestCurveIsCalibrated(t *testing.T) {
	t.Parallel()
	questions := made("one", 60)
	for i := range questions { // every third question is answered by something else
		if i%3 == 0 {
			for j := range questions[i].candidates {
				questions[i].candidates[j].near = j == 7
			}
		}
	}
	weights := func(int) []float64 { return []float64{3, 0, 0} }
	c := fitCurve(questions, weights)
	order, scores := ranked(questions[1], weights(1))
	s := standings(scores, c.field)[0]
	first := logistic(c.weights, [4]float64{1, s[0], s[1], s[2]})
	if !order[0].evidence || first < 0.5 || first > 0.85 {
		t.Errorf("of the first hits, two thirds are right, and the relevance is %.2f", first)
	}
	if table := table(reliability(questions, weights, c)); !strings.Contains(table, "of 60") ||
		strings.Count(table, "\n") != 6 {
		t.Errorf("table\n%s", table)
	}
}

const someSet = `{"type":"message","channel":"%[1]s","id":"1","author":"Ada","time":"2024-03-01T10:00:00Z","text":"The keeper is called Zebedee."}
{"type":"message","channel":"%[1]s","id":"2","author":"Ben","time":"2024-03-01T10:01:00Z","text":"Nobody asked about the ferry."}
{"type":"message","channel":"%[1]s","id":"3","author":"Ada","time":"2024-03-01T10:02:00Z","text":"It left at noon, by the way."}
{"type":"question","channel":"%[1]s","id":"q1","text":"What is the keeper called?","time":"2024-04-01T10:00:00Z","evidence":["1"]}
{"type":"question","channel":"%[1]s","id":"q2","text":"Who asked of the ferry?","time":"2024-04-01T10:00:00Z","evidence":["2"]}
`

func TestRunWritesWhatSearchHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set, to := filepath.Join(dir, "toy.jsonl"), filepath.Join(dir, "weights.go")
	content := ""
	for i := range 6 {
		content += fmt.Sprintf(someSet, fmt.Sprintf("quay%d", i))
	}
	var lines, rest []string
	for line := range strings.Lines(content) { // messages first
		if strings.Contains(line, `"message"`) {
			lines = append(lines, line)
		} else {
			rest = append(rest, line)
		}
	}
	if err := os.WriteFile(set, []byte(strings.Join(append(lines, rest...), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-write", to, "-without", set}, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "toy 100.0/100.0") ||
		!strings.Contains(got, "without meaning") || !strings.Contains(got, "relevance") {
		t.Errorf("printed\n%s", got)
	}
	file, err := parser.ParseFile(token.NewFileSet(), to, nil, 0)
	if err != nil || file.Name.Name != "search" || file.Scope.Lookup("weights") == nil ||
		file.Scope.Lookup("curve") == nil || file.Scope.Lookup("fieldScore") == nil {
		t.Errorf("wrote what isn't search's: %v", err)
	}
	for _, args := range [][]string{nil, {"-sideways"}, {filepath.Join(dir, "none")}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%q has no error", args)
		}
	}
}
