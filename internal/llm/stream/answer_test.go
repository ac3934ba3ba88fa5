package stream

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"hark/internal/llm/failure"
)

// added is what an answer makes of events, each repeated n times.
func added(n int, events ...string) (*Answer, error) {
	a := NewAnswer(nil, tools, nil)
	for _, e := range events {
		for range n {
			err := a.Add([]byte(e))
			if err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

// delta is an event with a message's fields.
func delta(fields string) string { return `{"choices":[{"delta":{` + fields + `}}]}` }

// What a server puts beside a message is bounded, and many pieces of it take no longer than their length: else this test
// runs for many minutes.
func TestManyExtras(t *testing.T) {
	t.Parallel()
	const n = 10_000
	for _, fields := range []string{`"reasoning_content":"hm "`, `"reasoning_details":[{"index":0,"text":"hm "}]`,
		`"tool_calls":[{"index":0,"extra_content":{"text":"hm "},"function":{"name":"search_memory","arguments":"{"}}]`} {
		a, err := added(n, delta(fields))
		if err != nil {
			t.Fatalf("%s: %v", fields, err)
		}
		extra := a.Part().Extra
		if len(a.calls.all) > 0 {
			extra = a.calls.all[0].extra.all()
		}
		if got := strings.Count(fmt.Sprintf("%s", extra), "hm"); got != n {
			t.Errorf("%s: %d pieces are left", fields, got)
		}
	}
	long := strings.Repeat("x", 100_000)
	for _, fields := range []string{`"signature":"` + long + `"`,
		`"tool_calls":[{"index":0,"signature":"` + long + `","function":{"name":"a"}}]`} {
		_, err := added(400, delta(fields))
		if !errors.Is(err, ErrTooMuch) {
			t.Errorf("%s: %v", fields[:20], err)
		}
	}
}

// An answer may have no end without ever having a text.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	l := NewLines(io.NopCloser(strings.NewReader(": hi\n\n: hi\n\n")), func() {})
	l.size = maxBody - 7
	_, err := io.ReadAll(l)
	if !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
}

// A call whose name or arguments come again and again is read no more often than it must be.
func TestRepeatedCalls(t *testing.T) {
	t.Parallel()
	piece := func(arguments string) string {
		return delta(`"tool_calls":[{"index":0,"function":{"name":"search_memory","arguments":"` + arguments + `"}}]`)
	}
	a, err := added(1, piece(`{\"query\":\"`))
	for range 10_000 {
		if err == nil {
			err = a.Add([]byte(piece("x")))
		}
	}
	if err != nil || len(a.calls.all) != 1 {
		t.Errorf("%d calls, %v", len(a.calls.all), err)
	}
}

// Halves of characters are joined, and what isn't half a character stays as it is.
func TestHalves(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		contents []string
		want     string
	}{
		{[]string{`\ud83d`, `\ude00`}, "😀"},
		{[]string{"a\xf0", "\x9f\x98", "\x80b"}, "a😀b"},
		{[]string{`a\\ud83d`, `b`}, `a\ud83db`},
		{[]string{`a\\\ud83d`, ``, `\ude00`}, `a\😀`},
		{[]string{`\ud83d`, `x`}, "\ufffdx"},
		{[]string{`x\ud83d`}, "x"},
		{[]string{"é", "\xe9", "x"}, "é\ufffdx"},
	} {
		a := NewAnswer(nil, nil, nil)
		for _, c := range test.contents {
			err := a.Add([]byte(delta(`"content":"` + c + `"`)))
			if err != nil {
				t.Fatal(err)
			}
		}
		reply, _ := a.End()
		if reply.Text != test.want {
			t.Errorf("%q: %q; want %q", test.contents, reply.Text, test.want)
		}
	}
}

// Numbers that are none don't count.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]int{"12": 12, `"12"`: 12, "12.5": 12, `"NaN"`: 0, "-1": 0, "1e300": 0, `"Infinity"`: 0,
		`"-Inf"`: 0, "null": 0, "[1]": 0, "": 0} {
		n, is := numberOf([]byte(raw))
		if n != want || is != (want > 0) {
			t.Errorf("%q: %d, %v", raw, n, is)
		}
	}
}

// A server that can't read its own model's call says so in the reason why the answer ended.
func TestTornCalls(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL",
		"unexpected_tool_call"} {
		_, err := added(1, `{"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`)
		f, is := errors.AsType[failure.Failure](err)
		if !is || !f.IsOfText() {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
