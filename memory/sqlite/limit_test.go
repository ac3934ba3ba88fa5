package sqlite

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"hark/memory"
	"hark/memory/memorytest"
	"hark/memory/sqlstore"
)

// inGuild is a message in a guild's only channel, which has the guild's id.
func inGuild(g memory.GuildID, n int, content string) memory.Posted {
	p := posted(memory.ChannelID(g), n, content)
	p.Message.Guild = g
	return p
}

func spent(user memory.UserID, n, tokens int) memory.Spent {
	return memory.Spent{Guild: guild, User: user, Question: id(n), Tokens: tokens}
}

// limited is a store of guilds with each segments; its limit allows the vectors of holds at a time.
func limited(t *testing.T, guilds, each, holds int) *Store {
	t.Helper()
	space := memorytest.Embedder{}.Space()
	one := int64(perRow + 8*rotations*newTable(1, space.Dimensions).words)
	s, err := Open(t.Context(), emptyDir(t), Options{Space: space, IndexLimit: one*int64(holds*each) + 1})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	for g := 1; g <= guilds; g++ {
		for n := range each {
			apply(t, s, inGuild(memory.GuildID(g), 1000*n, fmt.Sprintf("apples guild%d number%d", g, n)))
		}
	}
	drain(t, s)
	return s
}

func asked(t *testing.T, s *Store, each int, guilds ...memory.ChannelID) {
	t.Helper()
	for _, g := range guilds {
		if got := nearest(t, s, in(g), "apples"); len(got) != each {
			t.Errorf("guild %d finds %d of %d", g, len(got), each)
		}
	}
}

func wantLoaded(t *testing.T, s *Store, want ...int64) {
	t.Helper()
	s.engine.vectors.mu.Lock()
	defer s.engine.vectors.mu.Unlock()
	if got := slices.Sorted(maps.Keys(s.engine.vectors.guilds)); !slices.Equal(got, want) {
		t.Errorf("loaded are %v, want %v", got, want)
	}
}

func TestGuildsAskedAboutLastStayLoaded(t *testing.T) {
	t.Parallel()
	s := limited(t, 4, 3, 2)
	wantLoaded(t, s)
	asked(t, s, 3, 1)
	wantLoaded(t, s, 1)
	asked(t, s, 3, 2, 3)
	wantLoaded(t, s, 2, 3)
	asked(t, s, 3, 2, 1)
	wantLoaded(t, s, 1, 2)
	asked(t, s, 3, 4, 4, 4)
	wantLoaded(t, s, 1, 4)
	if got := nearest(t, s, in(1, 2, 3, 4), "apples"); len(got) != 12 {
		t.Errorf("all guilds together find %d of 12", len(got))
	}
	wantLoaded(t, s, 3, 4)
}

// Changes while a guild wasn't loaded are there after loading.
func TestWhatChangesWhileAGuildIsNotLoaded(t *testing.T) {
	t.Parallel()
	s := limited(t, 3, 3, 1)
	asked(t, s, 3, 1, 2)
	wantLoaded(t, s, 2)
	apply(t, s, inGuild(1, 9000, "apples, late"), memory.Deleted{Guild: 1, Channel: 1, IDs: []memory.MessageID{id(0)}})
	drain(t, s)
	wantLoaded(t, s, 2)
	if got := nearest(t, s, in(1), "apples"); !slices.Contains(got, id(9000)) ||
		slices.Contains(got, id(0)) || len(got) != 3 {
		t.Errorf("found %v", got)
	}
}

// One guild always fits, however large. A growing one evicts others.
func TestOneGuildAlwaysFits(t *testing.T) {
	t.Parallel()
	s := limited(t, 3, 3, 0)
	for range 2 {
		for g := range memory.ChannelID(3) {
			asked(t, s, 3, g+1)
			wantLoaded(t, s, int64(g+1))
		}
	}
	s = limited(t, 2, 3, 2)
	asked(t, s, 3, 1, 2)
	wantLoaded(t, s, 1, 2)
	apply(t, s, inGuild(2, 9000, "apples, late"))
	drain(t, s)
	wantLoaded(t, s, 2)
	asked(t, s, 4, 2)
}

// A running search continues after its guild's vectors were evicted.
func TestSearchesGoOnInWhatIsForgotten(t *testing.T) {
	t.Parallel()
	s := limited(t, 2, 3, 1)
	space := s.engine.options.Space
	x, err := s.engine.index(t.Context(), 1, space)
	must(t, err)
	nos := numbersOf(t, s, in(1))
	asked(t, s, 3, 2)
	wantLoaded(t, s, 2)
	apply(t, s, memory.Deleted{Guild: 1, Channel: 1, IDs: []memory.MessageID{id(0)}})
	found, _, err := x.nearest(t.Context(), s.engine, unit(), scopeFilter(in(1), 1, nos), 10)
	if err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
	if hits := nearest(t, s, in(1), "x"); slices.Contains(hits, id(0)) {
		t.Errorf("what was deleted is found: %v", hits)
	}
}

// hold makes loading wait until release is called.
func hold(s *Store) (release func()) {
	for range maxLoads {
		s.engine.vectors.loadSlots <- struct{}{}
	}
	return func() {
		for range maxLoads {
			<-s.engine.vectors.loadSlots
		}
	}
}

// While guilds load, others can be searched.
func TestConcurrentLoadingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := limited(t, maxLoads+2, 3, 9)
	asked(t, s, 3, 1)
	release := hold(s)
	loaded := make(chan error)
	for g := range memory.ChannelID(maxLoads + 1) {
		go func() {
			_, err := s.engine.index(bg, int64(g+2), s.engine.options.Space)
			loaded <- err
		}()
	}
	asked(t, s, 3, 1)
	release()
	for range maxLoads + 1 {
		if err := <-loaded; err != nil {
			t.Error(err)
		}
	}
	asked(t, s, 3, 2, 3, 4)
	wantLoaded(t, s, 1, 2, 3, 4)
}

// An index's counted size matches its memory.
func TestWhatVectorsTake(t *testing.T) { // not parallel: it measures the heap
	space := memory.Space{Name: "large", Dimensions: 384}
	const n = 20_000
	x := &index{guild: 1, space: space}
	s := limited(t, 1, 1, 1)
	used := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := used()
	must(t, x.fill(t.Context(), s.engine))
	sketch := make([]byte, 8*rotations*x.table.words)
	for i := range n {
		x.apply(vectorChange{version: x.version + 1, put: []storedVector{{segment: 1<<sqlstore.SegmentBits + int64(i),
			channel: 1<<sqlstore.ChannelBits + int64(i%50), sketch: sketch}}})
	}
	took, counted := used()-before, x.size.Load()
	t.Logf("%d bytes a vector beside its sketch", took/n-int64(8*rotations*x.table.words))
	if took > counted*115/100 || took < counted*85/100 {
		t.Errorf("%d vectors took %d bytes and count as %d", n, took, counted)
	}
	runtime.KeepAlive(x)
}
