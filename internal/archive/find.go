package archive

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hark/internal/terminal"
	"hark/memory"
)

// GuildName returns a guild's name for messages.
func GuildName(g *memory.Guild) string {
	switch g.ID {
	case memory.LocalGuild:
		return "local"
	case memory.DirectGuild:
		return "direct"
	}
	return cmp.Or(g.Name, g.ID.String())
}

// GuildByID returns the guild with that id, empty if unknown.
func (k *Archive) GuildByID(id memory.GuildID) *memory.Guild {
	for _, g := range k.Servers {
		if g.ID == id {
			return g
		}
	}
	return &memory.Guild{ID: id}
}

// ChannelName returns a channel's name, or its id if unknown.
func (k *Archive) ChannelName(guild memory.GuildID, id memory.ChannelID) string {
	for _, c := range k.GuildByID(guild).Channels {
		if c.ID == id {
			return cmp.Or(c.Name, id.String())
		}
	}
	return id.String()
}

// PlaceName is ChannelName with the parent's name before a thread's: "help › VPN does not connect".
func (k *Archive) PlaceName(guild memory.GuildID, id memory.ChannelID) string {
	g := k.GuildByID(guild)
	c := g.Channel(id)
	if c == nil {
		return id.String()
	}
	return cmp.Or(memory.PlaceName(c, g.Channel(c.Parent)), id.String())
}

// FindGuild returns the guild with that name or id; memory.Everywhere if name is empty.
func (k *Archive) FindGuild(name string) (memory.GuildID, error) {
	if name == "" {
		return memory.Everywhere, nil
	}
	var all []candidate[memory.GuildID]
	for _, g := range k.Servers {
		called := GuildName(g)
		meant := strings.EqualFold(called, name) || g.ID.String() == name
		all = append(all, candidate[memory.GuildID]{g.ID, called, fmt.Sprintf("%d %s", g.ID, called), meant})
	}
	return pick("server", name, all,
		"an id works too; \"local\" is what was imported without a server, \"direct\" is direct messages")
}

// FindChannel returns the channel with that name or id, in guild or Everywhere.
func (k *Archive) FindChannel(guild memory.GuildID, name string) (memory.Channel, error) {
	var all []candidate[memory.Channel]
	for _, g := range k.Servers {
		for _, c := range g.Channels {
			if guild != memory.Everywhere && guild != g.ID || c.Kind == memory.CategoryChannel {
				continue
			}
			c.Guild = g.ID
			byName := strings.EqualFold(c.Name, strings.TrimPrefix(name, "#")) || strings.EqualFold(c.Name, name)
			line := fmt.Sprintf("%d #%s in %s (%d)", c.ID, terminal.OneLine(c.Name), terminal.OneLine(GuildName(g)),
				g.ID)
			all = append(all, candidate[memory.Channel]{c, c.Name, line, c.ID.String() == name ||
				c.Name != "" && byName})
		}
	}
	return pick("channel", name, all, "an id works too")
}

// FindPerson returns the person called name in guild or Everywhere. It accepts unknown ids.
func (k *Archive) FindPerson(ctx context.Context, guild memory.GuildID, name string) (memory.UserID,
	[]memory.Person, error) {
	known := map[memory.UserID][]memory.Person{}
	called := map[memory.UserID]bool{}
	var all []candidate[memory.UserID]
	for _, g := range k.Servers {
		if guild != memory.Everywhere && guild != g.ID {
			continue
		}
		people, err := k.People(ctx, g.ID)
		if err != nil {
			return 0, nil, err
		}
		for _, p := range people {
			known[p.ID] = append(known[p.ID], p)
			called[p.ID] = called[p.ID] || matchesName(p, name)
			all = append(all, candidate[memory.UserID]{name: p.DisplayName()})
		}
	}
	maps.DeleteFunc(called, func(_ memory.UserID, is bool) bool { return !is })
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id > 0 && len(called) == 0 {
		return memory.UserID(id), known[memory.UserID(id)], nil
	}
	for _, id := range slices.Sorted(maps.Keys(called)) {
		var lines []string
		for _, p := range known[id] {
			where := terminal.OneLine(GuildName(k.GuildByID(p.Guild)))
			lines = append(lines, fmt.Sprintf("%d %s (%s) in %s (%d)", id, terminal.OneLine(p.DisplayName()),
				terminal.OneLine(p.Username), where, p.Guild))
		}
		all = append(all, candidate[memory.UserID]{
			value:   id,
			line:    strings.Join(lines, "\n  "),
			matches: true,
		})
	}
	id, err := pick("person", name, all, "their id will do too, also if nothing but their messages is known")
	return id, known[id], err
}

// matchesName reports whether name is one of a person's names, or their id.
func matchesName(p memory.Person, name string) bool {
	return slices.ContainsFunc(append(p.Aliases(), p.Username, p.Name, p.Nick, p.ID.String()), func(n string) bool {
		return n != "" && (strings.EqualFold(n, strings.TrimPrefix(name, "@")) || strings.EqualFold(n, name))
	})
}

// candidate is a value to choose by name, with a line that describes it.
type candidate[T any] struct {
	value      T
	name, line string
	matches    bool
}

// pick returns the one match in all. The error lists the matches, or suggests similar names.
func pick[T any](what, name string, all []candidate[T], hint string) (is T, err error) {
	var lines []string
	for _, n := range all {
		if n.matches {
			is = n.value
			lines = append(lines, n.line)
		}
	}
	if len(lines) > 1 {
		return is, fmt.Errorf("%q can mean %d: name the %s by id\n  %s", name, len(lines), what,
			strings.Join(lines, "\n  "))
	}
	if len(lines) == 1 {
		return is, nil
	}
	const few = 5
	var like []string // names that hold name, or that it holds
	wanted := strings.ToLower(name)
	for _, n := range all {
		lower := strings.ToLower(n.name)
		quoted := strconv.Quote(terminal.OneLine(n.name))
		alike := n.name != "" && (strings.Contains(lower, wanted) || strings.Contains(wanted, lower))
		if alike && !slices.Contains(like, quoted) && len(like) < few {
			like = append(like, quoted)
		}
	}
	if len(like) > 0 {
		hint = fmt.Sprintf("did you mean %s? %s", strings.Join(like, ", "), strings.ToUpper(hint[:1])+hint[1:])
	}
	return is, fmt.Errorf("no %s is called %q: %s", what, name, hint)
}

// AllLore returns the lore of a guild, or Everywhere, by guild and name.
func (k *Archive) AllLore(ctx context.Context, in memory.GuildID) ([]memory.Lore, error) {
	var all []memory.Lore
	for _, g := range k.Servers {
		if in != memory.Everywhere && in != g.ID {
			continue
		}
		lore, err := k.Lore(ctx, g.ID)
		if err != nil {
			return nil, err
		}
		lore = slices.Clone(lore)
		slices.SortStableFunc(lore, func(a, b memory.Lore) int {
			return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		})
		all = append(all, lore...)
	}
	return all, nil
}

// FindLore returns the lore with that name, alias or id in a guild, or Everywhere. Names go before aliases.
func (k *Archive) FindLore(ctx context.Context, in memory.GuildID, name string) (memory.Lore, error) {
	all, err := k.AllLore(ctx, in)
	if err != nil {
		return memory.Lore{}, err
	}
	found := memory.LoreCalled(all, name)
	var known []candidate[memory.Lore]
	for _, l := range all {
		where := terminal.OneLine(GuildName(k.GuildByID(l.Guild)))
		line := fmt.Sprintf("%d %s in %s", l.ID, terminal.OneLine(l.Name), where)
		meant := slices.ContainsFunc(found, func(f memory.Lore) bool { return f.Guild == l.Guild && f.ID == l.ID })
		known = append(known, candidate[memory.Lore]{l, l.Name, line, meant})
	}
	return pick("lore", name, known, "\"/lore list\" shows what there is")
}
