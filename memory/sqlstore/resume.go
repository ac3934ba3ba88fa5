package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hark/memory"
)

// Forget implements memory.Store. It deletes what every forgetting has pending.
func (s *Store) Forget(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.DeletionReport, error) {
	if f.ID != 0 {
		return s.carryOut(ctx, f.ID, progress)
	}
	if f.At.IsZero() {
		f.At = time.Now()
	}
	var id int64
	if err := s.deciding(ctx, func(t *transaction) { id = t.forget(f) }); err != nil {
		return memory.DeletionReport{}, fmt.Errorf("begin to forget: %w", err)
	}
	if _, err := s.hide(ctx, id); err != nil { // even if ctx is done
		return memory.DeletionReport{}, s.failed(err, "hide what forgetting %d is about", id)
	}
	return s.carryOut(ctx, id, progress)
}

// Forgettings implements memory.Store. Of finished ones for one reason it may return only the newest.
func (s *Store) Forgettings(ctx context.Context, guild memory.GuildID,
	user memory.UserID) ([]memory.DeletionReport, error) {
	where := "done = 0 ORDER BY id"
	args := []any(nil)
	if user != 0 {
		where = "done = 1 AND guild = ? AND user = ? AND channel = 0 ORDER BY id DESC"
		args = []any{guild, user}
	}
	all, err := list(ctx, s.engine, func(scan Scanner, r *memory.DeletionReport) error {
		var o rule
		err := o.scan(scan, asJSON{r})
		r.Forgetting = o.Forgetting
		return err
	}, "SELECT "+forgettingColumns+", receipt FROM forgetting WHERE "+where, args...)
	return all, s.failed(err, "read what is forgotten")
}

// HasForgotten reports whether anything of a guild was ever forgotten.
func (s *Store) HasForgotten(ctx context.Context, guild memory.GuildID) (yes bool, err error) {
	err = s.row(ctx, "SELECT EXISTS (SELECT 1 FROM forgetting WHERE guild = ?)", guild).Scan(&yes)
	return yes, s.failed(err, "read what is forgotten")
}

// carryOut begins or continues a recorded forgetting.
func (s *Store) carryOut(ctx context.Context, id int64, progress func(done, total int)) (memory.DeletionReport, error) {
	r, err := s.deleteForgotten(ctx, id, progress)
	return r, s.failed(err, "carry out forgetting %d", id)
}

func (s *Store) deleteForgotten(ctx context.Context, id int64, progress func(done,
	total int)) (r memory.DeletionReport, err error) {
	done := false
	if err := s.writing(ctx, func(t *transaction) { r, done = t.beginAgain(id) }); err != nil {
		return r, err
	}
	if !done {
		r, err = s.hide(ctx, id)
		if err != nil {
			return r, err
		}
		if err := s.deletePending(ctx, progress); err != nil {
			return r, err
		}
		// It is done once the write-ahead log is empty too; else the janitor tries again.
		if err := s.Erase(ctx, true); err != nil {
			return r, err
		}
		if err := s.writing(ctx, func(t *transaction) { t.finish(id) }); err != nil {
			return r, err
		}
	}
	return r, s.Erase(ctx, true)
}

// beginAgain reads a forgetting, and begins it if it is only on record.
func (t *transaction) beginAgain(id int64) (r memory.DeletionReport, done bool) {
	o, begun, done, r := t.forgetting(id)
	if o.ID == 0 {
		ensure(memory.ErrNotFound)
	}
	if begun == 0 {
		t.begin(id, o)
	}
	return r, done
}

// deletePending deletes the rows and full text of messages pending deletion.
func (s *Store) deletePending(ctx context.Context, progress func(done, total int)) error {
	var total, all int
	err := s.row(ctx, "SELECT count(*) FROM pending_deletion").Scan(&total)
	if err == nil {
		err = s.row(ctx, "SELECT coalesce(sum(messages), 0) FROM channel").Scan(&all)
	}
	if err != nil {
		return s.engine.Explain(err)
	}
	_, err = s.inSteps(ctx, 0, total, progress, func(t *transaction, limit int) int {
		if total > all/bulkFraction {
			ensure(t.RemoveInBulk())
		}
		return t.deletePendingBatch(limit)
	})
	return err
}

// bulkFraction: deleting more than one in this many messages counts as bulk. Below that, removing terms one by
// one is faster than merging full text.
const bulkFraction = 100

func (t *transaction) deletePendingBatch(limit int) int {
	rows, terms := t.termsOf(`SELECT m.row, m.channel, m.id, m.kind, m.content, m.extra FROM pending_deletion d
		CROSS JOIN message m WHERE m.guild = d.guild AND m.row = d.row ORDER BY d.row LIMIT ?+0`, limit)
	if len(rows) == 0 {
		t.exec("DELETE FROM pending_deletion")
		return 0
	}
	t.changed.Text = true // again, because Erase may have run since begin
	for i, row := range rows {
		t.unindex(row, terms[i])
	}
	for _, some := range byGuild(rows, SequenceBits+ChannelBits) {
		const these = " WHERE guild = ? AND row IN (SELECT value FROM json_each(?))"
		t.execAll([]any{t.guildOfNo(some[0] >> SequenceBits), jsonOf(some)}, "DELETE FROM message"+these,
			"DELETE FROM pending_deletion"+these)
	}
	return len(rows)
}

// finish marks a forgetting as done and deletes the channels and guilds that nothing needs.
func (t *transaction) finish(id int64) {
	o, _, _, _ := t.forgetting(id)
	if o.ID == 0 {
		return
	}
	if o.whole && o.Channel == 0 && o.User == 0 {
		t.changed.structure[o.Guild] = true
		t.changed.space = true
		t.changed.Text = true
		clear(t.store.ingest.channels)
		clear(t.store.ingest.guildNos)
		clear(t.store.ingest.guildIDs)
		clear(t.store.ingest.segments)
		t.dropUnused(o)
	}
	t.exec("UPDATE forgetting SET done = 1 WHERE id = ?", id)
}
