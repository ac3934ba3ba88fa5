package eval

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hark/builder"
	"hark/internal/embed"
	"hark/internal/golden"
	"hark/internal/tokens/tokenstest"
	"hark/memory"
)

// set is two channels with three questions, of which the last has no answer.
const set = `{"type":"message","channel":"trip","id":"a1","author":"Ada","time":"2024-05-01T10:00:00Z","text":"The ferry to the island leaves at noon."}
{"type":"message","channel":"trip","id":"a2","author":"Ben","time":"2024-05-01T10:01:00Z","text":"I packed the tent."}
{"type":"message","channel":"trip","id":"a3","author":"Ada","time":"2024-05-09T10:01:00Z","text":"The ferry leaves at midnight from now on."}
{"type":"message","channel":"home","id":"a1","author":"Cleo","time":"2024-05-01T10:00:00Z","text":"The ferry model stands on the shelf."}
{"type":"question","channel":"trip","id":"q1","text":"When does the ferry leave?","time":"2024-05-02T00:00:00Z","category":"time","evidence":["a1"]}
{"type":"question","channel":"home","id":"q2","text":"Where is the ferry model?","time":"2024-05-02T00:00:00Z","evidence":["a1"]}
{"type":"question","channel":"trip","id":"q3","text":"Who cooked?","time":"2024-05-02T00:00:00Z","evidence":[]}
`

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zip(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func evaluator(t *testing.T) *Evaluator {
	t.Helper()
	b, err := builder.New(builder.Options{Citations: true}, tokenstest.For(""))
	if err != nil {
		t.Fatal(err)
	}
	return &Evaluator{Embedder: embed.Builtin{}, Builder: b}
}

func outcomes(t *testing.T, path string) []Outcome {
	t.Helper()
	var all []Outcome
	err := evaluator(t).Run(t.Context(), path, func(o Outcome) error { all = append(all, o); return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRunAsksAtTheQuestionsTimeInItsChannel(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"my.trip.jsonl": set, "my.trip.jsonl.gz": zip(set)} {
		all := outcomes(t, write(t, name, content))
		if len(all) != 3 {
			t.Fatalf("%d outcomes", len(all))
		}
		for i, o := range all {
			if o.Set != "my.trip" || o.ID != fmt.Sprint("q", i+1) || o.Millis <= 0 {
				t.Errorf("outcome %+v", o)
			}
		}
		if got := all[0].Ranked; len(got) == 0 || got[0] != "a1" || slices.Contains(got, "a3") {
			t.Errorf("q1 ranked %v", got)
		}
		if got := all[1].Ranked; !slices.Equal(got, []string{"a1"}) ||
			!strings.Contains(all[1].Context["2000"].Text, "stands on the shelf") {
			t.Errorf("q2 ranked %v in %q", got, all[1].Context["2000"].Text)
		}
		if got := all[0].Context["4000"]; !slices.Contains(got.Messages, "a1") ||
			!strings.Contains(got.Text, "leaves at noon") {
			t.Errorf("q1 in context: %+v", got)
		}
	}
}

func TestRunLineIsAsDesigned(t *testing.T) {
	t.Parallel()
	o := outcomes(t, write(t, "s.jsonl", set))[2]
	o.Millis = 1.5
	o.Ranked, o.Context = []string{"a2"}, map[string]Context{}
	for _, budget := range Budgets {
		o.Context[fmt.Sprint(budget)] = Context{Messages: []string{}, Text: "x"}
	}
	line, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"set":"s","id":"q3","ranked":["a2"],"context":{"2000":{"messages":[],"text":"x"},"4000":{"messages":[],"text":"x"},"8000":{"messages":[],"text":"x"}},"ms":1.5}`
	if string(line) != want {
		t.Errorf("got %s\nwant %s", line, want)
	}
}

func TestNothingFoundIsListsNotNull(t *testing.T) {
	t.Parallel()
	early := strings.ReplaceAll(set, "2024-05-02", "2023-05-02")
	for _, o := range outcomes(t, write(t, "s.jsonl", early)) {
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), "null") || strings.Count(string(line), "[]") != 4 {
			t.Errorf("got %s", line)
		}
	}
}

// talk is a long conversation with questions about it.
func talk(channel string, messages int) string {
	var b strings.Builder
	for i := range messages {
		fmt.Fprintf(&b, `{"type":"message","channel":%q,"id":"m%d","author":"A%d","time":"2024-05-%02dT10:%02d:00Z","text":"item%d ferry %s"}`+"\n",
			channel, i, i%3, 1+i/50, i%50, i, strings.Repeat("wörd ", i%90))
	}
	for i := range 5 {
		fmt.Fprintf(&b, `{"type":"question","channel":%q,"id":"q%d","text":"Which ferry has item%d?","time":"2024-06-01T00:00:00Z","evidence":["m%d"]}`+"\n", channel, i, i*37, i*37)
	}
	return b.String()
}

func TestRankedAndContextKeepTheirBounds(t *testing.T) {
	t.Parallel()
	const messages = 200
	for _, o := range outcomes(t, write(t, "talk.jsonl", talk("c", messages))) {
		seen := map[string]bool{}
		for _, id := range o.Ranked {
			if seen[id] {
				t.Errorf("%s is ranked twice", id)
			}
			seen[id] = true
		}
		if len(seen) < 50 {
			t.Errorf("%d ranked", len(seen))
		}
		if o.Ranked[0] != o.Evidence[0] {
			t.Errorf("%s: %s is first", o.ID, o.Ranked[0])
		}
		for _, budget := range Budgets {
			c := o.Context[fmt.Sprint(budget)]
			if n := utf8.RuneCountInString(c.Text); n > budget || n < budget/2 {
				t.Errorf("%d characters in %d", n, budget)
			}
			for i := range messages {
				id := fmt.Sprint("m", i)
				whole := strings.TrimSpace(fmt.Sprintf("item%d ferry %s", i, strings.Repeat("wörd ", i%90)))
				if got, want := slices.Contains(c.Messages, id), shareShown(c.Text, whole) >= 0.6; got != want {
					t.Errorf("%s in %d: counted %v, shown %.2f", id, budget, got, shareShown(c.Text, whole))
				}
			}
		}
	}
}

// shareShown is how much of message's beginning is in text.
func shareShown(text, message string) float64 {
	runes := []rune(message)
	head, _, _ := strings.Cut(message, " ferry")
	if !strings.Contains(text, head+" ") {
		return 0
	}
	n := len(runes)
	for n > 0 && !strings.Contains(text, string(runes[:n])) {
		n--
	}
	return float64(n) / float64(len(runes))
}

func TestSetWithoutQuestionsHasNoOutcomes(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(set, "\n")
	if all := outcomes(t, write(t, "s.jsonl", lines[0]+lines[1])); len(all) > 0 {
		t.Errorf("outcomes %+v", all)
	}
}

func TestBadSetsAreToldClearly(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(set, "\n")
	var told strings.Builder
	for _, c := range []struct{ name, file string }{
		{"cut", set[:len(set)-20]},
		{"no messages", lines[4]},
		{"no such channel", lines[3] + lines[4]},
		{"unknown evidence", lines[1] + lines[4]},
		{"impossible times", strings.Replace(set, "2024-05-01", "0024-05-01", 1)},
	} {
		path := write(t, "bad.jsonl", c.file)
		err := evaluator(t).Run(t.Context(), path, func(Outcome) error { t.Error("asked"); return nil }, nil)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s: %v", c.name, err)
		}
		fmt.Fprintf(&told, "%s: %s\n", c.name, strings.ReplaceAll(err.Error(), path, "bad.jsonl"))
	}
	golden.Seen(t, told.String())
	if err := evaluator(t).Run(t.Context(), "/nowhere/set.jsonl", nil, nil); !errors.Is(err,
		os.ErrNotExist) || !strings.Contains(err.Error(), "/nowhere/set.jsonl") {
		t.Errorf("missing file: %v", err)
	}
}

// broken is an embedder that can't store.
type broken struct{ embed.Builtin }

var errEmbed = errors.New("no more vectors")

func (broken) Embed(context.Context, memory.Purpose, []string) ([][]float32, error) {
	return nil, errEmbed
}

func TestRunStopsAndCleansUp(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	path := write(t, "s.jsonl", set)
	stop := errors.New("enough")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := evaluator(t)
	asked := 0
	tests := []struct {
		name string
		e    *Evaluator
		each func(Outcome) error
		want error
	}{
		{"all asked", e, func(Outcome) error { return nil }, nil},
		{"no vectors", &Evaluator{Embedder: broken{}, Builder: e.Builder}, func(Outcome) error { return nil },
			errEmbed},
		{"stopped", e, func(Outcome) error { return stop }, stop},
		{"cancelled while asking", e, func(Outcome) error { asked++; cancel(); return nil }, context.Canceled},
		{"cancelled before", e, func(Outcome) error { asked++; return nil }, context.Canceled},
	}
	for _, tt := range tests {
		var told []int
		err := tt.e.Run(ctx, path, tt.each, func(done, total int) { told = append(told, done, total) })
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.want == nil && !reflect.DeepEqual(told, []int{1, 3, 2, 3, 3, 3}) {
			t.Errorf("progress %v", told)
		}
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("%s: %v is left", tt.name, left)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d after cancelling", asked)
	}
	t.Setenv("TMPDIR", filepath.Join(tmp, "missing"))
	if err := e.Run(t.Context(), path, nil, nil); err == nil || !strings.Contains(err.Error(), "temporary store") {
		t.Errorf("without a place: %v", err)
	}
}

func TestSetName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/x/locomo-dev.jsonl.gz": "locomo-dev", "a.jsonl": "a", "v1.2.jsonl": "v1.2", "plain": "plain",
	} {
		if got := SetName(path); got != want {
			t.Errorf("%s is called %s", path, got)
		}
	}
}
