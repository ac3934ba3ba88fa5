package sqlite

import (
	"context"
	"errors"
	"fmt"

	"hark/memory"
	"hark/memory/sqlstore"
)

// Nearest implements sqlstore.Engine. It skips vectors that aren't loaded within Options.Patience.
func (e *engine) Nearest(ctx context.Context, q sqlstore.VectorQuery,
	hits func([]sqlstore.Near) ([]memory.VectorHit, error)) ([]memory.VectorHit, error) {
	if q.Space != e.vectors.currentSpace() {
		return nil, memory.ErrNoVectors
	}
	if err := sqlstore.CheckVector(q.Vector, q.Space); err != nil || q.Vector == nil {
		return nil, errors.Join(err, ctx.Err())
	}
	indexes, err := e.indexes(ctx, q.Channels, q.Space)
	if err != nil {
		return nil, err
	}
	if len(indexes) == 0 {
		return nil, memory.ErrNoVectors
	}
	if q.Limit <= 0 {
		return nil, nil
	}
	// The next round replaces hits that the file doesn't have in scope. With authors there are only so many
	// rounds: what comes later isn't near.
	const rounds = 4
	for n, round := q.Limit, 1; ; n, round = 4*n, round+1 {
		var found []sqlstore.Near
		beyond := float32(-2) // all others are at most this near
		for _, x := range indexes {
			nearest, more, err := x.nearest(ctx, e, q.Vector, scopeFilter(q.Scope, x.guild, q.Channels), n)
			if err != nil {
				return nil, fmt.Errorf("search the vectors: %w", explain(err))
			}
			switch {
			case len(nearest) == n:
				beyond = max(beyond, nearest[n-1].Similarity)
			case more: // another process has just deleted some
				beyond = 2
			}
			found = append(found, nearest...)
		}
		sortNearest(found)
		some, err := hits(found)
		if err != nil || beyond == -2 || len(q.Scope.Authors) > 0 && round == rounds ||
			len(some) == q.Limit && some[q.Limit-1].Similarity >= float64(beyond) {
			return some, err
		}
	}
}

// indexes returns the indexes of the guilds of nos that aren't empty and load in time.
func (e *engine) indexes(ctx context.Context, nos []int64, space memory.Space) ([]*index, error) {
	var guilds []int64
	for _, no := range nos { // sorted by guild
		if n := len(guilds); n == 0 || guilds[n-1] != sqlstore.GuildOf(no) {
			guilds = append(guilds, sqlstore.GuildOf(no))
			e.startLoading(sqlstore.GuildOf(no), space) // in parallel, so the wait is only for the longest
		}
	}
	waiting := ctx
	if patience := e.options.Patience; patience > 0 {
		if e.vectors.wasEvicted(guilds) {
			patience = max(patience, e.vectors.evictedTimeout)
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
