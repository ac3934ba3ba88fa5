package vectors

import (
	"context"
	"sync"
	"sync/atomic"

	"hark/memory"
)

// guild is a guild's rows in memory. Commits leave their changes in a list, so that no writer waits for a search.
type guild struct {
	number int64
	space  memory.Space

	cancelLoad context.CancelFunc // ends loading
	loaded     chan struct{}      // closed when loading ends
	err        error              // why loading failed; known once loaded is closed
	exact      *exact             // nil if it has sketches; known once loaded is closed
	sketches   *sketches          // the other way round

	count atomic.Int64 // rows
	size  atomic.Int64 // bytes in memory

	mu    sync.RWMutex // never locked by who holds list
	table *table       // nil while loading, and once wiped

	changed atomic.Bool // waiting isn't empty, and table may be changed

	list    sync.Mutex // guards what follows
	ready   bool       // loading has ended
	waiting []Change   // that table lacks
	version int64      // of the guild in table and waiting together
	latest  int64      // newest known version

	// Index.mu guards these.
	used    int64 // value of Index.clock at the last use
	users   int   // searches, and loading
	dropped bool
}

// isLoaded waits for loading to end; false if waiting ends first.
func (g *guild) isLoaded(waiting context.Context) bool {
	select {
	case <-g.loaded:
		return true
	default:
	}
	select {
	case <-g.loaded:
		return true
	case <-waiting.Done():
		return false
	}
}

// load reads the guild's rows. Commits meanwhile wait in the list, and are applied at the end. isExact tells whether a
// guild may be exact that then takes so many bytes.
func (g *guild) load(ctx context.Context, source Source, isExact func(bytes int64) bool) error {
	for {
		read, version, err := g.read(ctx, source, isExact)
		if err != nil {
			if read != nil {
				read.form.wipe()
			}
			g.giveUp()
			return err
		}
		if g.complete(read, version) {
			return nil
		}
		read.form.wipe() // another process wrote in between
	}
}

func (g *guild) giveUp() {
	g.list.Lock()
	defer g.list.Unlock()
	g.ready = true
	g.waiting = nil
}

func (g *guild) read(ctx context.Context, source Source,
	isExact func(bytes int64) bool) (read *table, version int64, err error) {
	begin := func(rows int) bool {
		g.exact = newExact(g.space.Dimensions)
		g.sketches = nil
		read = newTable(g.exact)
		size := int64(rows)*perRow + g.exact.bytes(rows)
		if !isExact(size) {
			g.exact = nil
			g.sketches = newSketches(g.space.Dimensions)
			read = newTable(g.sketches)
		}
		read.reserve(rows)
		return g.exact != nil
	}
	version, err = source.Load(ctx, g.number, g.space, begin, func(r Row) error { return read.put(r) })
	return read, version, err
}

// complete takes a table of a version, applies what was committed since, and reports whether nothing is missing.
func (g *guild) complete(read *table, version int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list.Lock()
	defer g.list.Unlock()
	g.version = version
	for _, c := range g.waiting {
		if g.follows(c) {
			applyTo(read, c)
		}
	}
	g.waiting = nil
	g.ready = g.version >= g.latest
	if g.ready {
		g.table = read
		g.measure()
	}
	return g.ready
}

// follows reports whether c is the next change, and then counts it as known. Otherwise c was read already, or one
// before it is missing. The caller holds list.
func (g *guild) follows(c Change) bool {
	if c.Version != g.version+1 || c.Many {
		return false
	}
	g.version = c.Version
	return true
}

func applyTo(t *table, c Change) {
	for _, r := range c.Rows {
		if r.Steps == nil {
			t.remove(r.ID)
			continue
		}
		_ = t.put(r) // it was encoded for this space
	}
}

// measure updates the statistics. The caller holds mu.
func (g *guild) measure() {
	g.count.Store(int64(g.table.rows()))
	g.size.Store(g.table.bytes())
}

// note takes a commit's change and reports whether the guild then has all that is known. It waits for no search.
func (g *guild) note(c Change) bool {
	g.list.Lock()
	g.latest = max(g.latest, c.Version)
	complete := true
	switch {
	case !g.ready:
		g.waiting = append(g.waiting, c)
	case g.follows(c):
		g.waiting = append(g.waiting, c)
		g.changed.Store(true)
		complete = g.version >= g.latest
	default:
		complete = g.version >= g.latest
	}
	g.list.Unlock()
	g.settle()
	return complete
}

// upToDate notes the database's version and reports whether the guild has it, or is being loaded.
func (g *guild) upToDate(version int64) bool {
	g.list.Lock()
	defer g.list.Unlock()
	g.latest = max(g.latest, version)
	return !g.ready || g.version >= g.latest
}

// settle applies waiting changes unless somebody uses the table, who then does it at the end. So what was deleted is
// overwritten as soon as nobody reads it.
func (g *guild) settle() {
	for g.changed.Load() && g.mu.TryLock() {
		g.applyWaiting()
		g.mu.Unlock()
	}
}

// catchUp applies waiting changes after the searches that run.
func (g *guild) catchUp() {
	if !g.changed.Load() {
		return
	}
	g.mu.Lock()
	g.applyWaiting()
	g.mu.Unlock()
}

// applyWaiting is for holders of mu.
func (g *guild) applyWaiting() {
	g.list.Lock()
	waiting := g.waiting
	g.waiting = nil
	g.changed.Store(false)
	g.list.Unlock()
	if g.table == nil {
		return
	}
	for _, c := range waiting {
		applyTo(g.table, c)
	}
	g.measure()
}

// wipe overwrites all vectors with zeros. Nobody uses the guild any more.
func (g *guild) wipe() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.table != nil {
		g.table.form.wipe()
	}
	g.table = nil
}

// nearest returns the limit rows nearest to a vector of length 1 that scope allows, and whether it allows more.
func (g *guild) nearest(ctx context.Context, source Source, vector []float32, scope *Scope,
	limit int) (found []Found, more bool, err error) {
	g.catchUp()
	defer g.settle()
	if g.exact != nil {
		g.mu.RLock()
		defer g.mu.RUnlock()
		return g.exact.nearest(ctx, g.table, vector, scope, limit)
	}
	ids, more := g.shortlist(vector, scope, limit)
	found, err = g.rank(ctx, source, vector, ids, limit)
	return found, more, err
}

func (g *guild) shortlist(vector []float32, scope *Scope, limit int) (ids []int64, more bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	slots := g.table.allowed(scope)
	more = len(slots) > limit
	slots = g.sketches.shortlist(g.table, slots, vector, limit)
	ids = make([]int64, len(slots))
	for i, slot := range slots {
		ids[i] = g.table.ids[slot]
	}
	return ids, more
}

// rank reads the vectors of rows and ranks them in a collection that is then thrown away.
func (g *guild) rank(ctx context.Context, source Source, vector []float32, ids []int64, limit int) ([]Found, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	e := newExact(g.space.Dimensions)
	e.reserve(len(ids))
	defer e.wipe()
	t := newTable(e)
	err := source.Steps(ctx, g.number, g.space, ids, func(id int64, steps []byte) error {
		return t.put(Row{ID: id, Steps: steps})
	})
	if err != nil {
		return nil, err
	}
	since, until := Always()
	found, _, err := e.nearest(ctx, t, vector, &Scope{g.number, []uint32{0}, since, until}, limit)
	return found, err
}
