package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"hark/memory"
	"hark/memory/sqlstore"
)

const (
	// sealStart is how many bytes a sealed value begins with that no other has: its key's number and its nonce.
	sealStart = 20
	// maxOpenVectors is how many bytes of decrypted vectors are kept.
	maxOpenVectors = 128 << 20
)

// openVectors are decrypted vectors by segment, so that a search reads and decrypts only those that it hasn't met as
// they are.
type openVectors struct {
	mu    sync.RWMutex
	of    map[int64]openVector
	bytes int
}

type openVector struct {
	start string // of the sealed value
	steps
}

// put keeps a vector. If there are too many, it drops the others.
func (o *openVectors) put(segment int64, v openVector) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += len(v.of) - len(o.of[segment].of)
	if o.of == nil || o.bytes > maxOpenVectors {
		o.of, o.bytes = map[int64]openVector{}, len(v.of)
	}
	o.of[segment] = v
}

func (o *openVectors) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of, o.bytes = nil, 0
}

// nearestSealed returns the nearest segments of those of a guild that w selects, of which vectors may be sealed: the
// server can't compare them.
func (e *engine) nearestSealed(ctx context.Context, guild memory.GuildID, q sqlstore.VectorQuery, w *where,
	limit int) ([]sqlstore.Near, error) {
	question := stepsOf(q.Vector)
	found, unmet, err := e.nearestOpen(ctx, question, w)
	if err == nil && len(unmet) > 0 {
		var more []sqlstore.Near
		more, err = e.nearestUnmet(ctx, guild, question, unmet)
		found = append(found, more...)
	}
	return best(found, limit), err
}

// nearestUnmet decrypts the vectors of segments, keeps and compares them.
func (e *engine) nearestUnmet(ctx context.Context, guild memory.GuildID, question steps,
	segments []int64) (found []sqlstore.Near, err error) {
	rows, err := e.pool.Query(ctx, `SELECT segment, "values"::real[], sealed FROM embedding
		WHERE guild = $1 AND segment = ANY ($2)`, int64(guild), segments)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var near sqlstore.Near
		var plain []float32
		var sealed pgtype.DriverBytes // until the next row
		if err := rows.Scan(&near.Segment, &plain, &sealed); err != nil {
			return nil, err
		}
		v, err := e.openVector(near.Segment, plain, sealed)
		if err != nil {
			return nil, err
		}
		now := stepsOf(v)
		if sealed != nil {
			e.open.put(near.Segment, openVector{string(sealed[:min(len(sealed), sealStart)]), now})
		}
		near.Similarity = question.cosine(now)
		found = append(found, near)
	}
	return found, rows.Err()
}

// nearestOpen compares the vectors that are open, and returns the segments of the others. The segments and the starts
// of their sealed values come as one row each, which takes a fraction of the time of many.
func (e *engine) nearestOpen(ctx context.Context, question steps, w *where) (found []sqlstore.Near, unmet []int64,
	err error) {
	var segments []int64
	var starts []byte
	if err := e.pool.QueryRow(ctx, fmt.Sprintf(`SELECT array_agg(segment),
			string_agg(coalesce(substring(sealed FOR %[1]d), decode(repeat('00', %[1]d), 'hex')), ''::bytea)
		FROM embedding WHERE `, sealStart)+w.text.String(), w.args...).Scan(&segments, &starts); err != nil {
		return nil, nil, err
	}
	if len(starts) != sealStart*len(segments) {
		return nil, nil, errors.New("sealed vectors were cut off")
	}
	e.open.mu.RLock()
	defer e.open.mu.RUnlock()
	for i, segment := range segments {
		if v, met := e.open.of[segment]; met && string(starts[i*sealStart:(i+1)*sealStart]) == v.start {
			found = append(found, sqlstore.Near{Segment: segment, Similarity: question.cosine(v.steps)})
		} else {
			unmet = append(unmet, segment)
		}
	}
	return found, unmet, nil
}

// steps are a vector's components as parts of the largest, in 8 bits: enough to rank by, as in a file.
type steps struct {
	of     []int8
	length float64
}

func stepsOf(v []float32) steps {
	var most float32
	for _, x := range v {
		most = max(most, x, -x)
	}
	s := steps{of: make([]int8, len(v))}
	for i, x := range v {
		s.of[i] = int8(math.Round(float64(x) / max(float64(most), math.SmallestNonzeroFloat32) * math.MaxInt8))
	}
	s.length = math.Sqrt(float64(product(s.of, s.of)))
	return s
}

// cosine returns the cosine of the angle between two vectors.
func (s steps) cosine(o steps) float32 {
	return float32(float64(product(s.of, o.of)) / (s.length * o.length))
}

// product returns the scalar product of two vectors. Four sums at a time take half the time of one.
func product(a, b []int8) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	var s0, s1, s2, s3 int32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += int32(a[0]) * int32(b[0])
		s1 += int32(a[1]) * int32(b[1])
		s2 += int32(a[2]) * int32(b[2])
		s3 += int32(a[3]) * int32(b[3])
		a, b = a[4:], b[4:]
	}
	for i := range min(len(a), len(b)) {
		s0 += int32(a[i]) * int32(b[i])
	}
	return int(s0) + int(s1) + int(s2) + int(s3)
}

// best returns the limit nearest, nearest first.
func best(found []sqlstore.Near, limit int) []sqlstore.Near {
	if len(found) > 4*limit { // to sort few
		all := make([]float32, len(found))
		for i, near := range found {
			all[i] = near.Similarity
		}
		slices.Sort(all)
		least := all[len(all)-limit]
		found = slices.DeleteFunc(found, func(near sqlstore.Near) bool { return near.Similarity < least })
	}
	slices.SortFunc(found, func(a, b sqlstore.Near) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Segment, b.Segment))
	})
	return found[:min(limit, len(found))]
}
