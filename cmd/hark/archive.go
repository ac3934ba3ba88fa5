package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hark/internal/config"
	"hark/internal/terminal"
	"hark/internal/tokens"
	"hark/memory"
	"hark/memory/sqlite"
)

// archive is the memory of commands that need no embedder and no model.
type archive struct {
	*sqlite.Store
	config config.Config
	guilds []*memory.Guild
}

// openArchive opens the memory. It fails if there is none.
func (f *flags) openArchive(ctx context.Context) (*archive, error) {
	cfg, err := f.loadArchiveConfig()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, cfg.Data, sqlite.Options{Tokens: tokens.New().Count,
		Progress: f.progress("indexing words")})
	if err != nil {
		return nil, err
	}
	k, err := newArchive(ctx, store, cfg)
	if err == nil {
		err = dropStreams(cfg.Data) // which may hold what is to be forgotten
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return k, nil
}

// withArchive returns a command that gets the memory.
func (f *flags) withArchive(
	do func(c *cobra.Command, k *archive, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		k, err := f.openArchive(c.Context())
		if err != nil {
			return err
		}
		defer k.Close()
		return do(c, k, args)
	}
}

// newArchive returns an archive over an open store.
func newArchive(ctx context.Context, store *sqlite.Store, cfg config.Config) (*archive, error) {
	k := &archive{Store: store, config: cfg}
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

// loadArchiveConfig reads the configuration. It fails if the data directory holds no memory.
func (f *flags) loadArchiveConfig() (config.Config, error) {
	cfg, err := f.load()
	if err != nil {
		return cfg, err
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, sqlite.FileName)); errors.Is(err, fs.ErrNotExist) {
		return cfg, fmt.Errorf("nothing is remembered in %s: name the right directory with --data or HARK_DATA", cfg.Data)
	}
	return cfg, nil
}

// guildName returns a guild's name for messages.
func guildName(g *memory.Guild) string {
	switch g.ID {
	case memory.LocalGuild:
		return "local"
	case memory.DirectGuild:
		return "direct"
	}
	return cmp.Or(g.Name, g.ID.String())
}

// guild returns the guild with that id, empty if unknown.
func (k *archive) guild(id memory.GuildID) *memory.Guild {
	for _, g := range k.guilds {
		if g.ID == id {
			return g
		}
	}
	return &memory.Guild{ID: id}
}

// channelName returns a channel's name, or its id if unknown.
func (k *archive) channelName(guild memory.GuildID, id memory.ChannelID) string {
	for _, c := range k.guild(guild).Channels {
		if c.ID == id {
			return cmp.Or(c.Name, id.String())
		}
	}
	return id.String()
}

// findGuild returns the guild with that name or id; memory.Everywhere if name is empty.
func (k *archive) findGuild(name string) (memory.GuildID, error) {
	if name == "" {
		return memory.Everywhere, nil
	}
	var all []candidate[memory.GuildID]
	for _, g := range k.guilds {
		called := guildName(g)
		meant := strings.EqualFold(called, name) || g.ID.String() == name
		all = append(all, candidate[memory.GuildID]{g.ID, called, fmt.Sprintf("%d %s", g.ID, called), meant})
	}
	return pick("server", name, all,
		"an id works too; \"local\" is what was imported without a server, \"direct\" is direct messages")
}

// findChannel returns the channel with that name or id, in guild or Everywhere.
func (k *archive) findChannel(guild memory.GuildID, name string) (memory.Channel, error) {
	var all []candidate[memory.Channel]
	for _, g := range k.guilds {
		for _, c := range g.Channels {
			if guild != memory.Everywhere && guild != g.ID || c.Kind == memory.CategoryChannel {
				continue
			}
			c.Guild = g.ID
			byName := strings.EqualFold(c.Name, strings.TrimPrefix(name, "#")) || strings.EqualFold(c.Name, name)
			line := fmt.Sprintf("%d #%s in %s (%d)", c.ID, terminal.OneLine(c.Name), terminal.OneLine(guildName(g)), g.ID)
			all = append(all, candidate[memory.Channel]{c, c.Name, line, c.ID.String() == name ||
				c.Name != "" && byName})
		}
	}
	return pick("channel", name, all, "an id works too")
}

// findPerson returns the person called name in guild or Everywhere. It accepts unknown ids.
func (k *archive) findPerson(ctx context.Context, guild memory.GuildID, name string) (memory.UserID,
	[]memory.Person, error) {
	known, called := map[memory.UserID][]memory.Person{}, map[memory.UserID]bool{}
	var all []candidate[memory.UserID]
	for _, g := range k.guilds {
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
			where := terminal.OneLine(guildName(k.guild(p.Guild)))
			lines = append(lines, fmt.Sprintf("%d %s (%s) in %s (%d)", id, terminal.OneLine(p.DisplayName()),
				terminal.OneLine(p.Username), where, p.Guild))
		}
		all = append(all, candidate[memory.UserID]{value: id, line: strings.Join(lines, "\n  "), matches: true})
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
			is, lines = n.value, append(lines, n.line)
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
		lower, quoted := strings.ToLower(n.name), strconv.Quote(terminal.OneLine(n.name))
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

// hostOf returns a URL's host.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return cmp.Or(u.Host, address)
	}
	return address
}

// toStrings converts names to strings.
func toStrings[T ~string](names []T) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return all
}

// commaList joins names with commas.
func commaList[T ~string](names []T) string { return strings.Join(toStrings(names), ", ") }
