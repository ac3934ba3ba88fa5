package vectors

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// Options configure an Index.
type Options struct {
	// Limit bounds the bytes of memory for vectors and sketches together; 0: no limit. A guild whose vectors take more
	// than half of it has only sketches in memory. The guilds that were asked about last stay, at least one.
	Limit int64
	// Patience is how long a search waits for a guild to load, before it goes on without it; 0: no limit. Loading
	// continues for later searches.
	Patience time.Duration
}

// Index is the vectors of all guilds. Its methods are safe for concurrent use.
type Index struct {
	source         Source
	options        Options
	evictedTimeout time.Duration
	loadSlots      chan struct{}
	loads          sync.WaitGroup // running loads, which Close waits for

	mu      sync.Mutex
	closed  bool             // no more loading
	space   memory.Space     // of the vectors
	guilds  map[int64]*guild // by number
	clock   int64            // counts uses
	evicted map[int64]bool   // guilds that made room for others, or changed their form
	begun   int              // loads
}

const (
	// evictedTimeout is the least time that a search with Options.Patience waits for an evicted guild. Without it,
	// guilds that are asked about in turn and don't fit in memory together would never be searched.
	evictedTimeout = 3 * time.Second
	// maxLoads bounds how many guilds load at once, so that other searches get a connection to the database.
	maxLoads = 2
	// whole is the limit's part that an exact guild may take, and back what a guild with sketches would take at most
	// before it becomes exact again.
	whole, back = 2, 4
)

// New returns an index without a space.
func New(source Source, o Options) *Index {
	return &Index{
		source:         source,
		options:        o,
		evictedTimeout: evictedTimeout,
		loadSlots:      make(chan struct{}, maxLoads),
		guilds:         map[int64]*guild{},
		evicted:        map[int64]bool{},
	}
}

// Stats are what an index holds.
type Stats struct {
	Guilds []int64 // loaded, or being loaded
	Exact  int     // how many of them aren't held as sketches
	Rows   int64
	Bytes  int64
	Loads  int // begun so far
}

// Stats returns what the index holds.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := Stats{Guilds: slices.Sorted(maps.Keys(x.guilds)), Loads: x.begun}
	for _, g := range x.guilds {
		s.Rows += g.count.Load()
		s.Bytes += g.size.Load()
		select {
		case <-g.loaded:
			if g.exact != nil {
				s.Exact++
			}
		default:
		}
	}
	return s
}

// Space returns the space of the vectors.
func (x *Index) Space() memory.Space {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.space
}

// Reset drops all guilds. Later loads are of space.
func (x *Index) Reset(space memory.Space) {
	x.mu.Lock()
	x.space = space
	gone := x.take(slices.Collect(maps.Values(x.guilds))...)
	x.mu.Unlock()
	wipe(gone)
}

// Close ends loading and drops everything.
func (x *Index) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.Reset(memory.Space{})
	x.loads.Wait()
}

// Apply applies a commit's changes, by guild. Only guilds in memory need them.
func (x *Index) Apply(changes map[int64]Change) {
	for number, c := range changes {
		x.mu.Lock()
		g := x.guilds[number]
		x.mu.Unlock()
		if g != nil && !g.note(c) {
			x.drop(g)
		}
	}
	if len(changes) > 0 {
		x.evict()
	}
}

// Guilds returns the numbers of the guilds in memory.
func (x *Index) Guilds() []int64 { return x.Stats().Guilds }

// Refresh drops those of guilds whose version in the database is another. guilds are those that were in memory before
// the versions were read; one without a version has 0.
func (x *Index) Refresh(guilds []int64, versions map[int64]int64) {
	for _, number := range guilds {
		x.mu.Lock()
		g := x.guilds[number]
		x.mu.Unlock()
		if g != nil && !g.upToDate(versions[number]) {
			x.drop(g)
		}
	}
}

// Drop drops a guild, which later searches load again.
func (x *Index) Drop(number int64) {
	x.mu.Lock()
	g := x.guilds[number]
	x.mu.Unlock()
	if g != nil {
		x.drop(g)
	}
}

// Settle returns once everything that was deleted is overwritten in memory.
func (x *Index) Settle() {
	x.mu.Lock()
	guilds := slices.Collect(maps.Values(x.guilds))
	x.mu.Unlock()
	for _, g := range guilds {
		g.catchUp()
	}
}

// drop drops a guild and reports whether it was still in memory.
func (x *Index) drop(g *guild) bool {
	x.mu.Lock()
	was := x.guilds[g.number] == g
	var gone []*guild
	if was {
		gone = x.take(g)
	}
	x.mu.Unlock()
	wipe(gone)
	return was
}

// take takes guilds out of the index, and returns those that nobody uses. The caller holds mu.
func (x *Index) take(guilds ...*guild) (unused []*guild) {
	for _, g := range guilds {
		delete(x.guilds, g.number)
		g.dropped = true
		g.cancelLoad()
		if g.users == 0 {
			unused = append(unused, g)
		}
	}
	return unused
}

func wipe(guilds []*guild) {
	for _, g := range guilds {
		g.wipe()
	}
}

// release ends a use of a guild.
func (x *Index) release(g *guild) {
	x.mu.Lock()
	g.users--
	last := g.dropped && g.users == 0
	x.mu.Unlock()
	if last {
		g.wipe()
	}
}

// begin returns a guild to use, and starts to load it if needed; nil if space isn't the index's. Loading ends with the
// index, not with a caller's context: others may still wait.
func (x *Index) begin(number int64, space memory.Space) *guild {
	x.mu.Lock()
	defer x.mu.Unlock()
	if space != x.space || x.closed {
		return nil
	}
	g, ok := x.guilds[number]
	if !ok {
		ctx, cancel := context.WithCancel(context.Background())
		g = &guild{
			number:     number,
			space:      space,
			cancelLoad: cancel,
			loaded:     make(chan struct{}),
			users:      1,
		}
		x.guilds[number] = g
		x.begun++
		x.loads.Go(func() {
			defer cancel()
			defer x.release(g)
			x.load(ctx, g)
		})
	}
	x.clock++
	g.used = x.clock
	g.users++
	return g
}

func (x *Index) load(ctx context.Context, g *guild) {
	defer close(g.loaded)
	select {
	case x.loadSlots <- struct{}{}:
	case <-ctx.Done():
		g.err = ctx.Err()
		return
	}
	defer func() { <-x.loadSlots }()
	g.err = g.load(ctx, x.source, x.mayBeExact)
	if g.err == nil {
		x.evict()
	}
}

// mayBeExact reports whether a guild may be exact that takes so many bytes.
func (x *Index) mayBeExact(bytes int64) bool {
	return x.options.Limit <= 0 || bytes <= x.options.Limit/whole
}

// loaded returns a loaded guild to use; nil if space isn't the index's, or if waiting ends first.
func (x *Index) loaded(waiting context.Context, number int64, space memory.Space) (*guild, error) {
	for {
		g := x.begin(number, space)
		if g == nil {
			return nil, nil
		}
		if !g.isLoaded(waiting) {
			x.release(g)
			return nil, nil
		}
		if g.err == nil {
			return g, nil
		}
		current := x.drop(g)
		x.release(g)
		if current { // else it was replaced: try the new one
			return nil, g.err
		}
	}
}

// evict drops the guilds that were used least recently beyond the limit, never the last used, and those whose vectors
// now need the other form. Searches that run in a dropped guild go on.
func (x *Index) evict() {
	if x.options.Limit <= 0 {
		return
	}
	x.mu.Lock()
	gone := x.take(x.unfit()...)
	total := int64(0)
	for _, g := range x.guilds {
		total += g.size.Load()
	}
	oldest := slices.SortedFunc(maps.Values(x.guilds), func(a, b *guild) int { return cmp.Compare(a.used, b.used) })
	for _, g := range oldest[:max(0, len(oldest)-1)] {
		n := g.size.Load()
		if total > x.options.Limit && n > 0 {
			total -= n
			x.evicted[g.number] = true
			gone = append(gone, x.take(g)...)
		}
	}
	x.mu.Unlock()
	wipe(gone)
}

// unfit returns the guilds that are exact and too large, or that could be exact again. The caller holds mu.
func (x *Index) unfit() (all []*guild) {
	for _, g := range x.guilds {
		size := g.size.Load()
		if size == 0 { // being loaded, or empty
			continue
		}
		unfit := g.exact != nil && !x.mayBeExact(size)
		if g.sketches != nil {
			rows := int(g.count.Load())
			exactly := int64(rows)*perRow + (&exact{dimensions: g.space.Dimensions}).bytes(rows)
			unfit = exactly <= x.options.Limit/back
		}
		if unfit {
			x.evicted[g.number] = true
			all = append(all, g)
		}
	}
	return all
}

func (x *Index) wasEvicted(guilds []int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(guilds, func(number int64) bool { return x.evicted[number] })
}
