package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/memory"
	"hark/search"
)

// Covers each obstacle and its words; TestReadableLeaksNothing covers which members are counterexamples.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	type change = func(g *memory.Guild, hall, room *memory.Channel)
	type roles = []memory.RoleID
	people := func(id memory.UserID) (memory.Person, bool) {
		return memory.Person{ID: id, Name: map[memory.UserID]string{ann: "Ann"}[id]}, true
	}
	in, reader := search.Place{Channel: hall}, search.ObstacleReader
	onlyMods := list{deny(everyone, memory.ViewChannel), allow(modRole, memory.ViewChannel)}
	notMuted := list{deny(mutedRole, memory.ViewChannel)}
	noPast := list{deny(everyone, memory.ReadMessageHistory)}
	kinds := func(h, r memory.ChannelKind) change {
		return func(_ *memory.Guild, hall, room *memory.Channel) { hall.Kind, room.Kind = h, r }
	}
	for _, c := range []struct {
		change change
		place  search.Place
		source memory.ChannelID
		want   search.Verdict
		says   string
	}{
		{overwrites(nil, nil), in, room, search.Verdict{OK: true}, ""},
		{overwrites(nil, nil), search.Place{Channel: 7}, room, search.Verdict{Why: search.ObstaclePlace},
			"Hark doesn't know who can read #7"},
		{kinds(memory.CategoryChannel, 0), in, room, search.Verdict{Why: search.ObstaclePlace},
			"Hark doesn't know who can read #hall"},
		{func(_ *memory.Guild, hall, _ *memory.Channel) { hall.Kind, hall.Unplaced = memory.DirectChannel, true }, in,
			hall, search.Verdict{Why: search.ObstaclePlace}, "Hark doesn't know who can read #hall"},
		{overwrites(nil, nil), in, 7, search.Verdict{Why: search.ObstacleChannel},
			"Hark doesn't know who can read #7"},
		{func(_ *memory.Guild, _, room *memory.Channel) { room.Unplaced = true }, in, post,
			search.Verdict{Why: search.ObstacleChannel}, "Hark doesn't know who can read #302"},
		{func(_ *memory.Guild, _, room *memory.Channel) { room.Shut = true }, in, room,
			search.Verdict{Why: search.ObstacleShut},
			"Hark couldn't read #room for a while and hasn't compared it since"},
		{kinds(0, memory.DirectChannel), in, room, search.Verdict{Why: search.ObstacleUnshared},
			"#room holds direct messages: nothing passes between them and other channels"},
		{kinds(memory.LocalChannel, memory.DirectChannel), in, room, search.Verdict{Why: search.ObstacleUnshared},
			"#hall is read only at the command line"},
		{func(g *memory.Guild, _, _ *memory.Channel) { g.Roles = nil }, in, room,
			search.Verdict{Why: search.ObstacleStructure}, "Hark doesn't know the server's roles"},
		{func(_ *memory.Guild, _, room *memory.Channel) { room.AgeLimited = true }, in, room,
			search.Verdict{Why: search.ObstacleAge}, "#room is age-restricted and #hall isn't"},
		{overwrites(nil, nil), in, aside, search.Verdict{Why: search.ObstaclePrivateThread},
			"#303 is a private thread"},
		{func(g *memory.Guild, _, room *memory.Channel) {
			g.Self, room.Overwrites = 9, list{own(9, 0, memory.ViewChannel)}
		}, in, room, search.Verdict{Why: search.ObstacleHark}, "Hark itself can't read #room"},

		{overwrites(nil, onlyMods), in, room, search.Verdict{Why: reader}, "a member without roles can read #hall but not #room"},
		{overwrites(noPast, onlyMods), in, room, search.Verdict{Why: reader},
			"a member without roles can view #hall but not read #room"},
		{overwrites(noPast, nil), in, hall, search.Verdict{Why: reader},
			"a member without roles can view #hall but not read its history"},
		{overwrites(nil, notMuted), in, room, search.Verdict{Why: reader, Roles: roles{mutedRole}},
			"@102 can read #hall but not #room"},
		{overwrites(onlyMods, notMuted), in, room, search.Verdict{Why: reader, Roles: roles{modRole, mutedRole}},
			"@Mod with @102 can read #hall but not #room"},
		{func(g *memory.Guild, hall, room *memory.Channel) {
			hall.Overwrites, room.Overwrites = onlyMods, notMuted
			g.Settings = map[memory.Setting]string{memory.Implied{Role: mutedRole, Also: 105}.Setting(): "on 1",
				memory.Implied{Role: modRole, Also: 105}.Setting(): "on 1"}
			g.Roles = append(g.Roles, memory.Role{ID: 105, Name: "Late"})
		}, in, room, search.Verdict{Why: reader, Roles: roles{modRole, mutedRole, 105}},
			"@Mod with @102 and @Late can read #hall but not #room"},
		{func(_ *memory.Guild, hall, room *memory.Channel) {
			hall.Overwrites, room.Overwrites = onlyMods, list{deny(199, memory.ViewChannel)}
			for id := range memory.RoleID(15) { // more than 64 sets
				hall.Overwrites = append(hall.Overwrites, deny(110+id, memory.ViewChannel))
			}
		}, in, room, search.Verdict{Why: reader, Roles: roles{modRole, 199}},
			"@Mod with @199 can read #hall but not #room"},
		{overwrites(nil, list{own(bob, 0, memory.ViewChannel)}), in, room, search.Verdict{Why: reader, User: bob},
			"202 can read #hall but not #room"},
		{overwrites(onlyMods, append(list{own(ann, 0, memory.ViewChannel)}, onlyMods...)), in, room,
			search.Verdict{Why: reader, User: ann, Roles: roles{modRole}},
			"Ann with @Mod can read #hall but not #room"},
		{overwrites(nil, onlyMods), search.Place{Channel: hall, Viewer: ann, Roles: roles{mutedRole}}, room,
			search.Verdict{Why: reader, User: ann, Roles: roles{mutedRole}}, "Ann with @102 can't read #room"},
	} {
		g := castle(c.change)
		g.Channels[0].Name, g.Channels[1].Name = "hall", "room"
		if len(g.Roles) > 0 {
			g.Roles[1].Name = "Mod"
		}
		audience := search.NewAudience(g, c.place, people)
		if diff := cmp.Diff(c.want, audience.Judge(c.source)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.says, diff)
		}
		if got := audience.Explain(c.source); got != c.says {
			t.Errorf("got %q, want %q", got, c.says)
		}
	}
}
