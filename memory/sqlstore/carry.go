package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hark/memory"
)

// Forget implements memory.Store.
func (s *Store) Forget(ctx context.Context, f memory.Forgetting,
	progress func(done, total int)) (memory.Receipt, error) {
	if f.At.IsZero() {
		f.At = time.Now()
	}
	var id int64
	if err := s.writing(ctx, func(t *transaction) (err error) {
		id, err = t.forget(f)
		return err
	}); err != nil {
		return memory.Receipt{}, fmt.Errorf("begin to forget: %w", err)
	}
	return s.Resume(ctx, id, progress)
}

// ForgettingColumns are those of a forgetting.
const ForgettingColumns = "id, guild, channel, user, before, why, at, whole"

func scanForgetting(scan func(...any) error, f *memory.Forgetting, o *order, more ...any) error {
	var at int64
	err := scan(append([]any{&f.ID, &o.guild, &o.channel, &o.user, &o.end, &o.why, &at, &o.whole}, more...)...)
	f.Guild, f.Channel, f.User, f.Why, f.At = o.guild, o.channel, o.user, o.why, FromMillis(at)
	if !o.whole && o.end != endless {
		f.Before = o.end.Time()
	}
	return err
}

// Forgettings implements memory.Store. Of several for one reason that are finished there may be the newest only.
func (s *Store) Forgettings(ctx context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Receipt, error) {
	where, args := "done = 0 ORDER BY id", []any(nil)
	if user != 0 {
		where, args = "done = 1 AND guild = ? AND user = ? AND channel = 0 ORDER BY id DESC",
			[]any{int64(guild), int64(user)}
	}
	all, err := list(ctx, s.engine, func(scan Scanner, r *memory.Receipt) error {
		var body []byte
		if err := scanForgetting(scan, &r.Forgetting, new(order), &body); err != nil {
			return err
		}
		return json.Unmarshal(body, r)
	}, "SELECT "+ForgettingColumns+", receipt FROM forgetting WHERE "+where, args...)
	return all, s.failed(err, "read what is forgotten")
}

// Resume implements memory.Store. It takes out what any forgetting has doomed, so that whoever is given a receipt
// needn't know of the others.
func (s *Store) Resume(ctx context.Context, id int64, progress func(done, total int)) (memory.Receipt, error) {
	r, err := s.resume(ctx, id, progress)
	return r, s.failed(err, "carry out forgetting %d", id)
}

func (s *Store) resume(ctx context.Context, id int64, progress func(done, total int)) (r memory.Receipt, err error) {
	done := false
	if err := s.writing(ctx, func(t *transaction) (err error) {
		r, done, err = t.beginAgain(id)
		return err
	}); err != nil {
		return r, err
	}
	if !done {
		if err := s.takeOut(ctx, progress); err != nil {
			return r, err
		}
		// It is done when the log is empty as well: else whoever keeps house tries again.
		if err := s.engine.Erase(ctx, true); err != nil {
			return r, err
		}
		if err := s.writing(ctx, func(t *transaction) error { return t.finish(id) }); err != nil {
			return r, err
		}
	}
	return r, s.engine.Erase(ctx, true)
}

// beginAgain reads a forgetting, and begins it if it is on record merely.
func (t *transaction) beginAgain(id int64) (r memory.Receipt, done bool, err error) {
	var o order
	var begun bool
	var body []byte
	err = scanForgetting(t.row("SELECT "+ForgettingColumns+
		", begun, done, receipt FROM forgetting WHERE id = ?", id).Scan,
		&r.Forgetting, &o, &begun, &done, &body)
	if err != nil {
		return r, false, orNotFound(err)
	}
	if !begun {
		if err := t.begin(id, o); err != nil {
			return r, false, err
		}
		if err := t.row("SELECT receipt FROM forgetting WHERE id = ?", id).Scan(&body); err != nil {
			return r, false, err
		}
	}
	return r, done, json.Unmarshal(body, &r)
}

// takeOutStep bounds how many messages are taken out in one transaction, so that nobody waits long.
const takeOutStep = 2000

// takeOut takes the rows of doomed messages and their full text out of the file.
func (s *Store) takeOut(ctx context.Context, progress func(done, total int)) error {
	var total int
	if err := s.row(ctx, "SELECT count(*) FROM doomed").Scan(&total); err != nil {
		return s.engine.Explain(err)
	}
	for done := 0; ; {
		n := 0
		if err := s.writing(ctx, func(t *transaction) (err error) {
			n, err = t.takeOutSome()
			return err
		}); err != nil || n == 0 {
			return err
		}
		if done += n; progress != nil {
			progress(min(done, total), total)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (t *transaction) takeOutSome() (int, error) {
	rows, terms, err := t.termsOf(`SELECT m.row, m.kind, m.content, m.extra FROM doomed d
		CROSS JOIN message m ON m.row = d.row ORDER BY d.row LIMIT ?`, takeOutStep)
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, t.exec("DELETE FROM doomed")
	}
	for i, row := range rows {
		if err := t.unindex(row, terms[i]); err != nil {
			return 0, err
		}
	}
	taken := jsonOf(rows)
	if err := t.exec("DELETE FROM message WHERE row IN (SELECT value FROM json_each(?))", taken); err != nil {
		return 0, err
	}
	return len(rows), t.exec("DELETE FROM doomed WHERE row IN (SELECT value FROM json_each(?))", taken)
}

// finish says that a forgetting is carried out, and deletes the channels and guilds that nothing needs any more.
func (t *transaction) finish(id int64) error {
	var o order
	ok, err := Found(scanForgetting(t.row("SELECT "+ForgettingColumns+" FROM forgetting WHERE id = ?",
		id).Scan, &memory.Forgetting{}, &o))
	if !ok || err != nil {
		return err
	}
	if o.whole && o.channel == 0 && o.user == 0 {
		t.changed.structure, t.changed.Space, t.changed.Text = true, true, true
		t.store.ingest.channels, t.store.ingest.guildNos, t.store.ingest.segments = nil, nil, nil
		if err := t.dropUnused(o.guild); err != nil {
			return err
		}
	}
	return t.exec("UPDATE forgetting SET done = 1 WHERE id = ?", id)
}
