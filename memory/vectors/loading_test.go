package vectors

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"hark/internal/wait"
	"hark/memory"
)

// limited is an index of guilds with each rows, whose limit allows so many exact ones at a time.
func limited(t *testing.T, guilds, each, holds int) (*Index, *fakeSource) {
	t.Helper()
	source := newSource()
	for guild := range int64(guilds) {
		for id := range int64(each) {
			source.commit(guild+1, row(id, 0, random(int(id))))
		}
	}
	return newIndex(t, source, Options{Limit: exactBytes(holds*each) + 1}), source
}

func wantFound(t *testing.T, x *Index, want int, guilds ...int64) {
	t.Helper()
	for _, guild := range guilds {
		if got := find(t, x, random(1), 100, always(guild, 0)); len(got) != want {
			t.Errorf("%d rows of guild %d are found, want %d", len(got), guild, want)
		}
	}
}

func wantLoaded(t *testing.T, x *Index, exact int, want ...int64) {
	t.Helper()
	got := x.Stats()
	if !slices.Equal(got.Guilds, want) || got.Exact != exact {
		t.Errorf("loaded are %v, %d of them exact; want %v, %d", got.Guilds, got.Exact, want, exact)
	}
}

func TestGuildsAskedAboutLastStayLoaded(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 5, 10, 3)
	wantLoaded(t, x, 0)
	wantFound(t, x, 10, 1, 2, 3)
	wantLoaded(t, x, 3, 1, 2, 3)
	wantFound(t, x, 10, 1, 4)
	wantLoaded(t, x, 3, 1, 3, 4)
	if s := x.Stats(); s.Rows != 30 || s.Bytes != exactBytes(30) || s.Loads != 4 {
		t.Errorf("it holds %+v", s)
	}
	all := []Scope{always(1, 0), always(2, 0), always(3, 0), always(4, 0), always(5, 0)}
	if got := find(t, x, random(1), 100, all...); len(got) != 50 {
		t.Errorf("all guilds together find %d of 50", len(got))
	}
}

// A guild is exact up to half of the limit. It changes its form as it grows and shrinks, and finds as much.
func TestLargeGuildsHaveSketchesOnly(t *testing.T) {
	t.Parallel()
	x, source := limited(t, 1, 10, 2) // room for exactly ten
	wantFound(t, x, 10, 1)
	wantLoaded(t, x, 1, 1)
	x.Apply(map[int64]Change{1: source.commit(1, row(50, 0, random(3)))})
	wantLoaded(t, x, 0)
	wantFound(t, x, 11, 1)
	wantLoaded(t, x, 0, 1)
	x.Apply(map[int64]Change{1: source.commit(1, Row{ID: 50}, Row{ID: 1})})
	wantFound(t, x, 9, 1)
	wantLoaded(t, x, 0, 1) // it doesn't change back and forth
	x.Apply(map[int64]Change{1: source.commit(1, Row{ID: 2}, Row{ID: 3}, Row{ID: 4}, Row{ID: 5})})
	wantFound(t, x, 5, 1)
	wantLoaded(t, x, 1, 1)
}

// One guild always fits, however large.
func TestOneGuildAlwaysFits(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 3, 3, 0)
	for range 2 {
		for guild := range int64(3) {
			wantFound(t, x, 3, guild+1)
			wantLoaded(t, x, 0, guild+1)
		}
	}
}

// A search goes on in a guild that was evicted meanwhile. Its vectors are zero once it has ended.
func TestSearchesGoOnInWhatIsEvicted(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 2, 3, 0)
	x.options.Limit = 0 // exact
	search, err := x.Search(t.Context(), space, []Scope{always(1, 0)})
	must(t, err)
	block := search.guilds[0].exact.arena.blocks[0]
	x.Drop(1)
	found, _, err := search.Nearest(t.Context(), random(1), 10)
	if err != nil || len(found) != 3 {
		t.Errorf("found %v, %v", found, err)
	}
	search.Close()
	if slices.ContainsFunc(block, func(v float32) bool { return v != 0 }) {
		t.Error("its vectors are in memory still")
	}
	wantFound(t, x, 3, 1)
	block = x.guilds[1].exact.arena.blocks[0]
	x.Close()
	if slices.ContainsFunc(block, func(v float32) bool { return v != 0 }) {
		t.Error("vectors of a closed index are in memory still")
	}
}

// What is deleted while a search runs is overwritten at its end, without another search. Who deletes doesn't wait.
func TestConcurrentDeletionIsCompleteAfterTheSearch(t *testing.T) {
	t.Parallel()
	source := newSource()
	source.commit(1, row(1, 0, random(1)), row(2, 0, random(2)))
	x := newIndex(t, source, Options{})
	wantFound(t, x, 2, 1)
	g := x.guilds[1]
	vector := g.exact.arena.at(g.table.slots[1])
	search, err := x.Search(t.Context(), space, []Scope{always(1, 0)})
	must(t, err)
	defer search.Close()
	during := asked{t.Context(), func() {
		x.Apply(map[int64]Change{1: source.commit(1, Row{ID: 1})})
		if g.count.Load() != 2 {
			t.Error("the table changed under a search")
		}
	}}
	_, _, err = search.Nearest(during, random(1), 10)
	must(t, err)
	if g.count.Load() != 1 || slices.ContainsFunc(vector, func(v float32) bool { return v != 0 }) {
		t.Error("the vector is in memory still")
	}
}

// asked is a context that calls a function when it is asked whether it has ended, as a search does when chromem-go has
// ranked.
type asked struct {
	context.Context
	then func()
}

func (a asked) Err() error {
	a.then()
	return nil
}

// A change that follows one that is missing isn't applied: the guild is loaded again.
func TestAMissingChangeIsNoticed(t *testing.T) {
	t.Parallel()
	source := newSource()
	source.commit(1, row(1, 0, random(1)))
	x := newIndex(t, source, Options{})
	wantFound(t, x, 1, 1)
	source.commit(1, row(2, 0, random(2))) // by another process, and nobody has noticed yet
	x.Apply(map[int64]Change{1: source.commit(1, row(3, 0, random(3)))})
	wantLoaded(t, x, 0)
	wantFound(t, x, 3, 1)
}

// A search says how near those are at most that it left out.
func TestHowNearTheOthersAre(t *testing.T) {
	t.Parallel()
	for _, holds := range []int{9, 0} { // exact, and by sketches
		x, _ := limited(t, 2, 5, holds)
		search, err := x.Search(t.Context(), space, []Scope{always(1, 0), always(2, 0)})
		must(t, err)
		all, beyond, err := search.Nearest(t.Context(), random(1), 10)
		if must(t, err); len(all) != 10 || !NothingLeft(beyond) {
			t.Errorf("of 10, %d are found, and others are at most as near as %v", len(all), beyond)
		}
		some, beyond, err := search.Nearest(t.Context(), random(1), 2)
		if must(t, err); len(some) != 4 || NothingLeft(beyond) || beyond != some[3].Similarity {
			t.Errorf("of 10, %d are found, and others are at most as near as %v", len(some), beyond)
		}
		search.Close()
	}
}

// hold makes loading wait until release is called.
func hold(x *Index) (release func()) {
	for range maxLoads {
		x.loadSlots <- struct{}{}
	}
	return func() {
		for range maxLoads {
			<-x.loadSlots
		}
	}
}

// While guilds load, others can be searched.
func TestConcurrentLoadingKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, maxLoads+2, 3, 9)
	wantFound(t, x, 3, 1)
	release := hold(x)
	loaded := make(chan error)
	for guild := range int64(maxLoads + 1) {
		go func() {
			search, err := x.Search(context.Background(), space, []Scope{always(guild+2, 0)})
			if err == nil {
				search.Close()
			}
			loaded <- err
		}()
	}
	wantFound(t, x, 3, 1)
	release()
	for range maxLoads + 1 {
		must(t, <-loaded)
	}
	wantFound(t, x, 3, 2, 3, 4)
	wantLoaded(t, x, 4, 1, 2, 3, 4)
}

// A search goes on without guilds that aren't loaded in time. Later ones have them.
func TestConcurrentSearchesDoNotWaitForLoading(t *testing.T) {
	t.Parallel()
	x, source := limited(t, 2, 3, 9)
	x.options.Patience = 1
	release := hold(x)
	for range 3 {
		wantFound(t, x, 0, 1)
	}
	x.Apply(map[int64]Change{1: source.commit(1, row(9, 0, random(9)))}) // while it waits to be loaded
	release()
	<-x.begin(1, space).loaded
	wantFound(t, x, 4, 1)
	defer hold(x)()
	if got := find(t, x, random(1), 100, always(1, 0), always(2, 0)); len(got) != 4 {
		t.Errorf("of a guild that is loaded and one that isn't, found %v", got)
	}
	wantFound(t, x, 0, 2)
}

// Guilds that don't fit together evict each other, and each is waited for when it is searched again.
func TestGuildsThatMadeRoomAreWaitedFor(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 2, 3, 0)
	wantFound(t, x, 3, 1, 2)
	x.options.Patience = 1
	x.evictedTimeout = wait.Limit
	wantLoaded(t, x, 0, 2)
	x.evicted[2] = true // before it is
	for range 3 {
		wantFound(t, x, 3, 1, 2)
	}
}

// waitingContext tells when somebody waits for its end.
type waitingContext struct {
	context.Context
	waits chan struct{}
}

func (w waitingContext) Done() <-chan struct{} {
	select {
	case w.waits <- struct{}{}:
	default:
	}
	return w.Context.Done()
}

// A caller that gives up doesn't affect others' waits.
func TestConcurrentLoadingGoesOnWhenOneGivesUp(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 1, 3, 9)
	release := hold(x)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for _, ctx := range []context.Context{ctx, t.Context()} {
		waiting := waitingContext{ctx, make(chan struct{}, 1)}
		go func() {
			search, err := x.Search(waiting, space, []Scope{always(1, 0)})
			if err == nil {
				search.Close()
			}
			ended <- err
		}()
		<-waiting.waits
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up is told %v", err)
	}
	release()
	must(t, <-ended)
	wantFound(t, x, 3, 1)
}

// Closing the index ends loading and waits for it.
func TestConcurrentLoadingEndsWithTheIndex(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 1, 3, 9)
	hold(x)
	g := x.begin(1, space)
	x.Close()
	select {
	case <-g.loaded:
		if !errors.Is(g.err, context.Canceled) {
			t.Errorf("loading ended with %v", g.err)
		}
	default:
		t.Error("it is still being loaded")
	}
	if search, err := x.Search(t.Context(), memory.Space{}, []Scope{always(1, 0)}); err != nil || !search.Empty() {
		t.Errorf("a closed index loads something, %v", err)
	}
}

// If loading fails while nobody waits, the next caller gets the error. Then it is tried again.
func TestLoadingThatFailsUnseen(t *testing.T) {
	t.Parallel()
	x, source := limited(t, 1, 3, 9)
	source.broken = errors.New("broken")
	g := x.begin(1, space)
	<-g.loaded
	x.release(g)
	source.broken = nil
	if _, err := x.Search(t.Context(), space, []Scope{always(1, 0)}); err == nil {
		t.Error("nobody is told")
	}
	wantFound(t, x, 3, 1)
}

// If another process's write drops vectors that a caller waits for, it gets those loaded next.
func TestConcurrentLoadingOfVectorsThatAreThrownAway(t *testing.T) {
	t.Parallel()
	x, _ := limited(t, 1, 3, 9)
	release := hold(x)
	found := make(chan []Found)
	waiting := waitingContext{t.Context(), make(chan struct{}, 1)}
	go func() {
		search, err := x.Search(waiting, space, []Scope{always(1, 0)})
		if err != nil {
			t.Error(err)
		}
		some, _, err := search.Nearest(waiting, random(1), 10)
		if err != nil {
			t.Error(err)
		}
		search.Close()
		found <- some
	}()
	<-waiting.waits
	old := x.begin(1, space)
	x.Reset(space) // as when another process has changed the space
	<-old.loaded
	x.release(old)
	release()
	if some := <-found; len(some) != 3 {
		t.Errorf("found %v", some)
	}
}

// Commits between reading the database and completing the index are in it.
func TestChangesWhileAGuildIsRead(t *testing.T) {
	t.Parallel()
	for _, others := range []bool{false, true} { // whether the commits are another process's
		source := newSource()
		source.commit(1, row(1, 0, random(1)), row(2, 0, random(2)))
		x := newIndex(t, source, Options{})
		source.loading = func() {
			source.loading = nil
			changes := []Change{source.commit(1, row(3, 0, random(3)), Row{ID: 3}, row(4, 0, random(4))),
				source.commit(1, Row{ID: 1})}
			for _, c := range changes {
				if others {
					x.Refresh(x.Guilds(), map[int64]int64{1: c.Version})
					continue
				}
				x.Apply(map[int64]Change{1: c})
			}
		}
		var ids []int64
		for _, f := range find(t, x, random(1), 10, always(1, 0)) {
			ids = append(ids, f.ID)
		}
		slices.Sort(ids)
		if !slices.Equal(ids, []int64{2, 4}) {
			t.Errorf("found %v", ids)
		}
		if want := map[bool]int{false: 1, true: 2}[others]; source.loads[1] != want {
			t.Errorf("it was read %d times, want %d", source.loads[1], want)
		}
	}
}

// The counted size matches the memory, of both forms.
func TestWhatVectorsTake(t *testing.T) { // not parallel: it measures the heap
	const n = 20_000
	wide := memory.Space{Name: "wide", Dimensions: 384}
	used := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, limit := range map[string]int64{"exact": 0, "sketches": 1} {
		vector := make([]float32, wide.Dimensions)
		vector[0] = 1
		one := row(0, 0, vector)
		source := &sameRow{one, n}
		x := New(source, Options{Limit: limit})
		x.Reset(wide)
		before := used()
		search, err := x.Search(t.Context(), wide, []Scope{always(1, 0)})
		must(t, err)
		search.Close()
		took, counted := used()-before, x.Stats().Bytes
		t.Logf("%s: %d bytes a vector, %d are counted", name, took/n, counted/n)
		if took > counted*115/100 || took < counted*85/100 {
			t.Errorf("%s: %d vectors took %d bytes and count as %d", name, n, took, counted)
		}
		x.Close()
	}
}

// sameRow is a source of a guild whose rows are equal, in 50 channels.
type sameRow struct {
	row Row
	n   int
}

// Load implements Source.
func (s *sameRow) Load(_ context.Context, _ int64, _ memory.Space, begin func(int) bool,
	put func(Row) error) (int64, error) {
	begin(s.n)
	for i := range s.n {
		r := s.row
		r.ID = int64(i)
		r.Channel = uint32(i % 50)
		if err := put(r); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

// Steps implements Source.
func (s *sameRow) Steps(context.Context, int64, memory.Space, []int64, func(int64, []byte) error) error {
	return nil
}
