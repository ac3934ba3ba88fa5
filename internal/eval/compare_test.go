package eval

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"hark/memory"
	"hark/search"
)

// A set in which the question names who answered it, and others say the same at that time, and more of it.
const whoSaid = `{"type":"message","channel":"quay","id":"1","author":"Ben","time":"2024-05-02T10:00:00Z","text":"I like the ferry."}
{"type":"message","channel":"quay","id":"2","author":"Ada","time":"2024-05-02T10:01:00Z","text":"I like the ferry, and how I like boats."}
{"type":"message","channel":"quay","id":"3","author":"Cleo","time":"2024-05-02T10:02:00Z","text":"I like the ferry, as I like a boat."}
{"type":"message","channel":"quay","id":"4","author":"Dan","time":"2024-05-02T10:03:00Z","text":"I like the ferry, I do like boats."}
{"type":"message","channel":"quay","id":"5","author":"Eve","time":"2024-05-02T10:04:00Z","text":"I like the ferry, and I like a boat."}
{"type":"message","channel":"quay","id":"6","author":"Fay","time":"2024-05-02T10:05:00Z","text":"I like the ferry, since I like boats."}
{"type":"question","channel":"quay","id":"q1","text":"What does Ben like?","time":"2024-06-02T00:00:00Z","evidence":["1"]}
{"type":"question","channel":"quay","id":"q2","text":"Who cooked?","time":"2024-06-02T00:00:00Z","evidence":[]}
`

func TestCompare(t *testing.T) {
	t.Parallel()
	var c Comparison
	e := evaluator(t)
	done := 0
	for _, path := range []string{write(t, "who.jsonl", whoSaid),
		write(t, "none.jsonl", strings.Split(whoSaid, "\n")[0]), write(t, "set.jsonl", set)} {
		if err := e.Compare(t.Context(), path, &c, func(n, _ int) { done = n }); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if c.Write(&b); done != 3 {
		t.Errorf("told of %d questions", done)
	}
	got := map[string]string{}
	for line := range strings.Lines(b.String()) {
		columns := regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1)
		got[columns[0]] = strings.Join(columns[1:], "|")
	}
	for off, want := range map[string]string{
		"switched off":      "who any@5|any@10|set any@5|any@10", // a set without questions isn't shown
		"nothing":           "100.0|100.0|100.0|100.0",
		"ranking by author": "0.0|100.0|100.0|100.0",
		"ranking by words":  "100.0|100.0|100.0|100.0",
		"vectors":           "100.0|100.0|100.0|100.0",
		"full text":         "100.0|100.0|100.0|100.0",
	} {
		if got[off] != want {
			t.Errorf("%s: %q, want %q", off, got[off], want)
		}
	}
	if want := 4 + len(search.Ingredients()); len(got) != want {
		t.Errorf("%d lines, want %d:\n%s", len(got), want, b.String())
	}
	b.Reset()
	if new(Comparison).Write(&b); !strings.HasPrefix(strings.TrimSpace(b.String()), "switched off") {
		t.Errorf("of nothing: %q", b.String())
	}
}

func TestAhead(t *testing.T) {
	t.Parallel()
	names := search.FeatureNames()
	with := func(id memory.MessageID, values ...float64) search.Candidate {
		return search.Candidate{Message: id, Features: append(values, make([]float64, len(names)-len(values))...)}
	}
	candidates := []search.Candidate{with(1, 0.9), with(2, 0.5, 0.1), with(3, 0.5, 0.1), with(4, 0.5, 0.1),
		with(5, 0, 0.3)}
	first := search.Ingredient{Features: []int{0}}
	for _, c := range []struct {
		evidence memory.MessageID
		without  search.Ingredient
		want     int
	}{
		{3, search.Ingredient{}, 2}, {4, search.Ingredient{}, 3}, // of equals, those that were before are ahead
		{5, first, 0}, {3, first, 2}, {1, first, 4},
		{9, first, math.MaxInt},
	} {
		if got := ahead(candidates, map[memory.MessageID]bool{c.evidence: true}, c.without); got != c.want {
			t.Errorf("%d are ahead of %d, want %d", got, c.evidence, c.want)
		}
	}
	if got := ahead(candidates, map[memory.MessageID]bool{2: true, 1: true}, first); got != 1 {
		t.Errorf("%d are ahead of the better of two, want 1", got)
	}
}
