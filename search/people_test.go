package search

import (
	"slices"
	"testing"

	"hark/memory"
)

func TestNamesInCamelCaseAreNamesInEachPart(t *testing.T) {
	t.Parallel()
	k := people{byID: map[memory.UserID]memory.Person{}, names: map[string][]memory.UserID{}}
	k.add(memory.Person{ID: 1, Name: "DarkKnight"})
	named := k.namedIn("what did DarkKnight cook")
	if got := k.terms(named); !slices.Equal(got, []string{"darkknight", "dark", "knight"}) {
		t.Errorf("%v is called by the terms %q", named, got)
	}
}
