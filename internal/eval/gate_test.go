package eval

import "testing"

func TestGateAsksQuestionsAndLines(t *testing.T) {
	t.Parallel()
	var all []Gated
	lines := []string{"thanks!", "when did {name} say the ferry leaves?", "who stole the zeppelin of the mayor?"}
	err := evaluator(t).Gate(t.Context(), write(t, "trip.jsonl", set), lines, func(g Gated) error {
		all = append(all, g)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3+3 || all[0].Line != -1 || !all[0].Found || all[0].Declined || all[2].Found {
		t.Fatalf("asked %+v", all)
	}
	for i, want := range []Gated{{Line: 0, Declined: true}, {Line: 1}, {Line: 2, Declined: true}} {
		if got := all[3+i]; got.Set != "trip" || got.Line != want.Line || got.Declined != want.Declined {
			t.Errorf("line %d: %+v", want.Line, got)
		}
	}
}
