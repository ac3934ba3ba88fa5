package stream

import (
	"encoding/json"
	"strings"
	"testing"
)

// The prompt's headings aren't shown, not even for a moment, however the answer comes. What is only like one is.
func TestHeadings(t *testing.T) {
	t.Parallel()
	headings := []string{"=== CURRENT QUERY ===", "📋 Participants:", "CURRENT QUERY:"}
	for said, want := range map[string]string{
		"=== CURRENT QUERY ===\nOn Friday.":                       "On Friday.",
		"On Friday.\n\n=== CURRENT QUERY ===\n\nIt is.":           "On Friday.\n\nIt is.",
		"On Friday.\n  📋 Participants: \r\n- Jane":                "On Friday.\n- Jane",
		"On Friday.\n=== CURRENT QUERY ===":                       "On Friday.\n",
		"=== CURRENT QUERY ===":                                   "",
		"CURRENT QUERY:\n📋 Participants:\n\nJane":                 "Jane",
		"<think>hm</think>=== CURRENT QUERY ===\nOn Friday.":      "On Friday.",
		"<|im_start|>assistant\n=== CURRENT QUERY ===\nOn Friday": "On Friday",
		"=== CURRENT QUERY":                                       "=== CURRENT QUERY",
		"=== CURRENT QUERY === is a heading":                      "=== CURRENT QUERY === is a heading",
		"it is === CURRENT QUERY ===\nthere":                      "it is === CURRENT QUERY ===\nthere",
		"📋 Participants: Jane":                                    "📋 Participants: Jane",
		"```\n=== CURRENT QUERY ===\n```":                         "```\n=== CURRENT QUERY ===\n```",
		"=== TITLE ===\nOn Friday.":                               "=== TITLE ===\nOn Friday.",
		"Thought: I know.\nCURRENT QUERY:\nOn Friday.":            "Thought: I know.\nOn Friday.",
	} {
		for n := 1; n < 30; n++ {
			var shown strings.Builder
			a := NewAnswer(func(s string) { shown.WriteString(s) }, tools, headings)
			for _, piece := range inPieces(said, n) {
				err := a.Add([]byte(delta(`"content":` + quoted(piece))))
				if err != nil {
					t.Fatal(err)
				}
			}
			reply, _ := a.End()
			if reply.Text != want || shown.String() != want {
				t.Errorf("%q in pieces of %d: %q, shown %q; want %q", said, n, reply.Text, shown.String(), want)
			}
		}
	}
}

// inPieces cuts a text into pieces of n characters.
func inPieces(said string, n int) (pieces []string) {
	all := []rune(said)
	for len(all) > n {
		pieces = append(pieces, string(all[:n]))
		all = all[n:]
	}
	return append(pieces, string(all))
}

// quoted is a text as JSON.
func quoted(said string) string {
	data, _ := json.Marshal(said) // a string always encodes
	return string(data)
}
