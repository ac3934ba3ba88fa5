package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"hark/memory"
	"hark/memory/sqlstore"
)

// PutVector implements sqlstore.Tx.
func (t *tx) PutVector(v sqlstore.Vector, shadow bool) error {
	table := "embedding"
	if shadow {
		table = "embedding_next"
	}
	var plain *string
	var sealed []byte
	if v.Key != nil {
		sealed = v.Key.Seal(vectorBytes(v.Values), sqlstore.VectorPlace("values", v.Segment))
	} else {
		text := vectorText(v.Values)
		plain = &text
	}
	return t.exec("INSERT INTO "+table+` (guild, segment, channel, first, last, "values", sealed)
		VALUES ($1, $2, $3, $4, $5, $6::text::halfvec, $7) ON CONFLICT (guild, segment)
		DO UPDATE SET channel = $3, first = $4, last = $5, "values" = excluded."values", sealed = excluded.sealed`,
		int64(t.guild), v.Segment, v.Channel, int64(v.First), int64(v.Last), plain, sealed)
}

// vectorBytes writes a vector as it is sealed: its largest component, and each component as a part of that in 16 bits,
// which is as exact as a half.
func vectorBytes(v []float32) []byte {
	var most float32
	for _, x := range v {
		most = max(most, x, -x)
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+2*len(v)), math.Float32bits(most))
	for _, x := range v {
		part := math.Round(float64(x) / max(float64(most), math.SmallestNonzeroFloat32) * math.MaxInt16)
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(part)))
	}
	return b
}

// vectorOf reads what vectorBytes wrote.
func vectorOf(b []byte) []float32 {
	if len(b) < 4 {
		return nil
	}
	most := math.Float32frombits(binary.LittleEndian.Uint32(b))
	v := make([]float32, len(b)/2-2)
	for i := range v {
		v[i] = most * float32(int16(binary.LittleEndian.Uint16(b[4+2*i:]))) / math.MaxInt16
	}
	return v
}

// openVector returns the vector of a segment: the plain one if none is sealed, and vectors may be plain.
func (e *engine) openVector(segment int64, plain []float32, sealed []byte) ([]float32, error) {
	b, err := e.vault.Open(sealed, sqlstore.VectorPlace("values", segment))
	if err != nil || sealed == nil {
		return plain, err
	}
	return vectorOf(b), nil
}

// vectorText writes a vector as pgvector reads it, with length 1: a half has no room for long ones.
func vectorText(v []float32) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x), 'g', 5, 32)
	}
	return string(append(b, ']'))
}

// Nearest implements sqlstore.Engine. It compares all vectors of the channels, unless the guild has an index.
func (e *engine) Nearest(ctx context.Context, q sqlstore.VectorQuery,
	hits func([]sqlstore.Near) ([]memory.VectorHit, error)) ([]memory.VectorHit, error) {
	use, _, err := sqlstore.Spaces(ctx, e)
	if err != nil {
		return nil, fmt.Errorf("search the vectors: %w", explain(err))
	}
	if q.Space != use {
		return nil, memory.ErrNoVectors
	}
	if err := sqlstore.CheckVector(q.Vector, q.Space); err != nil || q.Vector == nil {
		return nil, errors.Join(err, ctx.Err())
	}
	if len(q.Channels) == 0 || q.Limit <= 0 {
		return nil, nil
	}
	// The next round replaces hits that aren't in scope: a segment may have no message of an author.
	const rounds = 4
	for n, round := q.Limit, 1; ; n, round = 4*n, round+1 {
		found, err := retried(ctx, func() ([]sqlstore.Near, error) { return e.nearest(ctx, q, n) })
		if err != nil {
			return nil, fmt.Errorf("search the vectors: %w", explain(err))
		}
		if len(found) == 0 {
			return nil, e.orNoVectors(ctx, q.Guilds)
		}
		some, err := hits(found)
		if err != nil || len(found) < n || len(some) == q.Limit || len(q.Scope.Authors) > 0 && round == rounds {
			return some, err
		}
	}
}

// nearest returns the limit nearest segments of all guilds.
func (e *engine) nearest(ctx context.Context, q sqlstore.VectorQuery, limit int) (found []sqlstore.Near, err error) {
	for _, guild := range q.Guilds {
		some, err := e.nearestIn(ctx, guild, q, limit)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	slices.SortStableFunc(found, func(a, b sqlstore.Near) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return found[:min(limit, len(found))], nil
}

func (e *engine) nearestIn(ctx context.Context, guild memory.GuildID, q sqlstore.VectorQuery,
	limit int) (found []sqlstore.Near, err error) {
	w := condition("guild = ? AND channel = ANY (?)", int64(guild), q.Channels)
	if !q.Scope.Since.IsZero() {
		w.and("last >= ?", int64(sqlstore.FirstAt(q.Scope.Since)))
	}
	if !q.Scope.Until.IsZero() {
		w.and("first < ?", int64(sqlstore.FirstAt(q.Scope.Until)))
	}
	if e.vault != nil {
		return e.nearestSealed(ctx, guild, q, w, limit)
	}
	large, err := e.indexed(ctx)
	if err != nil {
		return nil, err
	}
	if large[guild] {
		return e.nearestByIndex(ctx, guild, q, w, limit)
	}
	w.args = append(w.args, vectorText(q.Vector), limit)
	n := len(w.args)
	rows, err := e.pool.Query(ctx, fmt.Sprintf(`SELECT segment, 1 - ("values" <=> $%d::text::halfvec) FROM embedding WHERE %s
		ORDER BY "values" <=> $%[1]d::text::halfvec, segment LIMIT $%[3]d`, n-1, w.text.String(), n), w.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var near sqlstore.Near
		if err := rows.Scan(&near.Segment, &near.Similarity); err != nil {
			return nil, err
		}
		found = append(found, near)
	}
	return found, rows.Err()
}

// orNoVectors returns ErrNoVectors if none of guilds has any.
func (e *engine) orNoVectors(ctx context.Context, guilds []memory.GuildID) error {
	for _, guild := range guilds {
		var some bool
		if err := e.pool.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM embedding WHERE guild = $1)",
			int64(guild)).Scan(&some); err != nil || some {
			return explain(err)
		}
	}
	return memory.ErrNoVectors
}
