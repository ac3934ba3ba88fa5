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
	vipRole
	mutedRole
	adminRole
	robotRole
)

const (
	owner memory.UserID = 200 + iota
	ann                 // has modRole
	bob                 // has no role
	cyd                 // her roles are unknown
	robot
	nobody // nothing is known of them
)

const (
	hall memory.ChannelID = 300 + iota
	room
	post
	aside
)

const reads = memory.ViewChannel | memory.ReadMessageHistory

// castle is a guild whose hall and room everybody reads, changed by change.
func castle(change func(g *memory.Guild, hall, room *memory.Channel)) *memory.Guild {
	g := &memory.Guild{ID: memory.GuildID(everyone), Owner: owner, Roles: []memory.Role{
		{ID: everyone, Permissions: reads | memory.Connect}, {ID: modRole}, {ID: vipRole}, {ID: mutedRole},
		{ID: adminRole, Permissions: memory.Administrator}, {ID: robotRole, Bot: robot},
	}, Channels: []memory.Channel{{ID: hall}, {ID: room}, {ID: post, Parent: room, Kind: memory.PublicThread}, {ID: aside, Parent: room, Kind: memory.PrivateThread}}}
	change(g, &g.Channels[0], &g.Channels[1])
	return g
}

func castlePeople(id memory.UserID) (memory.Person, bool) {
	p := memory.Person{ID: id, RolesKnown: true}
	switch id {
	case ann:
		p.Roles = []memory.RoleID{modRole}
	case robot:
		p.Bot, p.Roles = true, []memory.RoleID{robotRole}
	case cyd:
		p.RolesKnown = false
	case nobody:
		return memory.Person{}, false
	}
	return p, true
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

func TestReadableFromHall(t *testing.T) {
	t.Parallel()
	const view, history, connect = memory.ViewChannel, memory.ReadMessageHistory, memory.Connect
	secret := deny(everyone, view)
	for _, c := range []struct {
		name   string
		change func(*memory.Guild, *memory.Channel, *memory.Channel)
		room   bool // whether an answer in the hall may be made from the room
		hall   bool // and from the hall itself
	}{
		{"everybody reads both", overwrites(nil, nil), true, true},
		{"room hidden", overwrites(nil, list{secret}), false, true},
		{"room without its past", overwrites(nil, list{deny(everyone, history)}), false, true},
		{"hall without its past", overwrites(list{deny(everyone, history)}, nil), true, false},
		{"both for the same role", overwrites(list{secret, allow(modRole, view)}, list{secret, allow(modRole, view)}), true, true},
		{"room for one role more", overwrites(list{secret, allow(modRole, view)}, list{secret, allow(modRole, view), allow(vipRole, view)}), true, true},
		{"hall for one role more", overwrites(list{secret, allow(modRole, view), allow(vipRole, view)}, list{secret, allow(modRole, view)}), false, true},
		{"nobody but admins in the hall", overwrites(list{secret}, list{secret, allow(modRole, view)}), true, true},
		{"a role is denied the room", overwrites(nil, list{deny(mutedRole, view)}), false, true},
		{"and the hall too", overwrites(list{deny(mutedRole, view)}, list{deny(mutedRole, view)}), true, true},
		{"denied both, but another role opens the hall", overwrites(list{deny(mutedRole, view), allow(vipRole, view)}, list{deny(mutedRole, view)}), false, true},
		{"denied both, another role opens both", overwrites(list{deny(mutedRole, view), allow(vipRole, view)}, list{deny(mutedRole, view), allow(vipRole, view)}), true, true},
		{"@everyone's grant is before roles' denials", overwrites(nil, list{allow(everyone, view), deny(mutedRole, view)}), false, true},
		{"@everyone's denial is before roles' grants", overwrites(list{secret, allow(vipRole, view)}, list{secret, allow(vipRole, reads)}), true, true},
		{"one overwrite denies and grants: granted", overwrites(list{{Role: vipRole, Allow: view, Deny: view}}, list{{Role: vipRole, Allow: view, Deny: view}}), true, true},
		{"admins pass what denies them", overwrites(nil, list{deny(adminRole, reads)}), true, true},
		{"a role that itself brings view", func(g *memory.Guild, h, r *memory.Channel) {
			g.Roles[0].Permissions = 0
			g.Roles[1].Permissions, g.Roles[2].Permissions = reads, reads
		}, true, true},
		{"a role that brings view without history", func(g *memory.Guild, h, r *memory.Channel) {
			g.Roles[0].Permissions, g.Roles[1].Permissions = 0, view
		}, false, false},
		{"@everyone is an admin", func(g *memory.Guild, h, r *memory.Channel) {
			g.Roles[0].Permissions = memory.Administrator
			r.Overwrites = list{secret}
		}, true, true},

		{"a person let into the hall", overwrites(list{secret, own(ann, view, 0)}, list{secret}), false, true},
		{"a person let into both", overwrites(list{secret, own(ann, view, 0)}, list{secret, own(ann, view, 0)}), true, true},
		{"a person kept out of the room", overwrites(nil, list{own(bob, 0, view)}), false, true},
		{"a person is after all roles", overwrites(list{secret, allow(modRole, view)}, list{secret, allow(modRole, view), own(ann, 0, view)}), false, true},
		{"a person who may have got the role that matters meanwhile", overwrites(list{secret, own(bob, 0, 0), allow(vipRole, view)}, list{secret, allow(vipRole, view), own(bob, 0, view)}), false, true},
		{"a person who may have lost it", overwrites(list{secret, allow(modRole, view), own(ann, view, 0)}, list{secret, allow(modRole, view)}), false, true},
		{"the same of one whose roles are unknown", overwrites(list{secret, allow(vipRole, view)}, list{secret, allow(vipRole, view), own(cyd, 0, view)}), false, true},
		{"the same of one who is unknown", overwrites(list{secret, allow(vipRole, view)}, list{secret, allow(vipRole, view), own(nobody, 0, view)}), false, true},
		{"the owner passes what denies them", overwrites(nil, list{own(owner, 0, reads)}), true, true},
		{"a bot is no audience", overwrites(list{secret, own(robot, view, 0)}, list{secret}), true, true},
		{"nor is a bot's role", overwrites(list{secret, allow(robotRole, view)}, list{secret}), true, true},
		{"a role that only the overwrite knows", overwrites(list{secret, allow(999, view)}, list{secret}), false, true},
		{"a role that only the room's overwrite knows", overwrites(nil, list{deny(999, history)}), false, true},

		{"voice needs connect", func(_ *memory.Guild, _, r *memory.Channel) {
			r.Kind, r.Overwrites = memory.VoiceChannel, list{deny(everyone, connect)}
		}, false, true},
		{"voice with connect", func(_ *memory.Guild, _, r *memory.Channel) { r.Kind = memory.VoiceChannel }, true, true},
		{"voice that one role can't connect to", func(_ *memory.Guild, _, r *memory.Channel) {
			r.Kind, r.Overwrites = memory.VoiceChannel, list{deny(mutedRole, connect)}
		}, false, true},
		{"text needs no connect", overwrites(nil, list{deny(everyone, connect)}), true, true},
		{"connect doesn't keep out of a voice hall", func(_ *memory.Guild, h, r *memory.Channel) {
			h.Kind, h.Overwrites, r.Overwrites = memory.VoiceChannel, list{deny(everyone, connect)}, list{secret}
		}, false, false},

		{"room age-restricted", func(_ *memory.Guild, _, r *memory.Channel) { r.AgeLimited = true }, false, true},
		{"hall age-restricted", func(_ *memory.Guild, h, _ *memory.Channel) { h.AgeLimited = true }, true, true},
		{"both age-restricted", func(_ *memory.Guild, h, r *memory.Channel) { h.AgeLimited, r.AgeLimited = true, true }, true, true},
		{"room unplaced", func(_ *memory.Guild, _, r *memory.Channel) { r.Unplaced = true }, false, true},
		{"hall unplaced", func(_ *memory.Guild, h, _ *memory.Channel) { h.Unplaced = true }, false, false},
		{"room is a category", func(_ *memory.Guild, _, r *memory.Channel) { r.Kind = memory.CategoryChannel }, false, true},
		{"hall is a category", func(_ *memory.Guild, h, _ *memory.Channel) { h.Kind = memory.CategoryChannel }, false, false},
		{"room is a direct message", func(_ *memory.Guild, _, r *memory.Channel) { r.Kind = memory.DirectChannel }, false, true},
		{"hall is a direct message", func(_ *memory.Guild, h, _ *memory.Channel) { h.Kind = memory.DirectChannel }, false, true},
		{"hall was a direct message", func(_ *memory.Guild, h, _ *memory.Channel) { h.Kind, h.Unplaced = memory.DirectChannel, true }, false, false},
		{"room is local", func(_ *memory.Guild, _, r *memory.Channel) { r.Kind = memory.LocalChannel }, false, true},
		{"hall is local", func(_ *memory.Guild, h, _ *memory.Channel) { h.Kind = memory.LocalChannel }, false, false},
		{"roles unknown", func(g *memory.Guild, _, _ *memory.Channel) { g.Roles = nil }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := search.Readable(castle(c.change), search.Place{Channel: hall}, castlePeople)
			if slices.Contains(got, room) != c.room || slices.Contains(got, hall) != c.hall {
				t.Errorf("readable in the hall: %v; want room %v, hall %v", got, c.room, c.hall)
			}
			if slices.Contains(got, post) && !c.room {
				t.Errorf("a post of the room is readable, the room isn't")
			}
			if slices.Contains(got, aside) {
				t.Errorf("a private thread is readable elsewhere")
			}
		})
	}
}

func TestThreads(t *testing.T) {
	t.Parallel()
	forum := func(_ *memory.Guild, _, r *memory.Channel) { r.Kind = memory.ForumChannel }
	secret := deny(everyone, memory.ViewChannel)
	for _, c := range []struct {
		name   string
		change func(*memory.Guild, *memory.Channel, *memory.Channel)
		at     memory.ChannelID
		want   []memory.ChannelID
	}{
		{"public thread from a channel", overwrites(nil, nil), hall, []memory.ChannelID{hall, room, post}},
		{"post of a forum", forum, hall, []memory.ChannelID{hall, room, post}},
		{"from a public thread", overwrites(nil, nil), post, []memory.ChannelID{hall, room, post}},
		{"from a private thread", overwrites(nil, nil), aside, []memory.ChannelID{hall, room, post, aside}},
		{"from a private thread of a hidden room", overwrites(nil, list{secret}), aside, []memory.ChannelID{hall, room, post, aside}},
		{"a private thread counts as its whole parent", overwrites(list{secret}, nil), aside, []memory.ChannelID{room, post, aside}},
		{"a thread has its parent's past", overwrites(nil, list{deny(everyone, memory.ReadMessageHistory)}), post, []memory.ChannelID{hall}},
		{"a thread has its parent's age restriction", func(_ *memory.Guild, _, r *memory.Channel) { r.AgeLimited = true }, hall, []memory.ChannelID{hall}},
		{"and profits from it", func(_ *memory.Guild, h, r *memory.Channel) { h.AgeLimited, r.AgeLimited = true, true }, post, []memory.ChannelID{hall, room, post}},
		{"a thread's own overwrites don't count", func(g *memory.Guild, _, r *memory.Channel) {
			r.Overwrites = list{secret}
			g.Channels[2].Overwrites = list{allow(everyone, reads)}
		}, hall, []memory.ChannelID{hall}},
		{"a thread's own age restriction doesn't count", func(g *memory.Guild, _, _ *memory.Channel) { g.Channels[2].AgeLimited = true }, hall, []memory.ChannelID{hall, room, post}},
		{"of a channel that is gone", func(_ *memory.Guild, _, r *memory.Channel) { r.Unplaced = true }, hall, []memory.ChannelID{hall}},
		{"of a channel never seen", func(g *memory.Guild, _, _ *memory.Channel) { g.Channels[2].Parent = 1 }, hall, []memory.ChannelID{hall, room}},
		{"of a category", func(_ *memory.Guild, _, r *memory.Channel) { r.Kind = memory.CategoryChannel }, hall, []memory.ChannelID{hall}},
		{"of a thread", func(g *memory.Guild, _, _ *memory.Channel) { g.Channels[3].Parent = post }, aside, nil},
		{"itself gone", func(g *memory.Guild, _, _ *memory.Channel) { g.Channels[2].Unplaced = true }, hall, []memory.ChannelID{hall, room}},
		{"in a place that doesn't exist", overwrites(nil, nil), 7, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := search.Readable(castle(c.change), search.Place{Channel: c.at}, castlePeople); !slices.Equal(got, c.want) {
				t.Errorf("readable: %v, want %v", got, c.want)
			}
		})
	}
}

func TestViewerAndOperator(t *testing.T) {
	t.Parallel()
	secret := deny(everyone, memory.ViewChannel)
	mods := overwrites(nil, list{secret, allow(modRole, memory.ViewChannel)})
	unplaced := func(_ *memory.Guild, h, _ *memory.Channel) { h.Unplaced = true }
	local := func(_ *memory.Guild, h, r *memory.Channel) { h.Kind, r.Kind = memory.LocalChannel, memory.LocalChannel }
	none, mod := []memory.RoleID{}, []memory.RoleID{modRole}
	both := []memory.ChannelID{hall, room, post}
	for _, c := range []struct {
		name   string
		change func(*memory.Guild, *memory.Channel, *memory.Channel)
		place  search.Place
		want   []memory.ChannelID
	}{
		{"with the role", mods, search.Place{Viewer: ann, Roles: mod}, both},
		{"without the role", mods, search.Place{Viewer: bob, Roles: none}, []memory.ChannelID{hall}},
		{"roles unknown: as everybody", mods, search.Place{Viewer: cyd}, []memory.ChannelID{hall}},
		{"roles known only as they were once: as everybody", mods, search.Place{Viewer: ann}, []memory.ChannelID{hall}},
		{"the role was taken since", mods, search.Place{Viewer: ann, Roles: none}, []memory.ChannelID{hall}},
		{"the role was given since", mods, search.Place{Viewer: bob, Roles: mod}, both},
		{"person unknown: as everybody", mods, search.Place{Viewer: nobody}, []memory.ChannelID{hall}},
		{"person unknown, with the role", mods, search.Place{Viewer: nobody, Roles: mod}, both},
		{"the owner", mods, search.Place{Viewer: owner}, both},
		{"roles unknown, and everybody may", overwrites(nil, nil), search.Place{Viewer: cyd}, both},
		{"let in alone", overwrites(nil, list{secret, own(bob, memory.ViewChannel, 0)}), search.Place{Viewer: bob, Roles: none}, both},
		{"kept out alone", overwrites(nil, list{own(ann, 0, memory.ReadMessageHistory)}), search.Place{Viewer: ann, Roles: mod}, []memory.ChannelID{hall}},
		{"somebody else kept out", overwrites(nil, list{own(bob, 0, reads)}), search.Place{Viewer: ann, Roles: mod}, both},
		{"age restriction still holds", func(_ *memory.Guild, _, r *memory.Channel) { r.AgeLimited = true }, search.Place{Viewer: owner}, []memory.ChannelID{hall}},
		{"roles of the guild unknown", func(g *memory.Guild, _, _ *memory.Channel) { g.Roles = nil }, search.Place{Viewer: ann, Roles: mod}, nil},
		{"operator in a channel: as everybody", mods, search.Place{Operator: true}, []memory.ChannelID{hall}},
		{"operator in an unplaced channel", unplaced, search.Place{Operator: true}, []memory.ChannelID{hall}},
		{"operator in a local channel", local, search.Place{Operator: true}, []memory.ChannelID{hall}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.place.Channel = hall
			if got := search.Readable(castle(c.change), c.place, castlePeople); !slices.Equal(got, c.want) {
				t.Errorf("readable: %v, want %v", got, c.want)
			}
		})
	}
}
