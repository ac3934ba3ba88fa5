package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Implied is an admin's statement that everybody with Role also has Also.
type Implied struct{ Role, Also RoleID }

// impliedKey is the prefix of these settings. Each statement has its own, so that none replaces another.
const impliedKey = "implied "

// What became of a statement. A setting's value is one of these, and since when in Unix milliseconds.
const (
	impliedHolds   = "on"
	impliedRefuted = "refuted" // Discord showed a member who contradicts it; the admins aren't told yet
	impliedTold    = "told"    // likewise, and they are told
	// Before a statement had a time, others than the owner and administrators could make it. It doesn't count unless the
	// owner made it.
	impliedOld    = "old"    // the admins aren't told yet
	impliedLapsed = "lapsed" // they are told
)

// Setting returns the guild setting that holds i.
func (i Implied) Setting() Setting {
	return Setting(fmt.Sprintf("%s%d %d", impliedKey, i.Role, i.Also))
}

// RefutedBy reports whether a member with these roles contradicts i.
func (i Implied) RefutedBy(roles []RoleID) bool {
	return slices.Contains(roles, i.Role) && !slices.Contains(roles, i.Also)
}

// Refutes reports whether p, as Discord showed them, contradicts i. Bots contradict nothing: they are no audience.
func (p Person) Refutes(i Implied) bool { return !p.Bot && p.RolesKnown && i.RefutedBy(p.Roles) }

// Implied returns the admins' statements that count: those about existing roles that people can have, which no member
// was seen to contradict.
func (g *Guild) Implied() []Implied {
	return g.stated(impliedHolds)
}

// Suspended returns the statements that a member was seen to contradict. They don't count until an admin states them
// again.
func (g *Guild) Suspended() []Implied {
	return g.stated(impliedRefuted, impliedTold)
}

// Lapsed returns the statements that don't count because perhaps neither the owner nor an administrator made them.
func (g *Guild) Lapsed() []Implied {
	return g.stated(impliedOld, impliedLapsed)
}

// Untold returns those that are suspended or lapsed of which the admins aren't told yet.
func (g *Guild) Untold() []Implied {
	return g.stated(impliedRefuted, impliedOld)
}

// stated returns the statements about existing roles of which one of these is true.
func (g *Guild) stated(states ...string) []Implied {
	var all []Implied
	for key := range g.Settings {
		i, is := impliedOf(key)
		state, _ := g.impliedState(i)
		if is && slices.Contains(states, state) && g.MayHave(i.Role) && g.MayHave(i.Also) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Implied) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Also, b.Also))
	})
	return all
}

// States reports whether the setting holds an Implied.
func (s Setting) States() bool {
	_, is := impliedOf(s)
	return is
}

// impliedOf returns the statement that a setting holds.
func impliedOf(key Setting) (Implied, bool) {
	rest, is := strings.CutPrefix(string(key), impliedKey)
	if !is {
		return Implied{}, false
	}
	var i Implied
	_, err := fmt.Sscanf(rest, "%d %d", &i.Role, &i.Also)
	return i, err == nil
}

// impliedState returns what became of i, and since when; "" if it isn't stated.
func (g *Guild) impliedState(i Implied) (state string, since time.Time) {
	state, at, _ := strings.Cut(g.Settings[i.Setting()], " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil && state == impliedHolds && g.SetBy[i.Setting()] != g.Owner {
		return impliedOld, time.Time{}
	}
	if err != nil {
		return state, time.Time{}
	}
	return state, time.UnixMilli(ms)
}

// Stated returns the event that an admin states i.
func (g *Guild) Stated(i Implied, by UserID, at time.Time) SettingChosen {
	return g.impliedBecomes(i, impliedHolds, by, at)
}

// Refuted returns the event that a member was seen who contradicts i.
func (g *Guild) Refuted(i Implied, at time.Time) SettingChosen {
	return g.impliedBecomes(i, impliedRefuted, g.SetBy[i.Setting()], at)
}

// Told returns the event that the admins are told that i is refuted.
func (g *Guild) Told(i Implied, at time.Time) SettingChosen {
	state, _ := g.impliedState(i)
	if state == impliedOld {
		return g.impliedBecomes(i, impliedLapsed, g.SetBy[i.Setting()], at)
	}
	return g.impliedBecomes(i, impliedTold, g.SetBy[i.Setting()], at)
}

// TakenBack returns the event that i isn't stated any more.
func (g *Guild) TakenBack(i Implied, by UserID, at time.Time) SettingChosen {
	return g.impliedBecomes(i, "", by, at)
}

// impliedBecomes is later than what became of i before, whatever the clock says: a store keeps the latest.
func (g *Guild) impliedBecomes(i Implied, state string, by UserID, at time.Time) SettingChosen {
	_, since := g.impliedState(i)
	if at.UnixMilli() <= since.UnixMilli() {
		at = since.Add(time.Millisecond)
	}
	chosen := SettingChosen{
		Guild: g.ID,
		Key:   i.Setting(),
		By:    by,
		At:    at,
	}
	if state != "" {
		chosen.Value = state + " " + strconv.FormatInt(at.UnixMilli(), 10)
	}
	return chosen
}
