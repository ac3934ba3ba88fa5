package guildtest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"hark/memory"
)

// guild is one being drawn.
type guild struct {
	*rapid.T
	World
	base  int64
	roles []memory.RoleID // that overwrites may be of
}

func (g *guild) role(n int) memory.RoleID       { return memory.RoleID(g.base + 50 + int64(n)) } // 0 is @everyone's
func (g *guild) user(n int) memory.UserID       { return memory.UserID(g.base + 10 + int64(n)) }
func (g *guild) channel(n int) memory.ChannelID { return memory.ChannelID(g.base + 70 + int64(n)) }

func (g *guild) number(least, most int, of string) int {
	return rapid.IntRange(least, most).Draw(g.T, of)
}

// ghost is a role that only overwrites name.
const ghost = 10

// Draw draws a small guild in which much can go wrong. Its ids are at least base, and below base + 100.
func Draw(t *rapid.T, base int64, channels int) World {
	g := &guild{T: t, base: base, World: World{People: map[memory.UserID]memory.Person{}}}
	g.Guild = memory.Guild{ID: memory.GuildID(g.role(0)), Owner: g.user(1)}
	g.drawRoles()
	g.drawPeople()
	n := g.number(2, channels, "channels")
	for i := range n {
		g.drawChannel(i, n)
	}
	return g.World
}

func (g *guild) permissions(of string) memory.Permissions {
	const all = memory.ViewChannel | memory.ReadMessageHistory | memory.Connect
	return rapid.SampledFrom([]memory.Permissions{0, 0, memory.ViewChannel,
		memory.ViewChannel | memory.ReadMessageHistory, memory.ReadMessageHistory, memory.Connect, all}).Draw(g.T, of)
}

func (g *guild) drawRoles() {
	g.Guild.Roles = []memory.Role{{ID: g.role(0), Permissions: g.permissions("base")}}
	g.roles = []memory.RoleID{g.role(0), g.role(ghost)}
	for i := range g.number(0, 4, "roles") {
		role := memory.Role{ID: g.role(1 + i), Permissions: g.permissions("permissions")}
		g.roles = append(g.roles, role.ID)
		switch g.number(0, 9, "sort") {
		case 0:
			role.Bot = g.user(2)
		case 1:
			role.Permissions |= memory.Administrator
			fallthrough
		default:
			g.Roles = append(g.Roles, role.ID)
		}
		g.Guild.Roles = append(g.Guild.Roles, role)
	}
}

func (g *guild) drawPeople() {
	for i := range g.number(0, 4, "people") {
		p := memory.Person{ID: g.user(1 + i), Guild: g.Guild.ID, RolesKnown: rapid.Bool().Draw(g.T, "known"),
			Bot: i == 1}
		for _, r := range g.Roles {
			if p.RolesKnown && rapid.Bool().Draw(g.T, "has") {
				p.Roles = append(p.Roles, r)
			}
		}
		g.People[p.ID] = p
	}
}

func (g *guild) drawChannel(i, channels int) {
	c := memory.Channel{ID: g.channel(i), Guild: g.Guild.ID, AgeLimited: g.number(0, 4, "age") == 0}
	c.Kind = rapid.SampledFrom([]memory.ChannelKind{memory.TextChannel, memory.TextChannel,
		memory.VoiceChannel, memory.ForumChannel, memory.CategoryChannel, memory.PublicThread,
		memory.PrivateThread}).Draw(g.T, "kind")
	c.Parent = g.channel(g.number(-1, channels-1, "parent"))
	c.Unplaced = g.number(0, 9, "unplaced") == 0
	for range g.number(0, 3, "overwrites") {
		o := memory.Overwrite{Allow: g.permissions("allow"), Deny: g.permissions("deny")}
		if g.number(0, 2, "whose") == 0 {
			o.User = g.user(g.number(0, 5, "user"))
		} else {
			o.Role = rapid.SampledFrom(g.roles).Draw(g.T, "role")
		}
		if o.Role == g.role(ghost) && !slices.Contains(g.Roles, o.Role) {
			g.Roles = append(g.Roles, o.Role)
		}
		if !slices.ContainsFunc(c.Overwrites, func(p memory.Overwrite) bool {
			return p.Role == o.Role && p.User == o.User
		}) {
			c.Overwrites = append(c.Overwrites, o)
		}
	}
	g.Guild.Channels = append(g.Guild.Channels, c)
}

// State draws what admins state of roles, and what of it a member was seen to contradict. It writes that into the
// guild. It returns the roles of whoever asks, and everybody for whom the rest holds that these don't contradict either.
func (w *World) State(t *rapid.T) (asker []memory.RoleID, everybody []Member) {
	w.Guild.Settings = map[memory.Setting]string{}
	stated := map[memory.Implied]bool{} // whether it counts
	for range rapid.IntRange(1, 3).Draw(t, "stated") {
		role := rapid.SampledFrom(append(w.Roles, 0))
		i := memory.Implied{Role: role.Draw(t, "whoever has"), Also: role.Draw(t, "has")}
		is := w.Guild.Stated(i, 0, time.Unix(0, 0))
		stated[i] = rapid.IntRange(0, 3).Draw(t, "seen to be true") > 0
		if !stated[i] {
			is = w.Guild.Refuted(i, time.Unix(0, 0))
		}
		w.Guild.Settings[i.Setting()] = is.Value
	}
	asker = w.drawAsker(t, stated)
	for i, counts := range stated {
		there := i.Role != 0 && i.Also != 0 && i.Role != w.ghost() && i.Also != w.ghost() // what isn't is nobody's
		refuted := slices.Contains(asker, i.Role) && !slices.Contains(asker, i.Also)
		if counts && there && !refuted {
			w.Stated = append(w.Stated, i)
		}
	}
	return asker, slices.DeleteFunc(w.Everybody(), func(m Member) bool {
		return slices.ContainsFunc(w.Stated, func(i memory.Implied) bool {
			return slices.Contains(m.Roles, i.Role) && !slices.Contains(m.Roles, i.Also)
		})
	})
}

// drawAsker draws the roles of whoever asks, often such as contradict what was stated; nil: they are unknown.
func (w World) drawAsker(t *rapid.T, stated map[memory.Implied]bool) []memory.RoleID {
	all := append([][]memory.RoleID{nil}, w.anyRoles()...)
	if rapid.Bool().Draw(t, "contradicts") {
		all = nil
		for i := range stated {
			all = append(all, []memory.RoleID{i.Role})
		}
		slices.SortFunc(all, slices.Compare[[]memory.RoleID])
	}
	return rapid.SampledFrom(all).Draw(t, "the asker's")
}

func (w *World) ghost() memory.RoleID { return memory.RoleID(w.Guild.ID) + ghost }

// DrawMembers draws who is there, and their roles.
func (w World) DrawMembers(t *rapid.T) (members []Member) {
	for n := range memory.UserID(6) {
		id := w.Guild.Owner + n
		if !w.People[id].Bot && rapid.Bool().Draw(t, "there") {
			members = append(members, Member{id, rapid.SampledFrom(w.anyRoles()).Draw(t, "roles")})
		}
	}
	return members
}

// DrawViewer draws who alone sees an answer, with their roles now, or nil if all do.
func (w World) DrawViewer(t *rapid.T) *Member {
	if rapid.Bool().Draw(t, "all") {
		return nil
	}
	owner := w.Guild.Owner // the next is a bot
	m := &Member{ID: rapid.SampledFrom([]memory.UserID{owner, owner + 2, owner + 3, owner + 4}).Draw(t, "viewer")}
	if rapid.IntRange(0, 3).Draw(t, "told") > 0 {
		m.Roles = rapid.SampledFrom(w.anyRoles()).Draw(t, "now")
	}
	return m
}
