package reply

import (
	"testing"
	"time"
)

// Whatever is said instead of an answer is recognised, in every language and with every number, and no answer is.
func TestRefusalsAreRecognised(t *testing.T) {
	t.Parallel()
	for _, l := range everyLocale() {
		said := []string{l.Text(restarting), l.Text(askMe, 1521847841587200002)}
		for _, n := range []int{1, 5, 20, 12_345, 1_234_567} {
			said = append(said, tooMany(l, &fullError{waiting: n}), tooMany(l, &fullError{waiting: n, guild: true}))
			for _, of := range append(LimitNames, "") {
				said = append(said, LimitReached(l, &Hit{Of: of, Limit: n, until: time.Unix(1_750_000_000, 0)}),
					LimitReached(l, &Hit{Of: of, Limit: n}))
			}
		}
		for _, text := range said {
			if !refusals()[shapeOf(text)] {
				t.Errorf("%q isn't recognised", text)
			}
		}
	}
	for _, text := range []string{"", "Friday", "I'm busy", "It is on 5 July.", "5"} {
		if refusals()[shapeOf(text)] {
			t.Errorf("%q counts as a refusal", text)
		}
	}
}
