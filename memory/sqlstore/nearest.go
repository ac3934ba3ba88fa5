package sqlstore

import (
	"context"
	"errors"
	"slices"

	"hark/memory"
	"hark/memory/vectors"
)

const (
	// widening is how many times as many segments the next round asks for, where too few of those found have a message
	// in scope.
	widening = 4
	// authorRounds is how many rounds there are for some authors: what comes later isn't near.
	authorRounds = 4
)

// Nearest implements memory.Store. It leaves out guilds whose vectors aren't loaded within Options.Index.Patience.
func (s *Store) Nearest(ctx context.Context, scope memory.Scope, space memory.Space, vector []float32,
	limit int) ([]memory.VectorHit, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	if space != s.index.Space() {
		return nil, memory.ErrNoVectors
	}
	err := CheckVector(vector, space)
	if err != nil || vector == nil {
		return nil, errors.Join(err, ctx.Err())
	}
	nos := s.channelNos(scope)
	search, err := s.index.Search(ctx, space, scopesOf(scope, nos))
	if err != nil {
		return nil, s.failed(err, "load the vectors")
	}
	defer search.Close()
	if search.Empty() {
		return nil, memory.ErrNoVectors
	}
	if limit <= 0 {
		return nil, nil
	}
	n := limit
	round := 1
	if len(scope.Authors) > 0 && search.Exact() { // asking once costs less
		for ; round < authorRounds; round++ {
			n *= widening
		}
	}
	for ; ; round++ {
		found, beyond, err := search.Nearest(ctx, vector, n)
		if err != nil {
			return nil, s.failed(err, "search the vectors")
		}
		hits, err := s.vectorHits(ctx, scope, nos, found, limit)
		last := vectors.NothingLeft(beyond) || len(scope.Authors) > 0 && round == authorRounds
		if err != nil || last || isFull(hits, limit, beyond) {
			return hits, err
		}
		n *= widening
	}
}

// isFull reports whether hits are the limit nearest, where all others are at most as near as beyond.
func isFull(hits []memory.VectorHit, limit int, beyond float32) bool {
	return len(hits) == limit && hits[limit-1].Similarity >= float64(beyond)
}

// scopesOf returns the parts of a scope by guild. nos are the numbers of its channels, ascending.
func scopesOf(scope memory.Scope, nos []int64) (scopes []vectors.Scope) {
	since, until := vectors.Always()
	if !scope.Since.IsZero() {
		since = FirstAt(scope.Since)
	}
	if !scope.Until.IsZero() {
		until = FirstAt(scope.Until)
	}
	for _, some := range byGuild(nos, ChannelBits) {
		of := vectors.Scope{
			Guild: GuildOf(some[0]),
			Since: since,
			Until: until,
		}
		for _, no := range some {
			of.Channels = append(of.Channels, channelInGuild(no))
		}
		scopes = append(scopes, of)
	}
	return scopes
}

// segmentOf returns the segment of a row that was found.
func segmentOf(f vectors.Found) int64 { return f.Guild<<SegmentBits | f.ID }

// segmentMessages selects the messages of segments of a guild.
const segmentMessages = `SELECT s.id, s.channel, m.id, m.author
	FROM json_each(?1) j CROSS JOIN segment s ON s.guild = ?2 AND s.id = j.value
	CROSS JOIN said m ON m.guild = ?2 AND m.channel = s.channel AND m.id BETWEEN s.first AND s.last AND m.segment = s.id`

// vectorHits reads the messages of segments. The database decides which exist, and in which channel.
func (s *Store) vectorHits(ctx context.Context, scope memory.Scope, nos []int64, found []vectors.Found,
	limit int) ([]memory.VectorHit, error) {
	all := s.numbers()
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
			segments[i] = segmentOf(f)
		}
		read := func(scan Scanner) error {
			var segment, no int64
			var id memory.MessageID
			var author memory.UserID
			// Its number may have been reused in another channel since the vector was loaded.
			if err := scan(&segment, &no, &id, &author); err != nil || !channels[no] || !inScope(scope, id, author) {
				return err
			}
			hit, ok := some[segment]
			if !ok {
				hit = &memory.VectorHit{Channel: all.ids[no]}
				some[segment] = hit
			}
			hit.Messages = append(hit.Messages, id)
			return nil
		}
		slices.Sort(segments)
		for _, some := range byGuild(segments, SegmentBits) {
			err := Each(ctx, s.engine, read, segmentMessages, jsonOf(some), all.guilds[some[0]>>SegmentBits])
			if err != nil {
				return nil, s.failed(err, "read the segments found")
			}
		}
		for _, f := range found[:n] {
			if hit, ok := some[segmentOf(f)]; ok && len(hits) < limit {
				hit.Similarity = float64(f.Similarity)
				slices.Sort(hit.Messages)
				hits = append(hits, *hit)
			}
		}
		found = found[n:]
	}
	return hits, nil
}
