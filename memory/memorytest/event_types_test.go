package memorytest

import (
	"slices"
	"testing"
)

func TestTheModelHasARuleForEveryTypeOfEvent(t *testing.T) {
	t.Parallel()
	var ruled []string
	for of := range modelRules {
		ruled = append(ruled, of.Name())
	}
	slices.Sort(ruled)
	if want := EventTypes(t, ".."); !slices.Equal(ruled, want) {
		t.Errorf("the model has rules for %v\nwant %v", ruled, want)
	}
}
