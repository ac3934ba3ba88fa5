package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hark/internal/config"
	"hark/internal/dates"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
)

// kept is the memory as the commands see it that keep it: without an embedder or a model.
type kept struct {
	*sqlite.Store
	config config.Config
	guilds []*memory.Guild
}

// openKept opens the memory, which must be there.
func (f *flags) openKept(ctx context.Context) (*kept, error) {
	cfg, err := f.load()
	if err != nil {
		return nil, err
	}
	if err := mustRemember(cfg.Data); err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, cfg.Data, sqlite.Options{Tokens: tokens.New().Count, Progress: f.progress("indexing words")})
	if err != nil {
		return nil, err
	}
	k, err := newKept(ctx, store, cfg)
	if err == nil {
		err = dropStreams(cfg.Data) // which may hold what is to be forgotten
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return k, nil
}

// newKept is kept over a memory that is open.
func newKept(ctx context.Context, store *sqlite.Store, cfg config.Config) (*kept, error) {
	k := &kept{Store: store, config: cfg}
	ids, err := store.Guilds(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		g, err := store.Guild(ctx, id)
		if err != nil {
			return nil, err
		}
		k.guilds = append(k.guilds, g)
	}
	return k, nil
}

// mustRemember refuses a data directory without a memory.
func mustRemember(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, sqlite.FileName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing is remembered in %s: name the right directory with --data or HARK_DATA", dir)
	}
	return nil
}

// guildName is what people call a guild.
func guildName(g *memory.Guild) string {
	switch g.ID {
	case memory.LocalGuild:
		return "local"
	case memory.DirectGuild:
		return "direct"
	}
	return cmp.Or(g.Name, g.ID.String())
}

// guildOf is the guild with that id.
func (k *kept) guildOf(id memory.GuildID) *memory.Guild {
	for _, g := range k.guilds {
		if g.ID == id {
			return g
		}
	}
	return &memory.Guild{ID: id}
}

// channelName is what a channel is called; its id if that isn't known.
func (k *kept) channelName(guild memory.GuildID, id memory.ChannelID) string {
	for _, c := range k.guildOf(guild).Channels {
		if c.ID == id {
			return cmp.Or(c.Name, id.String())
		}
	}
	return id.String()
}

// guildCalled is the guild with that name or id; memory.Everywhere if name is empty.
func (k *kept) guildCalled(name string) (memory.GuildID, error) {
	if name == "" {
		return memory.Everywhere, nil
	}
	var ids []memory.GuildID
	var lines, names []string
	for _, g := range k.guilds {
		names = append(names, guildName(g))
		if strings.EqualFold(guildName(g), name) || g.ID.String() == name {
			ids, lines = append(ids, g.ID), append(lines, fmt.Sprintf("%d %s", g.ID, guildName(g)))
		}
	}
	return only("server", name, ids, lines, names, "its id will do too; \"local\" is what was imported without one, \"direct\" are direct messages")
}

// channelCalled is the channel with that name or id, in guild or Everywhere.
func (k *kept) channelCalled(guild memory.GuildID, name string) (memory.Channel, error) {
	var all []memory.Channel
	var lines, names []string
	for _, g := range k.guilds {
		for _, c := range g.Channels {
			if (guild == memory.Everywhere || guild == g.ID) && c.Kind != memory.CategoryChannel {
				names = append(names, c.Name)
			}
			byName := c.Name != "" && (strings.EqualFold(c.Name, strings.TrimPrefix(name, "#")) || strings.EqualFold(c.Name, name))
			if (guild == memory.Everywhere || guild == g.ID) && c.Kind != memory.CategoryChannel && (byName || c.ID.String() == name) {
				c.Guild = g.ID
				all, lines = append(all, c), append(lines, fmt.Sprintf("%d #%s in %s (%d)", c.ID, oneLine(c.Name), oneLine(guildName(g)), g.ID))
			}
		}
	}
	ids := make([]int, len(all))
	for i := range all {
		ids[i] = i
	}
	i, err := only("channel", name, ids, lines, names, "its id will do too")
	if err != nil {
		return memory.Channel{}, err
	}
	return all[i], nil
}

// personCalled is the person whom name calls in guild or Everywhere, and who they are there. An id is taken although
// nobody is known by it.
func (k *kept) personCalled(ctx context.Context, guild memory.GuildID, name string) (memory.UserID, []memory.Person, error) {
	known := map[memory.UserID][]memory.Person{}
	var ids []memory.UserID
	var names []string
	for _, g := range k.guilds {
		if guild != memory.Everywhere && guild != g.ID {
			continue
		}
		people, err := k.People(ctx, g.ID)
		if err != nil {
			return 0, nil, err
		}
		for _, p := range people {
			names = append(names, p.DisplayName())
			if known[p.ID] = append(known[p.ID], p); isCalled(p, name) && !slices.Contains(ids, p.ID) {
				ids = append(ids, p.ID)
			}
		}
	}
	if id, err := strconv.ParseInt(name, 10, 64); err == nil && id > 0 && len(ids) == 0 {
		return memory.UserID(id), known[memory.UserID(id)], nil
	}
	var lines []string
	for _, id := range ids {
		for _, p := range known[id] {
			lines = append(lines, fmt.Sprintf("%d %s (%s) in %s (%d)", id, oneLine(p.DisplayName()), oneLine(p.Username), oneLine(guildName(k.guildOf(p.Guild))), p.Guild))
		}
	}
	id, err := only("person", name, ids, lines, names, "their id will do too, also if nothing but their messages is known")
	return id, known[id], err
}

// isCalled reports whether name is one of a person's names, or their id.
func isCalled(p memory.Person, name string) bool {
	return slices.ContainsFunc(append(p.Aliases(), p.Username, p.Name, p.Nick, p.ID.String()), func(n string) bool {
		return n != "" && (strings.EqualFold(n, strings.TrimPrefix(name, "@")) || strings.EqualFold(n, name))
	})
}

// only is the one of ids; lines tell who they are.
func only[T any](what, name string, ids []T, lines, names []string, hint string) (none T, err error) {
	switch len(ids) {
	case 0:
		if like := likeName(name, names); like != "" {
			hint = fmt.Sprintf("did you mean %s? %s", like, strings.ToUpper(hint[:1])+hint[1:])
		}
		return none, fmt.Errorf("no %s is called %q: %s", what, name, hint)
	case 1:
		return ids[0], nil
	}
	return none, fmt.Errorf("%q can mean %d: name the %s by id\n  %s", name, len(ids), what, strings.Join(lines, "\n  "))
}

// likeName are the first few of names that hold name, or that it holds, each quoted.
func likeName(name string, names []string) string {
	const few = 5
	var like []string
	name = strings.ToLower(name)
	for _, n := range names {
		lower, quoted := strings.ToLower(n), strconv.Quote(oneLine(n))
		if n != "" && (strings.Contains(lower, name) || strings.Contains(name, lower)) && !slices.Contains(like, quoted) && len(like) < few {
			like = append(like, quoted)
		}
	}
	return strings.Join(like, ", ")
}

// dayOf is the time from which on what text tells is.
func dayOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	from, _, err := dates.Parse(text, now, zone)
	return from, err
}

// hostOf is the host of a URL.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}
