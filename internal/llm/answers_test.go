package llm

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/internal/chat"
	"hark/internal/golden"
)

// bodies are answers as servers write them, one file each, by the names of their kinds.
func bodies(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/answers/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	all := map[string][]byte{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".txt")] = data
	}
	return all
}

// asking is a request with two tools.
var asking = chat.Request{
	Messages: []chat.Message{{Role: chat.User, Content: "When is the report due?"}},
	Tools:    []chat.Tool{search, {Name: "current_time"}},
}

// What becomes of each answer is written down.
func TestAnswers(t *testing.T) {
	t.Parallel()
	all := bodies(t)
	var told strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var passed strings.Builder
		reply, err := readAs(asking, wire{body: all[name]}, func(s string) { passed.WriteString(s) })
		again, err2 := readAs(asking, wire{body: all[name], slow: true}, nil)
		if outcome(reply, err) != outcome(again, err2) {
			t.Errorf("%s: %s at once, and %s byte by byte", name, outcome(reply, err), outcome(again, err2))
		}
		if !strings.HasSuffix(passed.String(), reply.Text) || strings.Contains(passed.String(), "tool_call>") &&
			!strings.Contains(passed.String(), "`") {
			t.Errorf("%s: passed on %q", name, passed.String())
		}
		fmt.Fprintf(&told, "%s: %s\n", name, outcome(reply, err))
	}
	golden.Seen(t, told.String())
}

// outcome tells what became of an answer.
func outcome(r chat.Reply, err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q, %s, %d+%d tokens", r.Text, r.FinishReason, r.PromptTokens, r.CompletionTokens)
	for _, c := range r.Calls {
		fmt.Fprintf(&b, ", %s(%s)", c.Name, c.Arguments)
	}
	if err != nil {
		fmt.Fprintf(&b, ", %v", KindOf(err))
	}
	return b.String()
}

// The stream of a model that repeats itself is ended by Hark, long before the model would.
func TestARepetitionEndsTheCall(t *testing.T) {
	t.Parallel()
	event := `data: {"choices":[{"delta":{"content":"I don't know. "}}]}` + "\n\n"
	body := []byte(strings.Repeat(event, 400))
	var passed strings.Builder
	after := wire{body: body, then: func() (int, error) {
		t.Error("the stream was read to its end")
		return 0, io.ErrUnexpectedEOF
	}}
	reply, err := readAs(asking, after, func(s string) { passed.WriteString(s) })
	if err != nil || reply.Text != "I don't know. " || reply.FinishReason != "length" || passed.Len() > 3000 {
		t.Errorf("%q, %s, %v; passed on %d bytes", reply.Text, reply.FinishReason, err, passed.Len())
	}
}

// Headings of the prompt aren't shown, of a stream or of an answer that comes whole.
func TestHeadingsAreLeftOut(t *testing.T) {
	t.Parallel()
	asked := asking
	asked.Headings = []string{"=== CURRENT QUERY ==="}
	whole := []byte(`{"choices":[{"message":{"content":"=== CURRENT QUERY ===\nOn Friday."},"finish_reason":"stop"}]}`)
	streamed := streamOf("stop", `{"content":"=== CURR"}`, `{"content":"ENT QUERY ===\nOn"}`, `{"content":" Friday."}`)
	for _, body := range [][]byte{whole, streamed} {
		var passed strings.Builder
		reply, err := readAs(asked, wire{body: body}, func(s string) { passed.WriteString(s) })
		if err != nil || reply.Text != "On Friday." || passed.String() != reply.Text {
			t.Errorf("%q, %v; passed on %q", reply.Text, err, passed.String())
		}
	}
}
