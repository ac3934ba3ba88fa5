package sqlite

import (
	"context"
	"fmt"
	"math"

	"hark/memory"
)

// Wake implements memory.Queue.
func (s *Store) Wake() <-chan struct{} { return s.wake }

// Pending implements memory.Queue.
func (s *Store) Pending(ctx context.Context, limit int) ([]memory.Segment, error) {
	s.tryEmptyLog()                     // the last delete may have met a reader that is gone by now
	tx, err := s.read.BeginTx(ctx, nil) // so that the texts are those of the versions
	if err != nil {
		return nil, fmt.Errorf("read what is to be embedded: %w", explain(err))
	}
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, `SELECT s.id, s.version, c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content, m.extra
		FROM (SELECT * FROM segment WHERE pending = 1 ORDER BY id LIMIT ?) s JOIN channel c ON c.no = s.channel
		CROSS JOIN message m ON m.channel = s.channel AND m.id BETWEEN s.first AND s.last AND m.segment = s.id ORDER BY s.id, m.id`, limit)
	if err != nil {
		return nil, fmt.Errorf("read what is to be embedded: %w", explain(err))
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
	if err != nil {
		return nil, fmt.Errorf("read what is to be embedded: %w", explain(err))
	}
	return segments, nil
}

// Embedded implements memory.Queue.
func (s *Store) Embedded(ctx context.Context, segments []memory.Segment, embedded [][]float32) error {
	if len(segments) != len(embedded) {
		return fmt.Errorf("store vectors: %d for %d segments", len(embedded), len(segments))
	}
	for i, v := range embedded {
		if err := s.checkVector(v); err != nil {
			return fmt.Errorf("store the vector of segment %d: %w", segments[i].ID, err)
		}
	}
	return s.writing(ctx, func(t *transaction) error {
		if err := t.checkSpace(); err != nil {
			return err
		}
		for i, segment := range segments {
			if err := t.storeVector(segment, embedded[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkSpace makes sure that the file's vectors still lie in the space that this store was opened with.
func (t *transaction) checkSpace() error {
	var stored string
	if err := t.row("SELECT value FROM meta WHERE key = 'space'").Scan(&stored); err != nil {
		return err
	}
	if own := t.store.spaceName(); stored != own {
		return fmt.Errorf("another process has opened the database for vectors of %s, this one for those of %s: give both the same embedder and restart", stored, own)
	}
	return nil
}

// storedVector is a vector as the file holds it.
type storedVector struct {
	segment, channel int64
	steps            []byte
}

// storeVector stores the vector of a segment that is still as it was when it was embedded.
func (t *transaction) storeVector(segment memory.Segment, vector []float32) error {
	v := storedVector{segment: segment.ID}
	ok, err := found(t.row("UPDATE segment SET pending = 0 WHERE id = ? AND version = ? RETURNING channel", segment.ID, segment.Version).Scan(&v.channel))
	if !ok || err != nil {
		return err
	}
	if vector == nil {
		t.changed.removed = append(t.changed.removed, segment.ID)
		return t.exec("DELETE FROM vector WHERE segment = ?", segment.ID)
	}
	v.steps = quantise(vector)
	t.changed.stored = append(t.changed.stored, v)
	return t.exec("INSERT OR REPLACE INTO vector (segment, steps) VALUES (?, ?)", v.segment, v.steps)
}

// checkVector reports what makes a vector unfit to be compared with others.
func (s *Store) checkVector(v []float32) error {
	if v == nil {
		return nil
	}
	if len(v) != s.options.Space.Dimensions {
		return fmt.Errorf("it has %d dimensions and not %d", len(v), s.options.Space.Dimensions)
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
