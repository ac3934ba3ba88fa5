package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"

	"hark/memory"
)

// Wake implements memory.Store.
func (s *Store) Wake() <-chan struct{} { return s.wake }

// Waiting implements memory.Store.
func (s *Store) Waiting(ctx context.Context, guild memory.GuildID) (int, error) {
	query, args := "SELECT count(*) FROM segment WHERE %s = 1", []any(nil)
	if guild != memory.Everywhere {
		query, args = query+" AND channel IN (SELECT no FROM channel WHERE guild = ?)", []any{int64(guild)}
	}
	var n int
	to, err := s.sideOf(func(query string, args ...any) rowScanner {
		return rowScanner{row: s.read.QueryRowContext(ctx, query, args...)}
	})
	if err == nil {
		err = s.read.QueryRowContext(ctx, fmt.Sprintf(query, to.flag), args...).Scan(&n)
	}
	return n, failed(err, "count what is to be embedded")
}

// Pending implements memory.Store.
func (s *Store) Pending(ctx context.Context, limit int) ([]memory.Segment, error) {
	s.tryEmptyLog() // the last delete may have met a reader that is gone by now
	err := s.sweep(ctx)
	var segments []memory.Segment
	var to side
	if err == nil {
		segments, to, err = s.readPending(ctx, limit)
	}
	if err == nil && len(segments) == 0 && to == beside && limit > 0 { // the last that was missing is gone
		err = s.writing(ctx, (*transaction).switchOver)
	}
	return segments, failed(err, "read what is to be embedded")
}

// readPending are segments to embed, and which vectors are theirs.
func (s *Store) readPending(ctx context.Context, limit int) ([]memory.Segment, side, error) {
	tx, err := s.read.BeginTx(ctx, nil) // so that the texts are those of the versions
	if err != nil {
		return nil, side{}, err
	}
	defer tx.Rollback()
	to, err := s.sideOf(func(query string, args ...any) rowScanner {
		return rowScanner{row: tx.QueryRowContext(ctx, query, args...)}
	})
	if err != nil {
		return nil, side{}, err
	}
	waiting, err := readWaiting(ctx, tx, to, limit)
	if err != nil {
		return nil, side{}, err
	}
	segments, err := readSegments(ctx, tx, waiting)
	return segments, to, err
}

// waitingSegment is a segment to embed, without its messages.
type waitingSegment struct {
	memory.Segment
	guild       memory.GuildID
	no          int64            // of its channel
	first, last memory.MessageID // between which its messages lie
}

func readWaiting(ctx context.Context, tx *sql.Tx, to side, limit int) ([]*waitingSegment, error) {
	return list(ctx, tx, func(scan scanner, to **waitingSegment) error {
		w := &waitingSegment{}
		*to = w
		return scan(&w.ID, &w.Version, &w.no, &w.first, &w.last, &w.Channel, &w.guild)
	}, `SELECT s.id, s.version, s.channel, s.first, s.last, c.id, c.guild
		FROM segment s JOIN channel c ON c.no = s.channel WHERE s.`+to.flag+` = 1 ORDER BY s.id LIMIT ?`, limit)
}

// readSegments reads the messages of segments. Where people talk at once the segments of a channel overlap: each
// stretch is read once.
func readSegments(ctx context.Context, tx *sql.Tx, waiting []*waitingSegment) ([]memory.Segment, error) {
	of := make(map[int64]*waitingSegment, len(waiting))
	for _, w := range waiting {
		of[w.ID] = w
	}
	scanRow := func(scan scanner) error {
		var id int64
		var m memory.Message
		if err := scanMessage(behind(scan, &id), &m); err != nil {
			return err
		}
		if w := of[id]; w != nil {
			m.Channel, m.Guild = w.Channel, w.guild
			w.Messages = append(w.Messages, m)
		}
		return nil
	}
	if err := each(ctx, tx, scanRow, `SELECT m.segment, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content, m.extra
		FROM json_each(?) j CROSS JOIN said m ON m.channel = j.value ->> 0 AND m.id BETWEEN j.value ->> 1 AND j.value ->> 2`, stretches(waiting)); err != nil {
		return nil, err
	}
	var segments []memory.Segment
	for _, w := range waiting {
		if len(w.Messages) > 0 {
			slices.SortFunc(w.Messages, func(a, b memory.Message) int { return cmp.Compare(a.ID, b.ID) })
			segments = append(segments, w.Segment)
		}
	}
	return segments, nil
}

// stretches are where segments lie, as JSON: number of the channel, first and last id, none overlapping another.
func stretches(waiting []*waitingSegment) string {
	sorted := slices.SortedFunc(slices.Values(waiting), func(a, b *waitingSegment) int {
		return cmp.Or(cmp.Compare(a.no, b.no), cmp.Compare(a.first, b.first))
	})
	b := []byte{'['}
	for i := 0; i < len(sorted); {
		from, last := sorted[i], sorted[i].last
		for i++; i < len(sorted) && sorted[i].no == from.no && sorted[i].first <= last; i++ {
			last = max(last, sorted[i].last)
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "[%d,%d,%d]", from.no, from.first, last)
	}
	return string(append(b, ']'))
}

// Embedded implements memory.Store.
func (s *Store) Embedded(ctx context.Context, segments []memory.Segment, embedded [][]float32) error {
	if len(segments) != len(embedded) {
		return fmt.Errorf("store vectors: %d for %d segments", len(embedded), len(segments))
	}
	for i, v := range embedded {
		if err := checkVector(v, s.options.Space); err != nil {
			return fmt.Errorf("store the vector of segment %d: %w", segments[i].ID, err)
		}
	}
	vectors := make([][]byte, len(embedded))
	for i, v := range embedded {
		if v != nil {
			vectors[i] = quantise(v)
		}
	}
	return s.writing(ctx, func(t *transaction) error {
		to, err := t.side()
		if err != nil {
			return err
		}
		if err := t.storeVectors(to, segments, vectors); err != nil {
			return err
		}
		return t.switchOver()
	})
}

// version is a segment as it was at some time.
type version struct{ segment, number int64 }

// unchanged notes that those of segments that still are as they were when they were embedded no longer wait, and tells
// where they lie.
func (t *transaction) unchanged(to side, segments []memory.Segment) (map[version]storedVector, error) {
	versions := []byte{'['}
	for i, s := range segments {
		if i > 0 {
			versions = append(versions, ',')
		}
		versions = fmt.Appendf(versions, "[%d,%d]", s.ID, s.Version)
	}
	same := make(map[version]storedVector, len(segments))
	return same, t.each(func(scan scanner) error {
		var number int64
		var v storedVector
		err := scan(&v.segment, &number, &v.channel, &v.first, &v.last)
		same[version{v.segment, number}] = v
		return err
	}, "UPDATE segment SET "+to.flag+` = 0 FROM json_each(?) j WHERE segment.id = j.value ->> 0 AND segment.version = j.value ->> 1
		RETURNING segment.id, segment.version, segment.channel, segment.first, segment.last`, string(append(versions, ']')))
}

// storedVector is a vector in the steps that the file holds.
type storedVector struct {
	segment, channel int64
	first, last      memory.MessageID // between which the segment's messages lie
	steps            []byte
}

// storeVectors stores the vectors, in steps, of those segments that still are as they were when they were embedded.
func (t *transaction) storeVectors(to side, segments []memory.Segment, vectors [][]byte) error {
	same, err := t.unchanged(to, segments)
	if err != nil {
		return err
	}
	for i, s := range segments {
		if v, ok := same[version{s.ID, s.Version}]; ok {
			v.steps = vectors[i]
			if err := t.storeVector(to, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeVector stores the vector of a segment, or, if it has no steps, that there is none.
func (t *transaction) storeVector(to side, v storedVector) error {
	if v.steps == nil {
		if to == inUse {
			t.gone = append(t.gone, v.segment)
		}
		if err := t.exec("UPDATE segment SET "+to.flag+" = 2 WHERE id = ?", v.segment); err != nil {
			return err
		}
		return t.exec("DELETE FROM "+to.table+" WHERE segment = ?", v.segment)
	}
	if to == inUse {
		t.put = append(t.put, v)
	}
	return t.exec("INSERT OR REPLACE INTO "+to.table+" (segment, steps) VALUES (?, ?)", v.segment, pack(v.steps))
}

// checkVector reports what makes a vector unfit to be compared with others.
func checkVector(v []float32, space memory.Space) error {
	if v == nil {
		return nil
	}
	if len(v) != space.Dimensions {
		return fmt.Errorf("it has %d dimensions and not %d", len(v), space.Dimensions)
	}
	var length float64
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	if !(length > 1e-12) || math.IsInf(length, 1) {
		return fmt.Errorf("it is zero or not finite")
	}
	return nil
}

// quantise gives v in steps of a 127th of its largest number, one byte a number. How large a step is isn't
// kept: only the direction of a vector counts.
func quantise(v []float32) []byte {
	var largest float64
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	steps := make([]byte, len(v))
	scale := 127 / largest
	for i, x := range v {
		steps[i] = byte(int8(math.RoundToEven(float64(x) * scale)))
	}
	return steps
}

// pack is steps as the file holds them. Half of a hashed vector's are 0: then a bit for each tells which aren't, and
// those follow.
func pack(steps []byte) []byte {
	packed := make([]byte, (len(steps)+7)/8, len(steps))
	for i, b := range steps {
		if b == 0 {
			continue
		}
		if len(packed)+1 >= len(steps) { // as a rule, of an endpoint's
			return steps
		}
		packed[i/8] |= 1 << (i % 8)
		packed = append(packed, b)
	}
	return packed
}

// unpack is what pack was given, n steps.
func unpack(packed []byte, n int) ([]byte, error) {
	if len(packed) == n {
		return packed, nil
	}
	bits := (n + 7) / 8
	if len(packed) < bits {
		return nil, fmt.Errorf("a vector takes %d bytes, too few for %d dimensions", len(packed), n)
	}
	steps, rest := make([]byte, n), packed[bits:]
	for i := range steps {
		if packed[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if len(rest) == 0 {
			return nil, fmt.Errorf("a vector of %d dimensions lacks some of its numbers", n)
		}
		steps[i], rest = rest[0], rest[1:]
	}
	return steps, nil
}

// dequantise is what quantise was given, as near as the steps allow, with length 1.
func dequantise(steps []byte) []float32 {
	v := make([]float32, len(steps))
	var length float64
	for i, b := range steps {
		x := float64(int8(b))
		v[i] = float32(x)
		length += x * x
	}
	scale := float32(1 / math.Sqrt(length))
	for i := range v {
		v[i] *= scale
	}
	return v
}
