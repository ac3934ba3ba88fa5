package builder

import "testing"

// What a session would take is the same however much room there is, and in the plain layout isn't that of the
// last exchanges.
func TestSessionUse(t *testing.T) {
	t.Parallel()
	var turns []Turn
	for range 20 {
		turns = append(turns, Turn{Speaker: "Ann", Author: 11, Content: "And the number of the island?"})
	}
	for layout, want := range map[Layout]int{LayoutSections: 1400, LayoutChat: 1400, LayoutPlain: 200} {
		o := Options{Layout: layout}
		if layout == LayoutPlain {
			o.MaxTokens = 700
		}
		b := newBuilder(t, o)
		few, room := b.SessionUse(turns[:10])
		many, _ := b.SessionUse(turns)
		if room != want || few < 100 || many < 2*few-20 || many > 2*few {
			t.Errorf("%s: %d and %d tokens of %d", layout, few, many, room)
		}
		if b.MaxTokens() != max(o.MaxTokens, map[Layout]int{LayoutPlain: 700}[layout],
			map[Layout]int{LayoutSections: 4000, LayoutChat: 4000}[layout]) {
			t.Errorf("%s: a prompt has %d tokens", layout, b.MaxTokens())
		}
	}
}
