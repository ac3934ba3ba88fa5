package sqlstore

import (
	"context"
	"slices"

	"hark/memory"
)

// Nearest implements memory.Store.
func (s *Store) Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32,
	limit int) ([]memory.VectorHit, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	nos := s.channelNos(scope)
	return s.engine.Nearest(ctx, VectorQuery{Space: space, Scope: scope, Channels: nos, Vector: vector, Limit: limit},
		func(found []Near) ([]memory.VectorHit, error) { return s.vectorHits(ctx, scope, nos, found, limit) })
}

// segmentMessages selects the messages of segments. It is prepared once, because preparing takes half as
// long as running it.
const segmentMessages = `SELECT s.id, s.channel, m.id, m.author
	FROM json_each(?) j CROSS JOIN segment s ON s.id = j.value
	CROSS JOIN said m ON m.channel = s.channel AND m.id BETWEEN s.first AND s.last AND m.segment = s.id`

// vectorHits reads the messages of segments. The database decides which exist, and in which channel.
func (s *Store) vectorHits(ctx context.Context, scope memory.Scope, nos []int64, found []Near,
	limit int) ([]memory.VectorHit, error) {
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
			segments[i] = f.Segment
		}
		err := Each(ctx, s.engine, func(scan Scanner) error {
			var segment, no int64
			var id memory.MessageID
			var author memory.UserID
			// The segment's number may have been reused in another channel since its vector was loaded.
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
			return nil, s.failed(err, "read the segments found")
		}
		for _, f := range found[:n] {
			if hit, ok := some[f.Segment]; ok && len(hits) < limit {
				hit.Similarity = float64(f.Similarity)
				slices.Sort(hit.Messages)
				hits = append(hits, *hit)
			}
		}
		found = found[n:]
	}
	return hits, nil
}
