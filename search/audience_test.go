package search_test

import (
	"slices"
	"testing"

	"hark/memory"
	"hark/search"
)

// The people, roles and channels of the tables. The guild's id is that of @everyone.
const (
	everyone memory.RoleID = 100 + iota
	modRole
	mutedRole
)

const (
	owner memory.UserID = 200 + iota
	ann                 // has modRole
	bob                 // has no role
)

const (
	hall memory.ChannelID = 300 + iota
	room
	post
	aside
)

const (
	castleID = memory.GuildID(everyone)
	reads    = memory.ViewChannel | memory.ReadMessageHistory
)

// castle is a guild whose hall and room everybody reads, changed by change.
func castle(change func(g *memory.Guild, hall, room *memory.Channel)) *memory.Guild {
	g := &memory.Guild{ID: castleID, Owner: owner, Roles: []memory.Role{
		{ID: everyone, Permissions: reads | memory.Connect}, {ID: modRole}, {ID: mutedRole}},
		Channels: []memory.Channel{{ID: hall}, {ID: room},
			{ID: post, Parent: room, Kind: memory.PublicThread}, {ID: aside, Parent: room, Kind: memory.PrivateThread}}}
	change(g, &g.Channels[0], &g.Channels[1])
	return g
}

func castlePeople(id memory.UserID) (memory.Person, bool) {
	return memory.Person{ID: id, RolesKnown: true}, true
}

func deny(role memory.RoleID, p memory.Permissions) memory.Overwrite {
	return memory.Overwrite{Role: role, Deny: p}
}

func allow(role memory.RoleID, p memory.Permissions) memory.Overwrite {
	return memory.Overwrite{Role: role, Allow: p}
}

func own(user memory.UserID, allow, deny memory.Permissions) memory.Overwrite {
	return memory.Overwrite{User: user, Allow: allow, Deny: deny}
}

// overwrites gives hall and room theirs.
func overwrites(h, r []memory.Overwrite) func(*memory.Guild, *memory.Channel, *memory.Channel) {
	return func(_ *memory.Guild, hall, room *memory.Channel) { hall.Overwrites, room.Overwrites = h, r }
}

type list = []memory.Overwrite

// Covers what places decide; the properties cover permissions.
func TestReadable(t *testing.T) {
	t.Parallel()
	type change = func(g *memory.Guild, hall, room *memory.Channel)
	kinds := func(h, r memory.ChannelKind) change {
		return func(_ *memory.Guild, hall, room *memory.Channel) { hall.Kind, room.Kind = h, r }
	}
	secret := overwrites(nil, list{deny(everyone, memory.ViewChannel)})
	unplaced := func(_ *memory.Guild, h, _ *memory.Channel) { h.Unplaced = true }
	unknown := func(g *memory.Guild, _, _ *memory.Channel) { g.Roles = nil }
	here := []memory.ChannelID{hall}
	for _, c := range []struct {
		name   string
		change change
		place  search.Place
		want   []memory.ChannelID
	}{
		{"all may read both", overwrites(nil, nil), search.Place{Channel: hall}, []memory.ChannelID{hall, room, post}},
		{"room unplaced", func(_ *memory.Guild, _, r *memory.Channel) { r.Unplaced = true },
			search.Place{Channel: hall}, here},
		{"hall unplaced", unplaced, search.Place{Channel: hall}, nil},
		{"room is a category", kinds(0, memory.CategoryChannel), search.Place{Channel: hall}, here},
		{"hall is a category", kinds(memory.CategoryChannel, 0), search.Place{Channel: hall}, nil},
		{"room is a direct message", kinds(0, memory.DirectChannel), search.Place{Channel: hall}, here},
		{"hall is a direct message", kinds(memory.DirectChannel, 0), search.Place{Channel: hall}, here},
		{"hall was a direct message", func(_ *memory.Guild, h, _ *memory.Channel) {
			h.Kind, h.Unplaced = memory.DirectChannel, true
		}, search.Place{Channel: hall}, nil},
		{"room is local", kinds(0, memory.LocalChannel), search.Place{Channel: hall}, here},
		{"hall is local", kinds(memory.LocalChannel, 0), search.Place{Channel: hall}, nil},
		{"roles unknown", unknown, search.Place{Channel: hall}, nil},
		{"roles unknown, but the asker's", unknown, search.Place{Channel: hall, Viewer: ann,
			Roles: []memory.RoleID{modRole}}, nil},
		{"operator in a channel: as everybody", secret, search.Place{Channel: hall, Operator: true}, here},
		{"operator in an unplaced channel", unplaced, search.Place{Channel: hall, Operator: true}, here},
		{"operator in a local channel", kinds(memory.LocalChannel, memory.LocalChannel),
			search.Place{Channel: hall, Operator: true}, here},
		{"from a private thread of a hidden room", secret, search.Place{Channel: aside},
			[]memory.ChannelID{hall, room, post, aside}},
		{"thread of a channel never seen", func(g *memory.Guild, _, _ *memory.Channel) {
			g.Channels[2].Parent = 1
		}, search.Place{Channel: hall}, []memory.ChannelID{hall, room}},
		{"thread of a thread", func(g *memory.Guild, _, _ *memory.Channel) { g.Channels[3].Parent = post },
			search.Place{Channel: aside}, nil},
		{"in a place that doesn't exist", overwrites(nil, nil), search.Place{Channel: 7}, nil},
		{"outside Discord", secret, search.Place{Viewer: ann, Roles: []memory.RoleID{}}, here},
		{"outside Discord, with roles unknown", overwrites(nil, nil), search.Place{Viewer: ann}, nil},
		{"outside Discord, for everybody", overwrites(nil, nil), search.Place{}, nil},
	} {
		g := castle(c.change)
		if got := search.Readable(g, c.place, castlePeople); !slices.Equal(got, c.want) {
			t.Errorf("%s: readable %v, want %v", c.name, got, c.want)
		}
		for _, channel := range g.Channels {
			v := search.Judge(g, c.place, channel.ID, castlePeople)
			if v.OK != slices.Contains(c.want, channel.ID) || v.OK != (v.Why == "") {
				t.Errorf("%s: %d has the verdict %+v", c.name, channel.ID, v)
			}
		}
	}
}
