package sqlstore

import (
	"database/sql"
	"encoding/json"
	"slices"

	"hark/memory"
)

// rewrite has messages of Hark's be as new: how they came about goes. Answers that were made from them stay,
// and have what they were made from for sources as well, which nothing could reach any more else. What else
// was made from what they said goes. Those that went with a source count as never logged.
func (t *transaction) rewrite(e memory.Rewritten) error {
	t.changed.Text = true
	for _, id := range e.IDs {
		if err := t.handDown(e, id); err != nil {
			return err
		}
	}
	for _, id := range e.IDs {
		if err := t.dropTrace(e.Channel, id); err != nil {
			return err
		}
		if err := t.unshow(e.Channel, id); err != nil {
			return err
		}
		if err := t.invalidate(madeFrom(aMessage, int64(e.Channel), int64(id)).only(aFact, aLore, aSummary,
			aCondensed, aRecord), cause{}); err != nil {
			return err
		}
		if err := t.untake(e.Guild, e.Channel, id); err != nil {
			return err
		}
		if gone, err := t.isGone(e.Guild, e.Channel, id); err != nil {
			return err
		} else if gone {
			continue // nothing is kept of it
		}
		if err := t.put("rewritten", 2, "channel, id, edited", int64(e.Channel), int64(id), nil); err != nil {
			return err
		}
	}
	return nil
}

// handDown gives the answers that were made from one what that was made from, and deletes its messages that
// aren't written anew with it: nothing would tell any more what they were made from.
func (t *transaction) handDown(e memory.Rewritten, answer memory.MessageID) error {
	trace, kept, err := t.traceOf(e.Channel, answer)
	known := kept
	if !kept && err == nil {
		trace, known, err = t.shownOf(e.Guild, e.Channel, answer)
	}
	if !known || err != nil {
		return err
	}
	messages := jsonOf(append([]memory.MessageID{answer}, trace.Parts...))
	const made = ` FROM derived a CROSS JOIN source b ON b.kind = 0 AND b.place = a.place AND b.id IN (SELECT value FROM json_each(?3)) AND b.derived <> a.no
		CROSS JOIN derived d ON d.no = b.derived AND d.kind IN (?1, ?5) `
	args := []any{int(anAnswer), int64(e.Channel), messages, int64(answer), int(aShown)}
	const these = " WHERE a.kind IN (?1, ?5) AND a.place = ?2 AND a.id = ?4"
	for _, query := range []string{
		`INSERT INTO source (derived, kind, place, id, version, repeats)
			SELECT b.derived, s.kind, s.place, s.id, s.version, s.repeats * b.repeats` + made +
			"CROSS JOIN source s ON s.derived = a.no" + these +
			" ON CONFLICT (kind, place, id, derived) DO UPDATE SET repeats = max(source.repeats, excluded.repeats)",
		"INSERT INTO named (user, derived) SELECT n.user, b.derived" + made +
			"CROSS JOIN named n ON n.derived = a.no" + these + " ON CONFLICT DO NOTHING",
	} {
		if err := t.exec(query, args...); err != nil {
			return err
		}
	}
	err = t.eachKey(func(channel, id int64) error {
		of, known, err := t.traceOf(memory.ChannelID(channel), memory.MessageID(id))
		if !known || err != nil {
			return err
		}
		body, err := json.Marshal(of.WithSourcesOf(trace)) // which tell who may be told of it
		if err != nil {
			return err
		}
		return t.exec("UPDATE trace SET body = ? WHERE channel = ? AND answer = ?", string(body), channel, id)
	}, "SELECT DISTINCT d.place, d.id"+made+these, args...)
	if err != nil {
		return err
	}
	stale := slices.DeleteFunc(trace.Parts, func(id memory.MessageID) bool { return slices.Contains(e.IDs, id) })
	if err := t.exec(`DELETE FROM source WHERE kind = 0 AND place = ?2 AND id IN (SELECT value FROM json_each(?3))
		AND derived IN (SELECT no FROM derived WHERE kind IN (?1, ?4))`, int(anAnswer), int64(e.Channel), jsonOf(stale), int(aShown)); err != nil {
		return err
	}
	if kept {
		_, err = t.deleteParts(trace, stale, true)
		return err
	}
	for _, id := range stale {
		if err := t.withdraw(derived{guild: trace.Guild, channel: trace.Channel}, id, false); err != nil {
			return err
		}
		if err := t.unshow(trace.Channel, id); err != nil {
			return err
		}
	}
	return nil
}

// untake has a message that went with a source count as never logged, unless it is forgotten.
func (t *transaction) untake(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) error {
	taken, err := Found(t.row(`DELETE FROM tombstone WHERE channel = ?1 AND id = ?2 AND EXISTS (SELECT 1
		FROM taken WHERE channel = ?1 AND id = ?2) RETURNING 1`,
		int64(channel), int64(id)).Scan(new(int)))
	if !taken || err != nil {
		return err
	}
	if gone, err := t.isGone(guild, channel, id); err != nil {
		return err
	} else if gone {
		return t.exec("INSERT INTO tombstone VALUES (?, ?) ON CONFLICT DO NOTHING", int64(channel), int64(id))
	}
	if err := t.exec("DELETE FROM withdrawn WHERE channel = ? AND message = ?", int64(channel), int64(id)); err != nil {
		return err
	}
	return t.exec("DELETE FROM taken WHERE channel = ? AND id = ?", int64(channel), int64(id))
}

// settleRewritten notes of the messages of an answer from which version on they are those that a trace tells of.
func (t *transaction) settleRewritten(trace memory.Trace) error {
	c, err := t.knownChannel(trace.Channel)
	if c == nil || err != nil {
		return err
	}
	for _, id := range append([]memory.MessageID{trace.Answer}, trace.Parts...) {
		now, row, err := t.stored(c, id)
		if err != nil {
			return err
		}
		if row == 0 {
			continue
		}
		if err := t.exec("UPDATE rewritten SET edited = ? WHERE channel = ? AND id = ? AND edited IS NULL",
			millis(now.Edited), int64(trace.Channel), int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// isRewritten reports whether a source was written anew since the answer was made from it: what it said then is gone.
func (t *transaction) isRewritten(source memory.Source) (bool, error) {
	var since sql.NullInt64
	ok, err := Found(t.row("SELECT edited FROM rewritten WHERE channel = ? AND id = ?", int64(source.Channel),
		source.ID).Scan(&since))
	return ok && (!since.Valid || source.Version < since.Int64), err
}
