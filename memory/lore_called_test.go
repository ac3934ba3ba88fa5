package memory_test

import (
	"testing"

	. "hark/memory"
)

func TestLoreCalled(t *testing.T) {
	t.Parallel()
	lore := []Lore{{ID: 1, Name: "Project X", Own: []string{"website"}}, {ID: 2, Name: "Website"},
		{ID: 3, Name: "Barn", Own: []string{"place"}}, {ID: 4, Name: "Orchard", Own: []string{"Place"}}}
	for name, want := range map[string][]int64{
		"project x": {1}, " WEBSITE ": {2}, "px": {1}, "the x project": {1}, "3": {3}, "place": {3,
			4}, "shed": nil, "": nil,
	} {
		var got []int64
		for _, l := range LoreCalled(lore, name) {
			got = append(got, l.ID)
		}
		if len(got) != len(want) || len(got) > 0 && (got[0] != want[0] || got[len(got)-1] != want[len(want)-1]) {
			t.Errorf("%q calls %v, want %v", name, got, want)
		}
	}
}
