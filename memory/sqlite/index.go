package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/philippgille/chromem-go"

	"hark/memory"
	"hark/memory/sqlstore"
)

// index holds a guild's vectors: as documents that chromem-go ranks, and in a table that tells which are to be ranked.
type index struct {
	guild int64
	space memory.Space
	used  int64 // when, as vectors counts; guarded by vectors.mu

	giveUp context.CancelFunc // ends loading
	loaded chan struct{}      // closed once it is loaded, or can't be
	err    error              // why not

	count atomic.Int64 // segments
	size  atomic.Int64 // bytes in memory

	mu         sync.RWMutex
	failed     bool                // to be loaded
	meanwhile  []storedVector      // what came while it was being loaded; without steps, what went
	collection *chromem.Collection // nil until it is loaded
	table      table
}

// isLoaded waits for loading to end, and reports whether it did before waiting was over.
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

// perVector is what a vector takes in memory beside its numbers and its sketch: measured, with all that
// chromem-go keeps of it.
const perVector = 215

// noEmbedding is given to chromem-go in the place of its default, which would send text to a host.
func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("vectors are made elsewhere")
}

// newCollection is an empty collection of documents.
func newCollection() (*chromem.Collection, error) {
	return chromem.NewDB().CreateCollection("segments", nil, noEmbedding)
}

// fill reads the guild's vectors. What is stored and removed meanwhile is noted, so that no writer waits, and
// done at the end: what the file had of it already is the same again.
func (x *index) fill(ctx context.Context, e *engine) error {
	c, err := newCollection()
	if err != nil {
		return err
	}
	read := &index{guild: x.guild, space: x.space, collection: c, table: newTable(x.space.Dimensions)}
	err = read.addAll(ctx, e)
	x.mu.Lock()
	defer x.mu.Unlock()
	meanwhile := x.meanwhile
	x.meanwhile = nil
	if err != nil {
		x.failed = true
		return err
	}
	x.collection, x.table = read.collection, read.table
	for _, v := range meanwhile {
		if err := x.change(v); err != nil {
			return err
		}
	}
	x.measure()
	return nil
}

// addAll adds the vectors that the file holds.
func (x *index) addAll(ctx context.Context, e *engine) error {
	return sqlstore.Each(ctx, e.read, func(scan sqlstore.Scanner) error {
		var v storedVector
		if err := scan(&v.segment, &v.channel, &v.first, &v.last, &v.steps); err != nil {
			return err
		}
		var err error
		if v.steps, err = unpack(v.steps, x.space.Dimensions); err != nil {
			return err
		}
		return x.add(v)
	}, `SELECT v.segment, s.channel, s.first, s.last, v.steps FROM vector v JOIN segment s ON s.id = v.segment
		WHERE v.segment >= ? AND v.segment < ? AND EXISTS (SELECT 1 FROM meta WHERE key = 'space' AND value = ?)`,
		x.guild<<sqlstore.SegmentBits, (x.guild+1)<<sqlstore.SegmentBits, sqlstore.NameOf(x.space))
}

// put adds a vector, or replaces the segment's.
func (x *index) put(v storedVector) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.change(v)
}

// remove takes a segment's vector away.
func (x *index) remove(segment int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_ = x.change(storedVector{segment: segment}) // fails for what is added only
}

// change puts a vector in its place, or takes it away if it has no steps.
func (x *index) change(v storedVector) error {
	switch {
	case x.failed: // whoever asks next has another loaded
		return nil
	case x.collection == nil:
		x.meanwhile = append(x.meanwhile, v)
		return nil
	}
	defer x.measure()
	if v.steps != nil {
		return x.add(v)
	}
	x.table.remove(v.segment)
	// With nil maps the ids count.
	return x.collection.Delete(context.Background(), nil, nil, x.document(v.segment, nil).ID)
}

func (x *index) add(v storedVector) error {
	vector := dequantise(v.steps)
	x.table.put(row{segment: v.segment, first: v.first, last: v.last, vector: vector},
		uint32(v.channel-x.guild<<sqlstore.ChannelBits))
	return x.collection.AddDocument(context.Background(), x.document(v.segment, vector))
}

// measure notes how many vectors there are, and what they take.
func (x *index) measure() {
	x.count.Store(int64(len(x.table.rows)))
	x.size.Store(x.table.bytes(x.space.Dimensions))
}

// document is a segment as chromem-go knows it. It keeps the vector and doesn't copy it, for its length is 1.
func (x *index) document(segment int64, vector []float32) chromem.Document {
	return chromem.Document{ID: strconv.FormatInt(segment-x.guild<<sqlstore.SegmentBits, 36), Embedding: vector}
}

// place is where the row of a document is.
func (x *index) place(documentID string) int32 {
	n, _ := strconv.ParseInt(documentID, 36, 64)
	return x.table.at[x.guild<<sqlstore.SegmentBits+n]
}

// nearest are the limit segments that f allows nearest to vector.
func (x *index) nearest(ctx context.Context, vector []float32, f filter, limit int) ([]sqlstore.Near, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	places, of := x.table.allowed(f), x.collection
	if len(places) == 0 {
		return nil, nil
	}
	// chromem-go ranks all documents of a collection. Where they are too many, or most of them may not be
	// found, those that matter are put into one of their own: that takes about as long as ranking them.
	few := 2*len(places) <= len(x.table.rows)
	if len(x.table.rows) > x.table.few {
		places, few = x.table.shortlist(places, vector, limit), true
	}
	if few {
		var err error
		if of, err = x.some(ctx, places); err != nil {
			return nil, err
		}
	}
	return x.rank(ctx, of, vector, f, min(limit, len(places)))
}

// some is a collection of the segments at places.
func (x *index) some(ctx context.Context, places []int32) (*chromem.Collection, error) {
	c, err := newCollection()
	if err != nil {
		return nil, err
	}
	for _, i := range places {
		if err := c.AddDocument(ctx, x.document(x.table.rows[i].segment, x.table.rows[i].vector)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// rank are the limit documents of a collection nearest to vector that f allows, which are no fewer.
// chromem-go is asked for more until enough of what it gave may be found.
func (x *index) rank(ctx context.Context, c *chromem.Collection, vector []float32, f filter,
	limit int) ([]sqlstore.Near, error) {
	count := c.Count()
	for n := min(count, 2*limit); ; n = min(count, 4*n) {
		results, err := c.QueryEmbedding(ctx, vector, n, nil, nil)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil { // then the results are only some
			return nil, err
		}
		var found []sqlstore.Near
		for _, r := range results {
			if i := x.place(r.ID); f.allows(&x.table, i) {
				found = append(found, sqlstore.Near{Segment: x.table.rows[i].segment, Similarity: r.Similarity})
			}
		}
		sortNearest(found)
		// Of equals that don't all fit, chromem-go gives some, others each time: then it is asked for them all.
		if n == count || len(found) >= limit && found[limit-1].Similarity > results[len(results)-1].Similarity {
			return found[:limit], nil
		}
	}
}

func sortNearest(found []sqlstore.Near) {
	slices.SortFunc(found, func(a, b sqlstore.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(b.Segment, a.Segment))
	})
}
