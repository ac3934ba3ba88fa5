package memory_test

import (
	"slices"
	"testing"
	"time"

	. "hark/memory"
)

// A statement counts until a member contradicts it, and again when an admin states it again, whatever the clock says.
func TestStatementsAreRefuted(t *testing.T) {
	t.Parallel()
	const staff, verified, bots, gone RoleID = 51, 52, 53, 54
	g := &Guild{ID: 50, Settings: map[Setting]string{}, SetBy: map[Setting]UserID{}, Roles: []Role{{ID: 50}, {ID: staff},
		{ID: verified}, {ID: bots, Bot: 7}}}
	i := Implied{Role: staff, Also: verified}
	now := time.UnixMilli(1_000_000)
	var last time.Time
	becomes := func(e SettingChosen) {
		t.Helper()
		if !e.At.After(last) || e.Guild != g.ID || e.Key != i.Setting() {
			t.Fatalf("%+v isn't later than %v", e, last)
		}
		last = e.At
		if e.Value == "" {
			delete(g.Settings, e.Key)
			return
		}
		g.Settings[e.Key] = e.Value
		g.SetBy[e.Key] = e.By
	}
	is := func(holds, suspended, untold bool) {
		t.Helper()
		for _, of := range []struct {
			want bool
			all  []Implied
		}{{holds, g.Implied()}, {suspended, g.Suspended()}, {untold, g.Untold()}} {
			if of.want != slices.Equal(of.all, []Implied{i}) || of.want != (len(of.all) > 0) {
				t.Fatalf("%v, want it there: %v; of %v", of.all, of.want, g.Settings)
			}
		}
	}
	is(false, false, false)
	becomes(g.Stated(i, 9, now))
	is(true, false, false)
	becomes(g.Refuted(i, now.Add(-time.Hour)))
	is(false, true, true)
	if g.SetBy[i.Setting()] != 9 {
		t.Error("who stated it isn't known any more")
	}
	becomes(g.Told(i, now.Add(-2*time.Hour)))
	is(false, true, false)
	becomes(g.Stated(i, 9, now.Add(-3*time.Hour)))
	is(true, false, false)
	becomes(g.TakenBack(i, 9, now.Add(-3*time.Hour)))
	is(false, false, false)
	g.Settings[i.Setting()] = "on" // without a time
	is(true, false, false)
	for _, none := range []Implied{{Role: staff, Also: gone}, {Role: bots, Also: verified}, {Role: 50, Also: verified}} {
		for _, e := range []SettingChosen{g.Stated(none, 9, now), g.Refuted(none, now)} {
			g.Settings[e.Key] = e.Value
			is(true, false, false)
		}
	}
}

func TestWhoContradictsAStatement(t *testing.T) {
	t.Parallel()
	i := Implied{Role: 51, Also: 52}
	for _, c := range []struct {
		name string
		p    Person
		want bool
	}{
		{"neither", Person{RolesKnown: true}, false},
		{"the first only", Person{RolesKnown: true, Roles: []RoleID{51, 53}}, true},
		{"the second only", Person{RolesKnown: true, Roles: []RoleID{52}}, false},
		{"both", Person{RolesKnown: true, Roles: []RoleID{52, 51}}, false},
		{"a bot", Person{RolesKnown: true, Roles: []RoleID{51}, Bot: true}, false},
		{"roles that aren't known", Person{Roles: []RoleID{51}}, false},
	} {
		if c.p.Refutes(i) != c.want {
			t.Errorf("%s: refutes it: %v", c.name, !c.want)
		}
	}
}
