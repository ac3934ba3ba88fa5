package search

import (
	"runtime"
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

func TestARosterIsMadeAnewForAnotherList(t *testing.T) {
	t.Parallel()
	held := newIndexes(newRoster)
	ann, bea := []memory.Person{{ID: 1, Name: "Ann"}}, []memory.Person{{ID: 1, Name: "Bea"}}
	first := held.of(1, ann)
	if held.of(1, ann) != first {
		t.Error("a roster is made twice of one list")
	}
	if now := held.of(1, bea); len(now.named["ann"]) != 0 || len(now.named["bea"]) != 1 || len(held.by) != 1 {
		t.Error("the names of a list outlast it")
	}
	runtime.KeepAlive(ann)
}
