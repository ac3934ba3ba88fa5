package search_test

import (
	"slices"
	"testing"

	"hark/memory"
	"hark/search"
)

func TestLoreIsCalledByItsNames(t *testing.T) {
	t.Parallel()
	lore := []memory.Lore{
		{ID: 1, Name: "Project X"}, {ID: 2, Name: "Migration plan", Own: []string{"the big move"}}, {ID: 3,
			Name: "Move of the piano"}, {ID: 4, Name: "Yak"},
	}
	for s, want := range map[string][]int64{
		"Project X": {1}, "the X project": {1}, "PX": {1}, "my migration plan": {2}, "big move": {2}, "move": {2, 3}, "piano": {3}, "project": {1}, "the": nil, "": nil, "yacht": nil,
	} {
		var got []int64
		for _, l := range search.LoreCalled(s, lore) {
			got = append(got, l.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q calls %v, want %v", s, got, want)
		}
	}
}

func TestPeopleAreIntroducedByName(t *testing.T) {
	t.Parallel()
	k, _ := gossip(t)
	e := k.engine()
	for text, want := range map[string][]memory.UserID{
		"Pim": {pim}, "what does marta say?": {marta}, "Osvin": {oswin}, "Pim and Marta": {pim,
			marta}, "nobody here": nil, "": nil,
	} {
		q := ask(text, green)
		q.Asker = pim // isn't introduced for that
		people, err := e.Introduce(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var got []memory.UserID
		for _, p := range people {
			got = append(got, p.Person.ID)
			if !p.Main {
				t.Errorf("%q: %+v", text, p)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: introduced are %v, want %v", text, got, want)
		}
	}
	q := ask("", green)
	q.Mentions = []memory.UserID{oswin, 4711}
	everywhere, err := e.Introduce(t.Context(), q)
	if err != nil || len(everywhere) != 1 || everywhere[0].Presence.Messages == 0 {
		t.Errorf("mentioned: %+v, %v", everywhere, err)
	}
	q.Scope.Channels = nil
	if nowhere, err := e.Introduce(t.Context(), q); err != nil || nowhere[0].Presence != (memory.Presence{}) {
		t.Errorf("where nothing may be read: %+v, %v", nowhere, err)
	}
}
