package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/philippgille/chromem-go"

	"hark/memory"
)

// vectors are the guilds' vectors that are loaded for searching: a cache of the file's.
type vectors struct {
	limit   int64 // bytes; see Options
	loading chan struct{}

	mu     sync.Mutex
	space  memory.Space     // in which they lie
	guilds map[int64]*index // by guild number
	uses   int64            // how often any was used
}

// index holds a guild's vectors. chromem-go finds the nearest of all; the content of each of its documents is the
// number of the channel that the segment lies in.
type index struct {
	guild int64
	space memory.Space
	used  int64 // when, as vectors counts; guarded by vectors.mu
	count atomic.Int64

	load sync.Once
	err  error

	mu         sync.RWMutex
	collection *chromem.Collection
	channels   map[int64]string // what the documents share
}

// loadsAtOnce bounds the guilds that are loaded at the same time, so that others' searches find a connection to read by.
const loadsAtOnce = 2

// perVector is what a vector takes in memory beside its numbers: measured, with all that chromem-go keeps of it.
const perVector = 115

// inUse is the space in which what is loaded lies.
func (v *vectors) inUse() memory.Space {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.space
}

// reset forgets all that is loaded; what is loaded from now on lies in space.
func (v *vectors) reset(space memory.Space) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.guilds, v.space = nil, space
}

// guild is the index of a guild, empty until it is loaded; nil if space isn't the one in use.
func (v *vectors) guild(no int64, space memory.Space) *index {
	v.mu.Lock()
	defer v.mu.Unlock()
	if space != v.space {
		return nil
	}
	if v.guilds == nil {
		v.guilds = map[int64]*index{}
	}
	x, ok := v.guilds[no]
	if !ok {
		x = &index{guild: no, space: space}
		v.guilds[no] = x
	}
	v.uses++
	x.used = v.uses
	return x
}

// drop forgets an index.
func (v *vectors) drop(x *index) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.guilds[x.guild] == x {
		delete(v.guilds, x.guild)
	}
}

// makeRoom forgets what was used longest ago until the rest is within the limit; what was used last stays. Searches
// that are under way in what is forgotten go on in it.
func (v *vectors) makeRoom() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.limit <= 0 {
		return
	}
	total := int64(0)
	for _, x := range v.guilds {
		total += x.bytes()
	}
	if total <= v.limit {
		return
	}
	oldest := slices.SortedFunc(maps.Values(v.guilds), func(a, b *index) int { return cmp.Compare(a.used, b.used) })
	for _, x := range oldest[:len(oldest)-1] {
		if n := x.bytes(); total > v.limit && n > 0 {
			total -= n
			delete(v.guilds, x.guild)
		}
	}
}

// loaded are the indexes that exist already, of the guilds that segments lie in.
func (v *vectors) loaded(segment int64) *index {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.guilds[segment>>segmentBits]
}

// remove takes segments out of what is loaded.
func (v *vectors) remove(segments []int64) {
	for _, id := range segments {
		if x := v.loaded(id); x != nil {
			x.remove(id)
		}
	}
}

// put brings what is loaded up to date with what was stored.
func (v *vectors) put(stored []storedVector) error {
	for _, s := range stored {
		if x := v.loaded(s.segment); x != nil {
			if err := x.put(s); err != nil {
				return err // uncovered: chromem-go refuses nothing that has an id and a vector
			}
		}
	}
	if len(stored) > 0 {
		v.makeRoom()
	}
	return nil
}

// bytes is what x takes in memory.
func (x *index) bytes() int64 { return x.count.Load() * int64(perVector+4*x.space.Dimensions) }

func (x *index) put(s storedVector) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.collection == nil { // being loaded, or failed to: the file has it
		return nil
	}
	err := x.add(context.Background(), s)
	x.count.Store(int64(x.collection.Count()))
	return err
}

func (x *index) add(ctx context.Context, s storedVector) error {
	channel, ok := x.channels[s.channel]
	if !ok {
		channel = strconv.FormatInt(s.channel, 10)
		x.channels[s.channel] = channel
	}
	return x.collection.AddDocument(ctx, chromem.Document{ID: x.documentID(s.segment), Content: channel, Embedding: dequantise(s.steps)})
}

func (x *index) remove(segment int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.collection == nil {
		return
	}
	// With nil maps the ids count; the only error is that of having neither.
	_ = x.collection.Delete(context.Background(), nil, nil, x.documentID(segment))
	x.count.Store(int64(x.collection.Count()))
}

// documentID names a segment within its guild.
func (x *index) documentID(segment int64) string {
	return strconv.FormatInt(segment-x.guild<<segmentBits, 36)
}

func (x *index) segment(documentID string) int64 {
	n, _ := strconv.ParseInt(documentID, 36, 64)
	return x.guild<<segmentBits + n
}

// noEmbedding is given to chromem-go in the place of its default, which would send text to a host.
func noEmbedding(context.Context, string) ([]float32, error) {
	return nil, errors.New("vectors are made elsewhere") // uncovered: every document has its vector
}

// fill reads the guild's vectors. It holds the lock, so that what is stored meanwhile waits and isn't missed.
func (x *index) fill(ctx context.Context, s *Store) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	collection, err := chromem.NewDB().CreateCollection("segments", nil, noEmbedding)
	if err != nil {
		return err // uncovered: it is the first of its database
	}
	x.collection, x.channels = collection, map[int64]string{}
	rows, err := s.read.QueryContext(ctx, `SELECT v.segment, s.channel, v.steps FROM vector v JOIN segment s ON s.id = v.segment
		WHERE v.segment >= ? AND v.segment < ? AND EXISTS (SELECT 1 FROM meta WHERE key = 'space' AND value = ?)`,
		x.guild<<segmentBits, (x.guild+1)<<segmentBits, nameOf(x.space))
	if err != nil {
		return err
	}
	err = eachRow(rows, func(scan func(...any) error) error {
		var v storedVector
		if err := scan(&v.segment, &v.channel, &v.steps); err != nil {
			return err
		}
		var err error
		if v.steps, err = unpack(v.steps, x.space.Dimensions); err != nil {
			return err
		}
		return x.add(ctx, v)
	})
	x.count.Store(int64(collection.Count()))
	return err
}

// index is a guild's index, loaded; nil if space isn't the one in use.
func (s *Store) index(guild int64, space memory.Space) (*index, error) {
	v := &s.vectors
	x := v.guild(guild, space)
	if x == nil {
		return nil, nil
	}
	// Whoever comes first loads it for all, so its giving up must not be everybody's.
	x.load.Do(func() {
		v.loading <- struct{}{}
		defer func() { <-v.loading }()
		x.err = x.fill(context.Background(), s)
		v.makeRoom()
	})
	if x.err != nil {
		v.drop(x)
		return nil, fmt.Errorf("load the vectors: %w", explain(x.err))
	}
	return x, nil
}

// near is a segment and how near it is.
type near struct {
	segment    int64
	similarity float32
}

// nearest are the limit segments of channels nearest to vector. chromem-go knows no channels, so it is asked
// for more until enough of what it gave is in them.
func (x *index) nearest(ctx context.Context, vector []float32, channels map[string]bool, limit int) ([]near, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	count := x.collection.Count()
	for n := min(count, 2*limit); n > 0; n = min(count, 4*n) {
		results, err := x.collection.QueryEmbedding(ctx, vector, n, nil, nil)
		if err != nil {
			return nil, err // uncovered: how many are asked for and their dimensions fit, and the context is looked at below
		}
		if err := ctx.Err(); err != nil { // then the results are only some
			return nil, err
		}
		var found []near
		for _, r := range results {
			if channels[r.Content] {
				found = append(found, near{x.segment(r.ID), r.Similarity})
			}
		}
		sortNearest(found)
		// Of equals that don't all fit, chromem-go gives some, others each time: then it is asked for them all.
		if n == count || len(found) >= limit && found[limit-1].similarity > results[len(results)-1].Similarity {
			return found[:min(limit, len(found))], nil
		}
	}
	return nil, nil
}

func sortNearest(found []near) {
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(b.segment, a.segment))
	})
}

// Nearest implements memory.Store.
func (s *Store) Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32, limit int) ([]memory.VectorHit, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	if space != s.vectors.inUse() {
		return nil, memory.ErrNoVectors
	}
	if err := checkVector(vector, space); err != nil || vector == nil {
		return nil, errors.Join(err, ctx.Err())
	}
	nos := s.channelNos(scope)
	channels := map[int64]bool{}
	names := map[string]bool{}
	guilds := map[int64]bool{}
	for _, no := range nos {
		channels[no], names[strconv.FormatInt(no, 10)], guilds[guildOf(no)] = true, true, true
	}
	var found []near
	some := false
	for _, guild := range slices.Sorted(maps.Keys(guilds)) {
		x, err := s.index(guild, space)
		if err != nil {
			return nil, err
		}
		if x == nil { // another took its place meanwhile
			return nil, memory.ErrNoVectors // uncovered: takes somebody who changes the space between these lines
		}
		// Segments of which nothing lies within scope's times fall out later: take some in their stead.
		nearest, err := x.nearest(ctx, vector, names, s.wanted(scope, limit))
		if err != nil {
			return nil, fmt.Errorf("search the vectors: %w", explain(err))
		}
		some = some || x.count.Load() > 0
		found = append(found, nearest...)
	}
	if !some {
		return nil, memory.ErrNoVectors
	}
	sortNearest(found)
	return s.vectorHits(ctx, scope, channels, found, limit)
}

// wanted is how many segments to find so that limit are left within scope's times and authors.
func (s *Store) wanted(scope memory.Scope, limit int) int {
	if since, until := s.bounds(scope); since != nil || until != nil || len(scope.Authors) > 0 {
		return 1 << 30
	}
	return limit
}

// vectorHits reads the messages of segments from the file, which has the last word on what exists, and where.
func (s *Store) vectorHits(ctx context.Context, scope memory.Scope, channels map[int64]bool, found []near, limit int) ([]memory.VectorHit, error) {
	s.mu.RLock()
	ids := s.nos.ids
	s.mu.RUnlock()
	const page = 200
	var hits []memory.VectorHit
	for len(found) > 0 && len(hits) < limit {
		n := min(page, len(found))
		some := map[int64]*memory.VectorHit{}
		segments := make([]int64, n)
		for i, f := range found[:n] {
			segments[i] = f.segment
		}
		rows, err := s.read.QueryContext(ctx, `SELECT s.id, s.channel, m.id, m.author FROM segment s JOIN said m
			ON m.channel = s.channel AND m.id BETWEEN s.first AND s.last AND m.segment = s.id
			WHERE s.id IN (SELECT value FROM json_each(?)) ORDER BY m.id`, jsonOf(segments))
		if err != nil {
			return nil, fmt.Errorf("read the segments found: %w", explain(err))
		}
		err = eachRow(rows, func(scan func(...any) error) error {
			var segment, no int64
			var id memory.MessageID
			var author memory.UserID
			// A segment's number may have come to another channel's since its vector was loaded.
			if err := scan(&segment, &no, &id, &author); err != nil || !channels[no] || !inScope(scope, id, author) {
				return err
			}
			hit, ok := some[segment]
			if !ok {
				hit = &memory.VectorHit{Channel: ids[no]}
				some[segment] = hit
			}
			hit.Messages = append(hit.Messages, id)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the segments found: %w", explain(err)) // uncovered: takes damage to just these pages
		}
		for _, f := range found[:n] {
			if hit, ok := some[f.segment]; ok && len(hits) < limit {
				hit.Similarity = float64(f.similarity)
				hits = append(hits, *hit)
			}
		}
		found = found[n:]
	}
	return hits, nil
}
