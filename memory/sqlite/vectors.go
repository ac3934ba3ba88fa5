package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"hark/memory"
)

// vectors are the guilds' vectors that are loaded for searching: a cache of the file's.
type indexCache struct {
	limit          int64         // bytes; see Options
	evictedTimeout time.Duration // evictedTimeout, but in tests
	loadSlots      chan struct{}
	loads          sync.WaitGroup // what loads; Close waits for it

	mu      sync.Mutex
	closed  bool             // so that nothing is loaded any more
	space   memory.Space     // in which they lie
	guilds  map[int64]*index // by guild number
	clock   int64            // how often any was used
	evicted map[int64]bool   // the guilds that made room for others
}

// evictedTimeout is how long a search waits at least, where it doesn't wait for as long as it takes, for a
// guild that was loaded and made room for others: or servers that are asked in turn and don't fit together
// would never be found by meaning.
const evictedTimeout = 3 * time.Second

// wasEvicted reports whether any of guilds was loaded and made room for others.
func (v *indexCache) wasEvicted(guilds []int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(guilds, func(guild int64) bool { return v.evicted[guild] })
}

// maxLoads bounds the guilds that are loaded at the same time, so that others' searches find a connection
// to read by.
const maxLoads = 2

// currentSpace is the space in which what is loaded lies.
func (v *indexCache) currentSpace() memory.Space {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.space
}

// reset forgets all that is loaded, and ends what loads; what is loaded from now on lies in space.
func (v *indexCache) reset(space memory.Space) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, x := range v.guilds {
		x.cancelLoad()
	}
	v.guilds, v.space = nil, space
}

// close ends what loads, and waits until it has ended.
func (v *indexCache) close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.reset(memory.Space{})
	v.loads.Wait()
}

// begin is a guild's index, which is being loaded unless it is already; nil if space isn't the one in use.
// Who asks may stop waiting and others go on, so that loading ends with the store and not with a caller's
// context.
func (e *engine) startLoading(guild int64, space memory.Space) *index {
	v := &e.vectors
	v.mu.Lock()
	defer v.mu.Unlock()
	if space != v.space || v.closed {
		return nil
	}
	if v.guilds == nil {
		v.guilds = map[int64]*index{}
	}
	x, ok := v.guilds[guild]
	if !ok {
		ctx, cancel := context.WithCancel(context.Background())
		x = &index{guild: guild, space: space, cancelLoad: cancel, loaded: make(chan struct{})}
		v.guilds[guild] = x
		v.loads.Go(func() {
			defer cancel()
			e.load(ctx, x)
		})
	}
	v.clock++
	x.used = v.clock
	return x
}

// load loads an index.
func (e *engine) load(ctx context.Context, x *index) {
	defer close(x.loaded)
	v := &e.vectors
	select {
	case v.loadSlots <- struct{}{}:
	case <-ctx.Done():
		x.err = ctx.Err()
		return
	}
	defer func() { <-v.loadSlots }()
	if x.err = x.fill(ctx, e); x.err == nil {
		v.evict()
	}
}

// index is a guild's index, loaded; nil if space isn't the one in use, or if waiting ends before it is loaded.
func (e *engine) index(waiting context.Context, guild int64, space memory.Space) (*index, error) {
	for {
		x := e.startLoading(guild, space)
		if x == nil || !x.isLoaded(waiting) {
			return nil, nil
		}
		if x.err == nil {
			return x, nil
		}
		if e.vectors.drop(x) {
			return nil, fmt.Errorf("load the vectors: %w", explain(x.err))
		} // else another index has its place
	}
}

// drop forgets an index, and reports whether it was still to be had.
func (v *indexCache) drop(x *index) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.guilds[x.guild] != x {
		return false
	}
	delete(v.guilds, x.guild)
	return true
}

// evict forgets what was used longest ago until the rest is within the limit; what was used last stays. Searches
// that are under way in what is forgotten go on in it.
func (v *indexCache) evict() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.limit <= 0 {
		return
	}
	total := int64(0)
	for _, x := range v.guilds {
		total += x.size.Load()
	}
	if total <= v.limit {
		return
	}
	oldest := slices.SortedFunc(maps.Values(v.guilds), func(a, b *index) int { return cmp.Compare(a.used, b.used) })
	for _, x := range oldest[:len(oldest)-1] {
		if n := x.size.Load(); total > v.limit && n > 0 {
			total -= n
			delete(v.guilds, x.guild)
			if v.evicted == nil {
				v.evicted = map[int64]bool{}
			}
			v.evicted[x.guild] = true
		}
	}
}

// begun are the indexes that are loaded or being loaded.
func (v *indexCache) all() []*index {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Values(v.guilds))
}

// apply brings what is loaded up to date with a commit, which changed the vectors of these guilds.
func (v *indexCache) apply(changes map[int64]vectorChange) {
	for guild, c := range changes {
		v.mu.Lock()
		x := v.guilds[guild]
		v.mu.Unlock()
		if x != nil && !x.apply(c) {
			v.drop(x)
		}
	}
	if len(changes) > 0 {
		v.evict()
	}
}
