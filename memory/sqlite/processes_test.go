package sqlite

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"hark/memory"
	"hark/memory/sqlstore"
	"hark/memory/vectors"
)

// Two stores on one file act like two processes: SQLite and the stores can't tell the difference.

func TestStoresOnOneFileSeeEachOther(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	a, b := open(t, dir), open(t, dir)
	ctx := t.Context()
	apply(t, a, posted(general, 1, "apples"), posted(general, 2, "apricots"), posted(general, 50, "bananas"))
	apply(t, a, memory.GuildSeen{Guild: memory.Guild{ID: guild, Name: "Orchard",
		Channels: []memory.Channel{{ID: general, Name: "general"}}}})
	drain(t, a)
	lore := func(n int, name string) memory.LoreTold {
		return memory.LoreTold{Lore: memory.Lore{ID: 1, Guild: guild, Name: name, Text: "is due", At: idAt(n)}}
	}
	gone := lore(1, "gone")
	gone.Lore.ID = 2
	apply(t, a, lore(1, "X"), gone)
	nearest(t, a, in(general), "apples") // loads the vectors
	if known, err := a.Lore(ctx, guild); err != nil || len(known) != 2 {
		t.Fatal(known, err)
	}
	if _, err := a.People(ctx, guild); err != nil {
		t.Fatal(err)
	}

	apply(t, b, posted(secret, 3, "cherries"), deleted(general, 1, 50), posted(general, 4, "dates"),
		posted(general, 100, "zucchini"),
		memory.PersonSeen{Person: memory.Person{Guild: guild, ID: 9, Username: "nine"}}, lore(2,
			"Y"), memory.LoreGone{Guild: guild, ID: 2},
		memory.ChannelSeen{Channel: memory.Channel{ID: general, Guild: guild, Name: "renamed"}})

	g, err := a.Guild(ctx, guild)
	if err != nil || len(g.Channels) != 2 || g.Channels[0].Name != "renamed" {
		t.Errorf("structure: %+v, %v", g, err)
	}
	if known, err := a.Lore(ctx, guild); err != nil || len(known) != 1 || known[0].Name != "Y" {
		t.Errorf("lore: %+v, %v", known, err)
	}
	if people, err := a.People(ctx, guild); err != nil || len(people) != 1 {
		t.Errorf("people: %v, %v", people, err)
	}
	if got := find(t, a, in(general, secret), "apples cherries bananas"); !slices.Equal(got,
		[]memory.MessageID{id(3)}) {
		t.Errorf("full text finds %v", got)
	}
	vector := func(s *Store) []memory.MessageID { return nearest(t, s, in(general, secret), "apples") }
	until := in(general) // by what the other knew before
	until.Until = id(60).Time()
	if got := find(t, a, until, "zucchini"); len(got) > 0 {
		t.Errorf("found %v, of later", got)
	}
	if v, err := a.Nearest(ctx, in(general), a.engine.options.Space, make([]float32, 0), 1); err == nil {
		t.Errorf("no vector finds %v", v)
	}
	drain(t, b)
	if got := vector(a); slices.Contains(got, id(1)) || slices.Contains(got, id(50)) || !slices.Contains(got, id(3)) {
		t.Errorf("nearest are %v", got)
	}
	// The other's numbers aren't reused.
	apply(t, a, posted(general, 5, "elderberries"), posted(secret, 6, "figs"), posted(3000, 7, "grapes"))
	apply(t, b, posted(general, 8, "hazelnuts"), posted(3000, 9, "ivy"), posted(4000, 10, "junipers"))
	apply(t, a, posted(4000, 11, "kiwis"))
	for _, s := range []*Store{a, b} {
		if got := find(t, s, in(general, secret, 3000, 4000),
			"elderberries figs grapes hazelnuts ivy junipers kiwis"); len(got) != 7 {
			t.Errorf("%d of 7 found", len(got))
		}
		checkSound(t, s)
	}
}

// A segment's number reused in a channel outside the scope isn't found.
func TestNearestVerifiesWhereASegmentIs(t *testing.T) {
	t.Parallel()
	s := open(t, emptyDir(t))
	apply(t, s, posted(general, 1, "apples"), posted(secret, 2, "apples"))
	drain(t, s)
	if got := nearest(t, s, in(general), "apples"); !slices.Equal(got, []memory.MessageID{id(1)}) {
		t.Fatalf("nearest are %v", got)
	}
	// As if the segment was deleted and its number reused in the other channel between search and read.
	execute(t, s.engine.write, "UPDATE segment SET channel = 1 + (SELECT min(channel) FROM segment)")
	if hits, err := s.Nearest(bg, in(general), s.engine.options.Space, unit(), 10); err != nil || len(hits) > 0 {
		t.Errorf("got %v, %v", hits, err)
	}
	// As if another space had become active meanwhile.
	index := sqlstore.Index(s.Store)
	index.Drop(1)
	execute(t, raw(t, s.engine.dir), "UPDATE meta SET value = 'another' WHERE key = 'space'")
	search, err := index.Search(bg, s.engine.options.Space, []vectors.Scope{{Guild: 1}})
	must(t, err)
	defer search.Close()
	if !search.Empty() {
		t.Error("vectors of another space were read")
	}
}

// After another process's write, only the guilds whose vectors it changed are loaded again. The same holds
// for a first write and a failed one.
func TestVectorsThatNobodyChangedStayLoaded(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	a, b := open(t, dir), open(t, dir)
	apply(t, b, inGuild(1, 1, "apples"), inGuild(1, 1000, "bananas"), inGuild(2, 2, "apples"))
	drain(t, b)
	load(t, a, 1)
	load(t, a, 2)
	stay := func(what string, first, second bool) {
		t.Helper()
		if load(t, a, 1) == first || load(t, a, 2) == second {
			t.Errorf("%s: the first guild's or the second's aren't those of before, or are and shouldn't be", what)
		}
	}
	apply(t, a, inGuild(3, 3, "a first write"))
	stay("a first write", true, true)
	apply(t, b, inGuild(1, 2000, "cherries"))
	stay("a message that nobody embedded yet", true, true)
	execute(t, raw(t, dir), "CREATE TRIGGER no BEFORE INSERT ON message BEGIN SELECT raise(ABORT, 'no'); END")
	wantError(t, a.Apply(bg, inGuild(1, 3000, "dates")))
	execute(t, raw(t, dir), "DROP TRIGGER no")
	stay("a write that failed", true, true)
	drain(t, b)
	stay("another's vector", false, true)
	asked(t, a, 3, 1)
	apply(t, b, memory.Deleted{Guild: 1, Channel: 1, IDs: []memory.MessageID{id(1000)}})
	stay("another's deletion", false, true)
	asked(t, a, 2, 1)
	apply(t, a, inGuild(2, 4000, "elderberries"))
	drain(t, a)
	stay("vectors of one's own", true, true)
	asked(t, a, 2, 2)
	forget(t, b, memory.Forgetting{Guild: 2, Before: id(5000).Time(), Why: memory.WhyPurge})
	stay("another's forgetting", true, false)
	if got := nearest(t, a, in(1, 2), "apples"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	execute(t, raw(t, dir), "UPDATE segment SET size = size + 1 WHERE id = (SELECT min(id) FROM segment)")
	must(t, sqlstore.Reindex(bg, a.Store, nil))
	stay("what is cut into segments again", false, false)
}

// load waits until a guild is loaded, and reports whether it wasn't in memory before.
func load(t *testing.T, s *Store, guild int64) bool {
	t.Helper()
	must(t, s.engine.Notice(bg))
	index := sqlstore.Index(s.Store)
	before := index.Stats().Loads
	search, err := index.Search(bg, s.engine.options.Space, []vectors.Scope{{Guild: guild}})
	must(t, err)
	search.Close()
	return index.Stats().Loads > before
}

func asked(t *testing.T, s *Store, each int, guilds ...memory.ChannelID) {
	t.Helper()
	for _, g := range guilds {
		if got := nearest(t, s, in(g), "apples"); len(got) != each {
			t.Errorf("guild %d finds %d of %d", g, len(got), each)
		}
	}
}

// Stores that write and read one file at once lose nothing and don't disturb each other.
func TestConcurrentStores(t *testing.T) {
	t.Parallel()
	const each = 15
	dir := emptyDir(t)
	stores := []*Store{open(t, dir), open(t, dir), open(t, dir)}
	var writers sync.WaitGroup
	for k, s := range stores {
		writers.Go(func() {
			for n := range each {
				channel := general + memory.ChannelID(n%4)
				if err := s.Apply(t.Context(), posted(channel, 3*n+k, fmt.Sprintf("apples n%dk%d", n, k)),
					memory.ChannelSeen{Channel: memory.Channel{ID: channel + 10*memory.ChannelID(k),
						Guild: guild + memory.GuildID(n%2), Name: "x"}}); err != nil {
					t.Error(err)
				}
				if n > 0 {
					if err := s.Apply(t.Context(), deleted(general+memory.ChannelID((n-1)%4), 3*(n-1)+k)); err != nil {
						t.Error(err)
					}
				}
				if _, err := s.Guild(t.Context(), guild); err != nil {
					t.Error(err)
				}
				drain(t, s)
			}
		})
	}
	writers.Wait()
	for _, s := range stores {
		got := find(t, s, in(general, general+1, general+2, general+3), "apples")
		slices.Sort(got)
		if want := []memory.MessageID{id(3*each - 3), id(3*each - 2), id(3*each - 1)}; !slices.Equal(got, want) {
			t.Errorf("left are %v, want %v", got, want)
		}
		checkSound(t, s)
	}
}
