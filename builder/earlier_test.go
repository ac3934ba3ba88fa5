package builder

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// UnmarshalJSON has golden files write a summary that has neither time nor relevance as its text.
func (e *Earlier) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &e.Text)
	}
	type plain Earlier
	return json.Unmarshal(data, (*plain)(e))
}

// The least relevant summaries go first, of equals the oldest; what stays stands in order of time, with its time.
func TestTheMostRelevantSummariesStay(t *testing.T) {
	t.Parallel()
	in := Input{Now: noon, Query: Turn{Content: "what?"}}
	for i, relevance := range []float64{0.2, 0.9, 0.2, 0.1, 0.5, 1} {
		in.PreviousContext = append(in.PreviousContext, Earlier{
			Text: fmt.Sprintf("summary%d %s", i,
				strings.Repeat("words and more words ", 15)), Time: noon.AddDate(0, 0, i-9), Relevance: relevance,
		})
	}
	best := []int{5, 1, 4, 2, 0, 3}
	for _, layout := range []Layout{LayoutSections, LayoutPlain, LayoutChat} {
		seen := map[int]bool{}
		for budget := 600; budget < 4000; budget += 50 {
			o := Options{Layout: layout, MaxTokens: budget}
			p := newBuilder(t, o).Build(in)
			holds(t, o, p)
			text, last := p.String(), -1
			n := 0
			for i, e := range in.PreviousContext {
				at := strings.Index(text, fmt.Sprintf("summary%d ", i))
				if at < 0 {
					continue
				}
				n++
				if at < last {
					t.Errorf("%s: %d stands before an older one", layout, i)
				}
				last = at
				if dated := strings.Contains(text, "[previous_context] "+
					string(appendStamp(nil, e.Time, noon, false))+
					fmt.Sprintf(" summary%d ", i)); dated != (layout != LayoutPlain) {
					t.Errorf("%s: %d has its time: %t\n%s", layout, i, dated, text)
				}
			}
			seen[n] = true
			for rank, i := range best {
				if got := strings.Contains(text, fmt.Sprintf("summary%d ", i)); got != (rank < n) {
					t.Errorf("%s, %d tokens: %d are shown, and %d among them is %t", layout, budget, n, i, got)
				}
			}
		}
		if len(seen) < 3 && layout != LayoutPlain { // which shows the best three at once
			t.Errorf("%s: only %v were shown at different budgets", layout, seen)
		}
	}
}
