package sqlstore

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"hark/memory"
)

// readBounds finds where a stretch round each of some ids begins and ends, in the index alone. Here and elsewhere a
// limit is ?+0, because SQLite prepares a statement anew whose limit is a bare parameter.
const readBounds = `SELECT j.value,
	(SELECT id FROM said WHERE channel = ?1 AND id < j.value ORDER BY id DESC LIMIT 1 OFFSET ?2+0),
	(SELECT id FROM said WHERE channel = ?1 AND id > j.value ORDER BY id LIMIT 1 OFFSET ?3+0)
	FROM json_each(?4) j`

const readStretches = "SELECT " + MessageColumns + ` FROM (SELECT value FROM json_each(?)) j
	CROSS JOIN said ON channel = ? AND id BETWEEN j.value ->> 0 AND j.value ->> 1`

// Around implements memory.Store.
func (s *Store) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	guild, no, ok := s.place(channel)
	if !ok || len(ids) == 0 {
		return nil, nil
	}
	if before <= 0 && after <= 0 {
		return s.messages(ctx, channel, "id IN (SELECT value FROM json_each(?)) ORDER BY id", jsonOf(ids))
	}
	all, err := s.around(ctx, no, memory.Message{Guild: guild, Channel: channel},
		slices.Compact(slices.Sorted(slices.Values(ids))),
		min(max(before, 0), math.MaxInt32), min(max(after, 0), math.MaxInt32))
	return all, s.failed(err, "read messages of channel %d", channel)
}

// around reads messages that are as empty is, but for what their rows say.
func (s *Store) around(ctx context.Context, no int64, empty memory.Message, ids []memory.MessageID,
	before, after int) (read []memory.Message, err error) {
	err = s.engine.Snapshot(ctx, func(q Querier) error {
		var stretches [][2]memory.MessageID // which don't overlap, in order
		err := Each(ctx, q, func(scan Scanner) error {
			var id memory.MessageID
			var first, last sql.Null[memory.MessageID]
			err := scan(&id, &first, &last)
			stretch := [2]memory.MessageID{id, id}
			if before > 0 {
				stretch[0] = noMessage
				if first.Valid {
					stretch[0] = first.V
				}
			}
			if after > 0 {
				stretch[1] = math.MaxInt64
				if last.Valid {
					stretch[1] = last.V
				}
			}
			if n := len(stretches); n > 0 && stretch[0] <= stretches[n-1][1] {
				stretches[n-1][1] = stretch[1]
			} else {
				stretches = append(stretches, stretch)
			}
			return err
		}, readBounds, no, max(before-1, 0), max(after-1, 0), jsonOf(ids))
		if err != nil {
			return err
		}
		var m memory.Message
		columns := messageColumns(&m)
		return Each(ctx, q, func(scan Scanner) error {
			m = empty
			err := scan(columns...)
			read = append(read, m)
			return err
		}, readStretches, jsonText(stretches), no)
	})
	if err != nil {
		return nil, err
	}
	return read, nil
}
