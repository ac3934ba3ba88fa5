package sqlstore

import (
	"context"
	"math"
	"slices"

	"hark/memory"
)

// The statements that read a stretch. They are prepared once: a search asks for some hundred stretches. Here and
// elsewhere a limit is ?+0, because SQLite prepares a statement anew whose limit is a bare parameter.
const (
	readBefore = "SELECT " + MessageColumns +
		" FROM said WHERE channel = ? AND id < ? AND id > ? ORDER BY id DESC LIMIT ?+0"
	readFrom = "SELECT " + MessageColumns + " FROM said WHERE channel = ? AND id >= ? AND id > ? ORDER BY id LIMIT ?+0"
)

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
	all, err := s.around(ctx, no, slices.Compact(slices.Sorted(slices.Values(ids))),
		min(max(before, 0), math.MaxInt32), min(max(after, 0), math.MaxInt32))
	if err != nil {
		return nil, s.failed(err, "read messages of channel %d", channel)
	}
	for i := range all {
		all[i].Guild, all[i].Channel = guild, channel
	}
	return all, nil
}

func (s *Store) around(ctx context.Context, no int64, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	var r stretchReader
	err := s.engine.Snapshot(ctx, func(q Querier) error {
		r = stretchReader{ctx: ctx, q: q, no: no}
		for _, id := range ids {
			if err := r.read(id, before, after); err != nil {
				return err
			}
		}
		return nil
	})
	return r.all, err
}

// stretchReader reads what is round ids, which come in order, each message once.
type stretchReader struct {
	ctx context.Context
	q   Querier
	no  int64            // of the channel
	all []memory.Message // by id
}

// read adds the stretch round id. What precedes it is read down to what was read for the id before: from
// there on all was.
func (r *stretchReader) read(id memory.MessageID, before, after int) error {
	last := noMessage
	if n := len(r.all); n > 0 {
		last = r.all[n-1].ID
	}
	if last < id && before > 0 {
		start := len(r.all)
		if err := r.add(readBefore, r.no, id, last, before); err != nil {
			return err
		}
		slices.Reverse(r.all[start:])
	}
	wanted := after
	for i := len(r.all) - 1; i >= 0 && r.all[i].ID > id; i-- {
		wanted--
	}
	if last < id {
		wanted++ // itself, if it is there
	}
	if wanted <= 0 {
		return nil
	}
	start := len(r.all)
	if err := r.add(readFrom, r.no, id, last, wanted); err != nil {
		return err
	}
	if read := len(r.all) - start; last < id && read == wanted && r.all[start].ID != id {
		r.all = r.all[:len(r.all)-1] // it isn't there, and one too many was read in its place
	}
	return nil
}

func (r *stretchReader) add(query string, args ...any) error {
	found, err := list(r.ctx, r.q, ScanMessage, query, args...)
	r.all = append(r.all, found...)
	return err
}
