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

type indexCache struct {
	limit          int64         // bytes; see Options
	evictedTimeout time.Duration // evictedTimeout, except in tests
	loadSlots      chan struct{}
	loads          sync.WaitGroup // running loads, which Close waits for

	mu      sync.Mutex
	closed  bool             // no more loading
	space   memory.Space     // of the vectors
	guilds  map[int64]*index // by guild number
	clock   int64            // counts uses
	evicted map[int64]bool   // guilds that made room for others
}

// evictedTimeout is the least time that a search with Options.Patience waits for an evicted guild. Without it,
// guilds that are asked in turn and don't fit in memory together would never be searched by meaning.
const evictedTimeout = 3 * time.Second

func (v *indexCache) wasEvicted(guilds []int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(guilds, func(guild int64) bool { return v.evicted[guild] })
}

// maxLoads bounds how many guilds load at once, so that other searches get a connection.
const maxLoads = 2

func (v *indexCache) currentSpace() memory.Space {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.space
}

// reset drops all indexes and cancels loading. Later loads are of space.
func (v *indexCache) reset(space memory.Space) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, x := range v.guilds {
		x.cancelLoad()
	}
	v.guilds, v.space = nil, space
}

// close cancels loading and waits for its end.
func (v *indexCache) close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.reset(memory.Space{})
	v.loads.Wait()
}

// startLoading returns a guild's index and starts to load it if needed; nil if space isn't the active one.
// Loading ends with the store, not with a caller's context: others may still wait.
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

// index returns a guild's loaded index; nil if space isn't the active one, or if waiting ends first.
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
		} // else it was replaced: try the new one
	}
}

// drop removes an index and reports whether it was still cached.
func (v *indexCache) drop(x *index) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.guilds[x.guild] != x {
		return false
	}
	delete(v.guilds, x.guild)
	return true
}

// evict drops the least recently used indexes beyond the limit, never the last used. Searches running in a
// dropped index go on.
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

func (v *indexCache) all() []*index {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Collect(maps.Values(v.guilds))
}

// apply updates the loaded indexes with a commit's changes, by guild.
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
