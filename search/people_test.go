package search

import (
	"slices"
	"testing"

	"hark/memory"
)

func TestNamesInCamelCaseAreNamesInEachPart(t *testing.T) {
	t.Parallel()
	k := people{roster: new(Engine).roster(memory.People{{{ID: 1, Name: "DarkKnight"}}}), aliases: newNames()}
	named := k.namedIn("what did DarkKnight cook")
	if got := k.terms(named); !slices.Equal(got, []string{"darkknight", "dark", "knight"}) {
		t.Errorf("%v is called by the terms %q", named, got)
	}
}
