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
	g.Owner = 9
	g.Settings[i.Setting()] = "on" // without a time, of the owner
	g.SetBy[i.Setting()] = 9
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

// A statement from before only the owner and administrators could make one counts only if the owner made it. The admins
// are told once, and any of them can state it again.
func TestOldStatementsOfOthersLapse(t *testing.T) {
	t.Parallel()
	const owner, delegate UserID = 9, 8
	i := Implied{Role: 51, Also: 52}
	g := &Guild{ID: 50, Owner: owner, Roles: []Role{{ID: 50}, {ID: 51}, {ID: 52}},
		Settings: map[Setting]string{i.Setting(): "on"}, SetBy: map[Setting]UserID{i.Setting(): delegate}}
	if len(g.Implied())+len(g.Suspended()) > 0 || len(g.Lapsed()) != 1 || len(g.Untold()) != 1 {
		t.Errorf("%v counts, %v is suspended, %v lapsed, %v isn't told", g.Implied(), g.Suspended(), g.Lapsed(), g.Untold())
	}
	g.Settings[i.Setting()] = g.Told(i, time.UnixMilli(1_000_000)).Value
	if len(g.Implied())+len(g.Suspended())+len(g.Untold()) > 0 || len(g.Lapsed()) != 1 {
		t.Errorf("once told: %v", g.Settings)
	}
	g.Settings[i.Setting()] = g.Stated(i, owner, time.UnixMilli(1_000_000)).Value
	if len(g.Implied()) != 1 || len(g.Lapsed()) > 0 {
		t.Errorf("stated again: %v", g.Settings)
	}
}
