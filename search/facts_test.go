package search_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hark/internal/embed"
	"hark/memory"
	"hark/search"
)

// telling is a directory that knows facts about Pim.
type telling struct {
	search.Directory
	facts []memory.Fact
}

func (d telling) People(ctx context.Context, guild memory.GuildID, ids ...memory.UserID) ([]memory.Person, error) {
	people, err := d.Directory.People(ctx, guild, ids...)
	for i := range people {
		if people[i].ID == pim {
			people[i].Facts = d.facts
		}
	}
	return people, err
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
	e := search.New(k.store, telling{k.store, facts}, embed.Builtin{})
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
		r, err := e.Search(t.Context(), ask(tt.question, tt.channels...))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range r.People {
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
	facts := []memory.Fact{{ID: 2, By: pim, Text: "Goatherd", Alias: true}}
	e := search.New(k.store, telling{k.store, facts}, embed.Builtin{})
	r, err := e.Search(t.Context(), ask("what did the goatherd say of supper?", green))
	if err != nil {
		t.Fatal(err)
	}
	if r.Hits[0].Message.ID != wanted {
		t.Fatalf("hits %v, want %d first", hitIDs(r), wanted)
	}
	found := false
	for _, w := range r.Hits[0].Why {
		found = found || w.Kind == "author"
	}
	if !found {
		t.Errorf("found by %+v", r.Hits[0].Why)
	}
}
