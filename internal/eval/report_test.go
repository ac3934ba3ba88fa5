package eval

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hark/internal/golden"
	"hark/memory"
	"hark/search"
)

// ranks is a list of n ids that nothing asks for, with id at place at, from 1.
func ranks(n int, places map[int]string) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint("other", i)
		if id, ok := places[i+1]; ok {
			ids[i] = id
		}
	}
	return ids
}

func TestReport(t *testing.T) {
	t.Parallel()
	shown := func(small, middle, large []string) map[string]Context {
		return map[string]Context{"2000": {small, "", 500}, "4000": {middle, "", 1000},
			"8000": {large, "", 2000}}
	}
	a, ab := []string{"a"}, []string{"b", "a"}
	var r Report
	for _, o := range []Outcome{
		{Set: "one", Evidence: []string{"a"}, Ranked: ranks(20, map[int]string{5: "a"}),
			Context: shown(nil, a, a), Millis: 4},
		{Set: "one", Evidence: []string{"a", "b"}, Ranked: ranks(20, map[int]string{6: "a", 11: "b"}),
			Context: shown(a, a, ab), Millis: 1},
		{Set: "one", Evidence: []string{"a", "b"}, Ranked: ranks(20, map[int]string{1: "b", 10: "a"}),
			Context: shown(ab, ab, ab), Millis: 3},
		{Set: "one", Evidence: []string{"a"}, Ranked: []string{"z"}, Context: shown(nil, nil, nil), Millis: 2},
		{Set: "two", Evidence: nil, Ranked: a, Context: shown(a, a, a), Millis: 50},
		{Set: "one", Evidence: nil, Ranked: nil, Context: shown(a, a, a), Millis: 100},
		{Set: "two", Evidence: a, Ranked: a, Context: shown(a, a, a), Millis: 50},
	} {
		r.Add(o)
	}
	hit := func(id memory.MessageID, relevance float64) search.Hit {
		return search.Hit{Message: memory.Message{ID: id}, Relevance: relevance}
	}
	// without evidence
	r.Add(Outcome{Set: "three", Hits: []search.Hit{hit(7, 0.9)}, Near: map[memory.MessageID]bool{7: true}})
	r.Add(Outcome{Set: "four", Evidence: a, Hits: []search.Hit{hit(1, 0.99), hit(2, 0.8), hit(3, 0.79),
		hit(4, 0)}, Near: map[memory.MessageID]bool{1: true, 4: true}})
	var b strings.Builder
	r.Write(&b)
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	want := [][]string{
		{"set", "questions", "any@5", "any@10", "recall@10", "p50", "ms", "p95", "ms"},
		// any@5 2 of 4, any@10 3, recall@10 (1 + ½ + 1 + 0) / 4
		{"one", "4", "50.0", "75.0", "62.5", "3.0", "100.0"},
		{"two", "1", "100.0", "100.0", "100.0", "50.0", "50.0"},
		{"three", "0", "0.0", "0.0", "0.0", "0.0", "0.0"},
		{"four", "1", "0.0", "0.0", "0.0", "0.0", "0.0"},
		{},
		{"history of", "characters", "tokens", "any evidence", "all evidence"},
		// any, all: 2, 1; 3, 2; 3, 3 of 4
		{"one 2000 500 50.0 25.0"}, {"one 4000 1000 75.0 50.0"}, {"one 8000 2000 75.0 75.0"},
		{"two 2000 500 100.0 100.0"}, {"two 4000 1000 100.0 100.0"}, {"two 8000 2000 100.0 100.0"},
		{"three 2000 0 0.0 0.0"}, {"three 4000 0 0.0 0.0"}, {"three 8000 0 0.0 0.0"},
		{"four 2000 0 0.0 0.0"}, {"four 4000 0 0.0 0.0"}, {"four 8000 0 0.0 0.0"},
		{},
		{"of hits with a relevance of", "one", "two", "three", "four"},
		{"0.8 to 1.0 were right", "none", "none", "none", "50 % of 2"},
		{"0.6 to 0.8 were right", "none", "none", "none", "0 % of 1"},
		{"0.4 to 0.6 were right", "none", "none", "none", "none"},
		{"0.2 to 0.4 were right", "none", "none", "none", "none"},
		{"0.0 to 0.2 were right", "none", "none", "none", "100 % of 1"},
	}
	if len(lines) != len(want) {
		t.Fatalf("got:\n%s", b.String())
	}
	for i, line := range lines {
		if got := strings.Join(strings.Fields(line), " "); got != strings.Join(want[i], " ") {
			t.Errorf("got  %s\nwant %s", got, strings.Join(want[i], " "))
		}
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, tt := range []struct {
		values []float64
		p      int
		want   float64
	}{
		{nil, 50, 0}, {[]float64{7}, 95, 7}, {[]float64{7}, 0, 7}, {[]float64{2, 1}, 50,
			1}, {[]float64{3, 1, 2}, 50, 2},
		{hundred, 50, 50}, {hundred, 95, 95}, {hundred, 100, 100}, {hundred[:20], 95, 99},
	} {
		if got := percentile(tt.values, tt.p); got != tt.want {
			t.Errorf("%d%% of %d values is %v, want %v", tt.p, len(tt.values), got, tt.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the values were sorted in place")
	}
}

func TestReportTellsWhatWasLacking(t *testing.T) {
	t.Parallel()
	var r Report
	r.Add(Outcome{Set: "one"})
	if lacks := r.Lacks(); len(lacks) > 0 {
		t.Errorf("it lacks %q", lacks)
	}
	r.Add(Outcome{Set: "one", TextOnly: true, RerankFailed: errors.New("down")})
	r.Add(Outcome{Set: "two", RerankFailed: errors.New("resting")})
	golden.Seen(t, strings.Join(r.Lacks(), "\n"))
}
