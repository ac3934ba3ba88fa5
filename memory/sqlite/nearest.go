package sqlite

import (
	"context"
	"errors"
	"slices"

	"hark/memory"
)

// Nearest implements memory.Store. Vectors that aren't loaded within Options.Patience are not looked at.
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
	indexes, err := s.indexes(ctx, nos, space)
	if err != nil {
		return nil, err
	}
	if len(indexes) == 0 {
		return nil, memory.ErrNoVectors
	}
	if limit <= 0 {
		return nil, nil
	}
	// What the file doesn't have in scope any more falls out: then more are taken in its stead.
	// Of somebody who said little, what isn't among so many isn't near.
	const rounds = 4
	for n, round := limit, 1; ; n, round = 4*n, round+1 {
		var found []near
		beyond := float32(-2) // what wasn't given is no nearer
		for _, x := range indexes {
			nearest, err := x.nearest(ctx, vector, scopeFilter(scope, x.guild, nos), n)
			if err != nil {
				return nil, failed(err, "search the vectors")
			}
			if len(nearest) == n {
				beyond = max(beyond, nearest[n-1].similarity)
			}
			found = append(found, nearest...)
		}
		sortNearest(found)
		hits, err := s.vectorHits(ctx, scope, nos, found, limit)
		if err != nil || beyond == -2 || len(scope.Authors) > 0 && round == rounds || len(hits) == limit && hits[limit-1].Similarity >= float64(beyond) {
			return hits, err
		}
	}
}

// indexes are the indexes of the guilds that the channels nos lie in, those that hold anything and are loaded in time.
func (e *engine) indexes(ctx context.Context, nos []int64, space memory.Space) ([]*index, error) {
	var guilds []int64
	for _, no := range nos { // which are in order
		if n := len(guilds); n == 0 || guilds[n-1] != guildOf(no) {
			guilds = append(guilds, guildOf(no))
			e.begin(guildOf(no), space) // all at once, so that the wait is for the longest
		}
	}
	waiting := ctx
	if patience := e.options.Patience; patience > 0 {
		if e.vectors.hasMadeRoom(guilds) {
			patience = max(patience, e.vectors.patience)
		}
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	var indexes []*index
	for _, guild := range guilds {
		x, err := e.index(waiting, guild, space)
		switch {
		case err != nil:
			return nil, err
		case x == nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case x != nil && x.count.Load() > 0:
			indexes = append(indexes, x)
		}
	}
	return indexes, nil
}

// segmentMessages is the query for the messages of segments. It is prepared once: that takes as long as half of its work.
const segmentMessages = `SELECT s.id, s.channel, m.id, m.author FROM json_each(?) j CROSS JOIN segment s ON s.id = j.value
	CROSS JOIN said m ON m.channel = s.channel AND m.id BETWEEN s.first AND s.last AND m.segment = s.id`

// vectorHits reads the messages of segments from the file, which has the last word on what exists, and where.
func (s *Store) vectorHits(ctx context.Context, scope memory.Scope, nos []int64, found []near, limit int) ([]memory.VectorHit, error) {
	ids := s.channelIDs()
	channels := make(map[int64]bool, len(nos))
	for _, no := range nos {
		channels[no] = true
	}
	const page = 200
	var hits []memory.VectorHit
	for len(found) > 0 && len(hits) < limit {
		n := min(page, len(found))
		some := map[int64]*memory.VectorHit{}
		segments := make([]int64, n)
		for i, f := range found[:n] {
			segments[i] = f.segment
		}
		err := each(ctx, prepared{s, nil}, func(scan scanner) error {
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
		}, segmentMessages, jsonOf(segments))
		if err != nil {
			return nil, failed(err, "read the segments found")
		}
		for _, f := range found[:n] {
			if hit, ok := some[f.segment]; ok && len(hits) < limit {
				hit.Similarity = float64(f.similarity)
				slices.Sort(hit.Messages)
				hits = append(hits, *hit)
			}
		}
		found = found[n:]
	}
	return hits, nil
}
