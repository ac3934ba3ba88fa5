package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"hark/memory"
	"hark/memory/sqlstore"
)

// index holds what a search needs of a guild's segments before ranking. The vectors stay in the file.
type index struct {
	guild int64
	space memory.Space
	used  int64 // value of indexCache.clock; guarded by its mu

	cancelLoad context.CancelFunc // ends loading
	loaded     chan struct{}      // closed when loading ends
	err        error              // why loading failed

	count atomic.Int64 // segments
	size  atomic.Int64 // bytes in memory

	mu            sync.RWMutex
	ready         bool // loading has ended
	table         sketchTable
	version       int64          // of the guild's vectors in the file that table matches
	latestVersion int64          // newest known version
	queued        []vectorChange // commits during loading
}

// vectorChange is what a commit changed in a guild's vectors, and their version after it.
type vectorChange struct {
	version int64
	gone    []int64 // segments
	put     []storedVector
}

// isLoaded waits for loading to end; false if waiting ends first.
func (x *index) isLoaded(waiting context.Context) bool {
	select {
	case <-x.loaded:
		return true
	default:
	}
	select {
	case <-x.loaded:
		return true
	case <-waiting.Done():
		return false
	}
}

// fill reads the guild's vectors. Commits meanwhile are queued, so writers don't wait, and applied at the end.
func (x *index) fill(ctx context.Context, e *engine) error {
	for {
		read, version, err := x.read(ctx, e)
		x.mu.Lock()
		if err != nil {
			x.ready, x.queued = true, nil
			x.mu.Unlock()
			return err
		}
		x.table, x.version = read, version
		for _, c := range x.queued {
			x.change(c)
		}
		x.queued = nil
		x.ready = x.version >= x.latestVersion // else another process wrote in between
		x.updateStats()
		x.mu.Unlock()
		if x.ready {
			return nil
		}
	}
}

func (x *index) read(ctx context.Context, e *engine) (t sketchTable, version int64, err error) {
	first, end := x.guild<<sqlstore.SegmentBits, (x.guild+1)<<sqlstore.SegmentBits
	t = newTable(x.guild, x.space.Dimensions)
	err = e.Snapshot(ctx, func(q sqlstore.Reader) error {
		var segments int
		if err := sqlstore.RowOf(ctx, q, `SELECT coalesce((SELECT version FROM vector_version WHERE guild = ?), 0),
			(SELECT count(*) FROM segment WHERE id >= ? AND id < ?)`, x.guild, first, end).Scan(
			&version, &segments); err != nil {
			return err
		}
		t.reserve(segments)
		var v storedVector
		var bits sql.RawBytes
		return sqlstore.Each(ctx, q, func(scan sqlstore.Scanner) error {
			if err := scan(&v.segment, &v.channel, &v.first, &v.last, &bits); err != nil {
				return err
			}
			if v.sketch, err = e.vault.Open(bits, sqlstore.VectorPlace("sketch", v.segment)); err != nil {
				return err
			}
			return t.put(v)
		}, `SELECT v.segment, s.channel, s.first, s.last, v.sketch FROM vector v JOIN segment s ON s.id = v.segment
			WHERE v.segment >= ? AND v.segment < ? AND EXISTS (SELECT 1 FROM meta WHERE key = 'space' AND value = ?)`,
			first, end, sqlstore.NameOf(x.space))
	})
	return t, version, err
}

// apply applies a commit and reports whether the index then matches the file.
func (x *index) apply(c vectorChange) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.ready {
		x.queued = append(x.queued, c)
		return true
	}
	x.change(c)
	x.updateStats()
	return x.version >= x.latestVersion
}

// upToDate records the file's version and reports whether the index has it.
func (x *index) upToDate(version int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.latestVersion = max(x.latestVersion, version)
	return !x.ready || x.version >= x.latestVersion
}

func (x *index) change(c vectorChange) {
	x.latestVersion = max(x.latestVersion, c.version)
	if c.version != x.version+1 { // it was read already, or an earlier one is missing
		return
	}
	x.version = c.version
	for _, segment := range c.gone {
		x.table.remove(segment)
	}
	for _, v := range c.put {
		_ = x.table.put(v) // its sketch was made for this space
	}
}

func (x *index) updateStats() {
	x.count.Store(int64(len(x.table.segments)))
	x.size.Store(x.table.bytes())
}

// nearest returns the limit segments nearest to vector that f allows, and whether it allows more.
func (x *index) nearest(ctx context.Context, e *engine, vector []float32, f filter,
	limit int) (found []sqlstore.Near, more bool, err error) {
	x.mu.RLock()
	places := x.table.allowed(f)
	more = len(places) > limit
	places = x.table.shortlist(places, vector, limit)
	segments := make([]int64, len(places))
	for n, i := range places {
		segments[n] = x.table.segments[i]
	}
	x.mu.RUnlock()
	if len(segments) == 0 {
		return nil, false, nil
	}
	found, err = rank(ctx, e, x.space, vector, segments)
	sortNearest(found)
	return found[:min(limit, len(found))], more, err
}

// rank returns the similarity to vector of the segments that have a vector in space.
func rank(ctx context.Context, e *engine, space memory.Space, vector []float32,
	segments []int64) ([]sqlstore.Near, error) {
	slices.Sort(segments)             // neighbours share a page
	list, _ := json.Marshal(segments) // never fails
	found := make([]sqlstore.Near, 0, len(segments))
	compare := comparer(vector)
	var near sqlstore.Near
	var packed sql.RawBytes
	err := sqlstore.Each(ctx, e, func(scan sqlstore.Scanner) error {
		err := scan(&near.Segment, &packed)
		var steps []byte
		if err == nil {
			steps, err = e.vault.Open(packed, sqlstore.VectorPlace("steps", near.Segment))
		}
		if err == nil {
			near.Similarity, err = compare(steps)
		}
		found = append(found, near)
		return err
	}, `SELECT v.segment, v.steps FROM json_each(?) j CROSS JOIN vector v ON v.segment = j.value
		WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'space' AND value = ?)`, string(list), sqlstore.NameOf(space))
	return found, err
}

func sortNearest(found []sqlstore.Near) {
	slices.SortFunc(found, func(a, b sqlstore.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(b.Segment, a.Segment))
	})
}
