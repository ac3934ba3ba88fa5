package search_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

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
		"Project X": {1}, "the X project": {1}, "PX": {1}, "my migration plan": {2}, "big move": {2},
		"move": {2, 3}, "piano": {3}, "project": {1}, "the": nil, "": nil, "yacht": nil,
	} {
		var got []int64
		for _, l := range search.LoreNamed(s, lore) {
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

func TestFactsAreKnownWhereTheyWereSaid(t *testing.T) {
	t.Parallel()
	k, ids := gossip(t)
	facts := []memory.Fact{
		{ID: 1, By: pim, Text: "brews"},
		{ID: 2, By: pim, Text: "Goatherd", Alias: true},
		{ID: 3, By: pim, Text: "likes stout", Channel: pub, Message: ids["beer"]},
		{ID: 4, By: pim, Text: "Stoutface", Alias: true, Channel: pub, Message: ids["beer"]},
	}
	e := k.knowing(nil, facts...)
	for _, tt := range []struct {
		question string
		channels []memory.ChannelID
		want     string // the ids of the facts told of Pim, if he is introduced as asked about
	}{
		{"what does the goatherd say?", []memory.ChannelID{green, pub}, "[1 2 3 4]"},
		{"what does the goatherd say?", []memory.ChannelID{green}, "[1 2]"},
		{"what does stoutface say?", []memory.ChannelID{green, pub}, "[1 2 3 4]"},
		{"what does stoutface say?", []memory.ChannelID{green}, ""},
	} {
		got := ""
		for _, p := range find(t, e, ask(tt.question, tt.channels...)).People {
			if p.Person.ID == pim && p.Main {
				var told []int64
				for _, f := range p.Person.Facts {
					told = append(told, f.ID)
				}
				got = fmt.Sprint(told)
			}
		}
		if got != tt.want {
			t.Errorf("%q in %v: %q, want %q", tt.question, tt.channels, got, tt.want)
		}
	}
}

// Somebody's alias makes what they said stand out, as their name would.
func TestAliasesSelectSpeakers(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.say(t, dawn, green, oswin, "I would like some supper")
	wanted := k.say(t, dawn.Add(time.Hour), green, pim, "we had supper outside")
	k.index(t)
	e := k.knowing(nil, memory.Fact{ID: 2, By: pim, Text: "Goatherd", Alias: true})
	r := find(t, e, ask("what did the goatherd say of supper?", green))
	if r.Hits[0].Message.ID != wanted {
		t.Fatalf("hits %v, want %d first", hitIDs(r), wanted)
	}
	if !isFor(r.Hits[0], "author") {
		t.Errorf("found by %+v", r.Hits[0].Why)
	}
}
