package sqlite

import (
	"context"
	"fmt"
	"math"

	"hark/memory"
)

// Wake implements memory.Queue.
func (s *Store) Wake() <-chan struct{} { return s.wake }

// Waiting implements memory.Queue.
func (s *Store) Waiting(ctx context.Context) (int, error) {
	var n int
	to, err := s.sideOf(func(query string, args ...any) rowScanner {
		return rowScanner{row: s.read.QueryRowContext(ctx, query, args...)}
	})
	if err == nil {
		err = s.read.QueryRowContext(ctx, "SELECT count(*) FROM segment WHERE "+to.flag+" = 1").Scan(&n)
	}
	if err != nil {
		return 0, fmt.Errorf("count what is to be embedded: %w", explain(err))
	}
	return n, nil
}

// Pending implements memory.Queue.
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
	if err != nil {
		return nil, fmt.Errorf("read what is to be embedded: %w", explain(err))
	}
	return segments, nil
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
	rows, err := tx.QueryContext(ctx, `SELECT s.id, s.version, c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content, m.extra
		FROM (SELECT * FROM segment WHERE `+to.flag+` = 1 ORDER BY id LIMIT ?) s JOIN channel c ON c.no = s.channel
		CROSS JOIN said m ON m.channel = s.channel AND m.id BETWEEN s.first AND s.last AND m.segment = s.id ORDER BY s.id, m.id`, limit)
	if err != nil {
		return nil, side{}, err
	}
	var segments []memory.Segment
	err = eachRow(rows, func(scan func(...any) error) error {
		var id, version int64
		var m memory.Message
		err := scanMessage(func(dest ...any) error {
			return scan(append([]any{&id, &version, &m.Channel, &m.Guild}, dest...)...)
		}, &m)
		if err != nil {
			return err
		}
		if n := len(segments); n == 0 || segments[n-1].ID != id {
			segments = append(segments, memory.Segment{ID: id, Channel: m.Channel, Version: version})
		}
		last := &segments[len(segments)-1]
		last.Messages = append(last.Messages, m)
		return nil
	})
	return segments, to, err
}

// Embedded implements memory.Queue.
func (s *Store) Embedded(ctx context.Context, segments []memory.Segment, embedded [][]float32) error {
	if len(segments) != len(embedded) {
		return fmt.Errorf("store vectors: %d for %d segments", len(embedded), len(segments))
	}
	for i, v := range embedded {
		if err := checkVector(v, s.options.Space); err != nil {
			return fmt.Errorf("store the vector of segment %d: %w", segments[i].ID, err)
		}
	}
	return s.writing(ctx, func(t *transaction) error {
		side, err := t.side()
		if err != nil {
			return err
		}
		for i, segment := range segments {
			if err := t.storeVector(side, segment, embedded[i]); err != nil {
				return err
			}
		}
		return t.switchOver()
	})
}

// storedVector is a vector in the steps that the file holds.
type storedVector struct {
	segment, channel int64
	steps            []byte
}

// storeVector stores the vector of a segment that is still as it was when it was embedded.
func (t *transaction) storeVector(to side, segment memory.Segment, vector []float32) error {
	v := storedVector{segment: segment.ID}
	ok, err := found(t.row("UPDATE segment SET "+to.flag+" = 0 WHERE id = ? AND version = ? RETURNING channel", segment.ID, segment.Version).Scan(&v.channel))
	if !ok || err != nil {
		return err
	}
	if vector == nil {
		if to == inUse {
			t.changed.removed = append(t.changed.removed, segment.ID)
		}
		return t.exec("DELETE FROM "+to.table+" WHERE segment = ?", segment.ID)
	}
	v.steps = quantise(vector)
	if to == inUse {
		t.changed.stored = append(t.changed.stored, v)
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
	for i, x := range v {
		steps[i] = byte(int8(math.Round(float64(x) / largest * 127)))
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
