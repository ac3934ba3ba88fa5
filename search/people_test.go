package search

import (
	"slices"
	"testing"

	"hark/memory"
)

func TestNamesInCamelCaseAreNamesInEachPart(t *testing.T) {
	t.Parallel()
	list := []memory.Person{{ID: 1, Name: "DarkKnight"}}
	k := people{guilds: []members{{newRoster(list), list}}}
	named := k.namedIn("what did DarkKnight cook")
	if got := k.terms(named); !slices.Equal(got, []string{"darkknight", "dark", "knight"}) {
		t.Errorf("%v is called by the terms %q", named, got)
	}
}
