package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"hark/memory"
	"hark/memory/vectors"
)

// Wake implements memory.Store.
func (s *Store) Wake() <-chan struct{} { return s.wake }

// Waiting implements memory.Store.
func (s *Store) Waiting(ctx context.Context, guild memory.GuildID) (int, error) {
	var n int
	to, err := s.vectorSetOf(ctx, s.engine)
	if err == nil {
		query := "SELECT count(*) FROM segment WHERE " + to.flag + " = 1"
		args := []any(nil)
		if guild != memory.Everywhere { // else the index alone tells
			query += " AND guild = ?"
			args = []any{guild}
		}
		err = s.row(ctx, query, args...).Scan(&n)
	}
	return n, s.failed(err, "count what is to be embedded")
}

// Pending implements memory.Store.
func (s *Store) Pending(ctx context.Context, limit int) ([]memory.Segment, error) {
	select {
	case s.engine.WriteLock() <- struct{}{}: // to truncate the log, which a reader may have prevented
		s.engine.ReleaseWriteLock(true)
	default:
	}
	err := s.sweep(ctx)
	var segments []memory.Segment
	var to vectorSet
	if err == nil {
		segments, to, err = s.readPending(ctx, limit)
	}
	// The last missing vector may have come meanwhile.
	if err == nil && len(segments) == 0 && to == shadowSet && limit > 0 {
		err = s.writing(ctx, (*transaction).activateShadow)
	}
	return segments, s.failed(err, "read what is to be embedded")
}

// readPending returns segments to embed, and the set for their vectors.
func (s *Store) readPending(ctx context.Context, limit int) ([]memory.Segment, vectorSet, error) {
	var segments []memory.Segment
	var to vectorSet
	err := s.engine.Snapshot(ctx, func(q Querier) (err error) { // so texts and versions match
		to, err = s.vectorSetOf(ctx, q)
		if err != nil {
			return err
		}
		waiting, err := s.vault.readWaiting(ctx, q, to, limit)
		if err != nil {
			return err
		}
		segments, err = s.vault.readSegments(ctx, q, waiting)
		return err
	})
	return segments, to, err
}

type waitingSegment struct {
	memory.Segment
	guild       memory.GuildID
	no          int64
	first, last memory.MessageID // its messages lie between them
}

func (v *Vault) readWaiting(ctx context.Context, q Querier, to vectorSet, limit int) ([]*waitingSegment, error) {
	return list(ctx, q, func(scan Scanner, to **waitingSegment) error {
		w := &waitingSegment{}
		*to = w
		var c memory.Channel
		err := scan(&w.ID, &w.Version, &w.no, &w.first, &w.last, &c.ID, &w.guild, &c.Kind, v.channelName(&c, &w.no))
		w.Channel = c.ID
		w.Title = memory.TitleOf(&c, nil).Name
		return err
	}, `SELECT s.id, s.version, s.channel, s.first, s.last, c.id, c.guild, c.kind, c.name
		FROM segment s CROSS JOIN channel c
		WHERE s.`+to.flag+` = 1 AND c.guild = s.guild AND c.no = s.channel ORDER BY s.id LIMIT ?+0`, limit)
}

// readSegments reads the messages of segments. Segments of a channel overlap when people talk at once; each
// stretch is read once.
func (v *Vault) readSegments(ctx context.Context, q Querier, waiting []*waitingSegment) ([]memory.Segment, error) {
	of := make(map[int64]*waitingSegment, len(waiting))
	for _, w := range waiting {
		of[w.ID] = w
	}
	scanRow := func(scan Scanner) error {
		var id int64
		var m memory.Message
		content, extra := v.messageText(&m, func() int64 { return of[id].no })
		err := scan(&id, asInt[memory.MessageID]{&m.ID}, asInt[memory.UserID]{&m.Author}, content, extra)
		if err != nil {
			return err
		}
		w := of[id]
		m.Channel = w.Channel
		m.Guild = w.guild
		w.Messages = append(w.Messages, m)
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(waiting), func(a, b *waitingSegment) int {
		return cmp.Or(cmp.Compare(a.no, b.no), cmp.Compare(a.first, b.first))
	})
	for i := 0; i < len(sorted); {
		from := sorted[i]
		last := sorted[i].last
		ids := []int64{sorted[i].ID}
		for i++; i < len(sorted) && sorted[i].no == from.no && sorted[i].first <= last; i++ {
			last = max(last, sorted[i].last)
			ids = append(ids, sorted[i].ID)
		}
		err := Each(ctx, q, scanRow, `SELECT segment, id, author, content, extra FROM said WHERE guild = ? AND channel = ?
			AND id BETWEEN ? AND ? AND segment IN (SELECT value FROM json_each(?)) ORDER BY id`,
			from.guild, from.no, from.first, last, jsonOf(ids))
		if err != nil {
			return nil, err
		}
	}
	var segments []memory.Segment
	for _, w := range waiting {
		if len(w.Messages) > 0 {
			segments = append(segments, w.Segment)
		}
	}
	return segments, nil
}

// Embedded implements memory.Store.
func (s *Store) Embedded(ctx context.Context, segments []memory.Segment, embedded [][]float32) error {
	if len(segments) != len(embedded) {
		return fmt.Errorf("store vectors: %d for %d segments", len(embedded), len(segments))
	}
	space := *s.space.Load()
	for i, v := range embedded {
		if err := CheckVector(v, space); err != nil {
			return fmt.Errorf("store the vector of segment %d: %w", segments[i].ID, err)
		}
	}
	return s.writing(ctx, func(t *transaction) {
		t.storeVectors(t.vectorSet(), segments, embedded)
		t.activateShadow()
	})
}

// storeVectors stores the vectors of segments that are unchanged since they were read, and clears their pending
// flag. A nil vector means that there is nothing to embed.
func (t *transaction) storeVectors(to vectorSet, segments []memory.Segment, embedded [][]float32) {
	for i, s := range segments {
		v := vector{segment: s.ID, guild: t.guildOfSegment(s.ID)}
		waits := 0
		if embedded[i] == nil {
			waits = 2
		}
		if !t.row("UPDATE segment SET "+to.flag+` = ? WHERE guild = ? AND id = ? AND version = ?
			RETURNING channel, first, last`, waits, v.guild, s.ID, s.Version).into(&v.channel, &v.first, &v.last) {
			continue
		}
		if embedded[i] != nil {
			v.steps, v.sketch = t.store.encoder.Encode(embedded[i])
			t.putVector(to, v)
			continue
		}
		if to == activeSet {
			t.noteVector(s.ID, vectors.Row{})
		}
		t.exec("DELETE FROM "+to.table+" WHERE guild = ? AND segment = ?", v.guild, s.ID)
	}
}

// CheckVector returns why a vector can't be compared with others.
func CheckVector(v []float32, space memory.Space) error {
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

// sweep deletes obsolete vectors.
func (s *Store) sweep(ctx context.Context) error {
	for {
		var left bool
		err := s.row(ctx, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'sweep')").Scan(&left)
		if err != nil || !left {
			return err
		}
		if err := s.writing(ctx, (*transaction).sweepStep); err != nil {
			return err
		}
	}
}
