package sqlite

import (
	"database/sql"
	"encoding/json"
	"slices"

	"hark/memory"
)

// rewrite has messages of Hark's be as new: how they came about goes, and with it all that was made from what they said,
// which nothing could reach any more from what they were made from. Those that went with a source count as never logged.
func (t *transaction) rewrite(e memory.Rewritten) error {
	t.changed.text = true
	for _, id := range e.IDs {
		if err := t.dropStaleParts(e, id); err != nil {
			return err
		}
	}
	for _, id := range e.IDs { // first of all of them, since they may be made from one another
		if err := t.dropTrace(e.Channel, id); err != nil {
			return err
		}
	}
	for _, id := range e.IDs {
		if err := t.dropMadeFrom(e.Channel, id); err != nil {
			return err
		}
		if err := t.exec("INSERT OR REPLACE INTO rewritten VALUES (?, ?, NULL)", int64(e.Channel), int64(id)); err != nil {
			return err
		}
		if err := t.untake(e.Guild, e.Channel, id); err != nil {
			return err
		}
	}
	return nil
}

// untake has a message that went with a source count as never logged, unless it is forgotten.
func (t *transaction) untake(guild memory.GuildID, channel memory.ChannelID, id memory.MessageID) error {
	taken, err := found(t.row("DELETE FROM tombstone WHERE channel = ?1 AND id = ?2 AND EXISTS (SELECT 1 FROM taken WHERE channel = ?1 AND id = ?2) RETURNING 1",
		int64(channel), int64(id)).Scan(new(int)))
	if !taken || err != nil {
		return err
	}
	if gone, err := t.isGone(guild, channel, id); err != nil {
		return err
	} else if gone {
		return t.exec("INSERT OR IGNORE INTO tombstone VALUES (?, ?)", int64(channel), int64(id))
	}
	if err := t.exec("DELETE FROM withdrawn WHERE channel = ? AND message = ?", int64(channel), int64(id)); err != nil {
		return err
	}
	return t.exec("DELETE FROM taken WHERE channel = ? AND id = ?", int64(channel), int64(id))
}

// dropStaleParts deletes the further messages of an answer that is written anew that aren't: nothing would tell any more
// what they were made from.
func (t *transaction) dropStaleParts(e memory.Rewritten, answer memory.MessageID) error {
	var body []byte
	var trace memory.Trace
	ok, err := found(t.row("SELECT body FROM trace WHERE channel = ? AND answer = ?", int64(e.Channel), int64(answer)).Scan(&body))
	if err == nil && ok {
		err = json.Unmarshal(body, &trace)
	}
	if err != nil {
		return err
	}
	stale := slices.DeleteFunc(trace.Parts, func(id memory.MessageID) bool { return slices.Contains(e.IDs, id) })
	return t.deleteParts(trace, stale, true)
}

// dropMadeFrom takes away what was made from a message that is written anew, as if it were deleted.
func (t *transaction) dropMadeFrom(channel memory.ChannelID, id memory.MessageID) error {
	if err := t.dropFacts(channel, id); err != nil {
		return err
	}
	if err := t.dropLore(channel, id); err != nil {
		return err
	}
	if err := t.dropSummaries(channel, id); err != nil {
		return err
	}
	if _, err := t.dropRecords("channel = ?1 AND answer = ?2 AND answer <> 0", int64(channel), int64(id)); err != nil {
		return err
	}
	return t.dropAnswers(channel, id)
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
		if err := t.exec("UPDATE rewritten SET edited = ? WHERE channel = ? AND id = ? AND edited IS NULL", millis(now.Edited), int64(trace.Channel), int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// isRewritten reports whether a source was written anew since the answer was made from it: what it said then is gone.
func (t *transaction) isRewritten(source memory.TraceHit) (bool, error) {
	var since sql.NullInt64
	ok, err := found(t.row("SELECT edited FROM rewritten WHERE channel = ? AND id = ?", int64(source.Channel), int64(source.Message)).Scan(&since))
	return ok && (!since.Valid || source.Edited < since.Int64), err
}
