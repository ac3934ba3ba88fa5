package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAliasesOfNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		want []string
	}{
		{"Project X", []string{"x project", "the x project", "project-x", "projectx", "PX"}},
		{"project-x", []string{"x project", "the x project", "project-x", "projectx", "PX"}},
		{"My migration plan", []string{"plan migration", "the plan migration", "migration-plan",
			"migrationplan", "MP"}},
		{"The Lord of the Rings", []string{"of the rings lord", "the of the rings lord", "lord-of-the-rings",
			"lordoftherings", "LOTR"}},
		{"Café Zoë's", []string{"zoe cafe", "the zoe cafe", "cafe-zoe", "cafezoe", "CZ"}},
		{"Plan 9", []string{"9 plan", "the 9 plan", "plan-9", "plan9", "P9"}},
		{"tomatoes", nil},
		{"the tomatoes", nil},
		{"the", nil},
		{"移行計画", nil},
		{"?!", nil},
		{"", nil},
	} {
		if got := Aliases(c.name); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLoreIsChecked(t *testing.T) {
	t.Parallel()
	sound := func(change func(*Lore)) Lore {
		l := Lore{ID: 1, Guild: 5, Name: "Project X", Text: "is due", At: time.UnixMilli(1e12)}
		change(&l)
		return l
	}
	for _, c := range []struct {
		lore    Lore
		refused bool
	}{
		{sound(func(*Lore) {}), false},
		{sound(func(l *Lore) { l.Name = "?!" }), true},
		{sound(func(l *Lore) { l.Name = strings.Repeat("ü", MaxLoreName) }), false},
		{sound(func(l *Lore) { l.Name = strings.Repeat("ü", MaxLoreName+1) }), true},
		{sound(func(l *Lore) { l.Text = " \x00\n" }), true},
		{sound(func(l *Lore) { l.Text = strings.Repeat("ü", MaxLoreText) }), false},
		{sound(func(l *Lore) { l.Text = strings.Repeat("ü", MaxLoreText+1) }), true},
		{sound(func(l *Lore) { l.Own = []string{strings.Repeat("x", MaxLoreName+1)} }), true},
		{sound(func(l *Lore) { l.Own = numbered(MaxLoreAliases) }), false},
		{sound(func(l *Lore) { l.Own = numbered(MaxLoreAliases + 1) }), true},
		{sound(func(l *Lore) { l.Sources = spots(MaxLoreSources + 1) }), true},
		{sound(func(l *Lore) { l.ID = 0 }), true},
		{sound(func(l *Lore) { l.At = time.Time{} }), true},
		{sound(func(l *Lore) { l.Guild = DirectGuild }), true},
		{sound(func(l *Lore) { l.Guild, l.Channel = DirectGuild, 7 }), false},
	} {
		_, err := c.lore.Checked()
		if c.refused {
			wantRefusal(t, err)
		} else if err != nil {
			t.Errorf("%+v: %v", c.lore, err)
		}
	}
}

func numbered(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("alias ", i))
	}
	return all
}

func spots(n int) []MessageRef {
	var all []MessageRef
	for i := range n {
		all = append(all, MessageRef{Channel: 3, Message: MessageID(n - i)})
	}
	return all
}

func TestLoreIsCleaned(t *testing.T) {
	t.Parallel()
	l, err := Lore{
		ID: 1, Guild: 5, Name: " Project \n X\x00 ", Text: " first\nsecond\xff ", At: time.UnixMilli(1e12),
		Own:     []string{"", " the  big\tone ", "THE BIG ONE", "project x"},
		Sources: []MessageRef{{4, 2}, {3, 9}, {4, 1}, {3, 9}},
	}.Checked()
	if err != nil || l.Name != "Project X" || l.Text != "first\nsecond\uFFFD" ||
		!slices.Equal(l.Own, []string{"the big one"}) {
		t.Errorf("%+v, %v", l, err)
	}
	if !slices.Equal(l.Sources, []MessageRef{{3, 9}, {4, 1}, {4, 2}}) {
		t.Errorf("sources %v", l.Sources)
	}
}

func TestLoreCalled(t *testing.T) {
	t.Parallel()
	lore := []Lore{{ID: 1, Name: "Project X", Own: []string{"website"}}, {ID: 2, Name: "Website"},
		{ID: 3, Name: "Barn", Own: []string{"place"}}, {ID: 4, Name: "Orchard", Own: []string{"Place"}}}
	for name, want := range map[string][]int64{
		"project x": {1}, " WEBSITE ": {2}, "px": {1}, "the x project": {1}, "3": {3}, "place": {3, 4},
		"shed": nil, "": nil,
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
