package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"hark/internal/text"
	"hark/memory"
	"hark/memory/seal"
)

// reindexKey in meta is how far a rebuild is: the row up to which full text is rebuilt, or that only vectors are
// left. Until then full text may lack messages after that row.
const (
	reindexKey = "reindex"
	reindexed  = "vectors"
)

// Reindex rebuilds everything derived from the log. It makes every segment pending, and old vectors serve until
// new ones replace them. It runs in steps, between which others write; the next call continues an interrupted
// one. Until it ends, full text is incomplete. progress, if not nil, gets the indexed messages and their total.
func Reindex(ctx context.Context, s *Store, progress func(done, total int)) error {
	state, err := s.reindexState(ctx)
	if err != nil {
		return err
	}
	if state == reindexed {
		waiting, err := s.Waiting(ctx, memory.Everywhere)
		if waiting > 0 || err != nil {
			return err
		}
		state = ""
	}
	if state == "" {
		if err := s.writing(ctx, (*transaction).beginReindex); err != nil {
			return err
		}
	}
	if err := s.finishFullText(ctx, progress); err != nil {
		return err
	}
	for _, part := range []struct {
		wrong string // channels
		again func(*transaction, int64)
	}{{missegmented, (*transaction).resegment}, {miscounted, (*transaction).recount}} {
		channels, err := column[int64](ctx, s.engine, part.wrong)
		if err != nil {
			return s.failed(err, "index again")
		}
		for _, no := range channels {
			if err := s.writing(ctx, func(t *transaction) { part.again(t, no) }); err != nil {
				return err
			}
		}
	}
	return s.writing(ctx, (*transaction).reembed)
}

// RebuildFullText rebuilds full text if anew, or if the rules for terms have changed. With goOn it continues
// an interrupted rebuild.
func RebuildFullText(ctx context.Context, s *Store, anew, goOn bool, progress func(done, total int)) error {
	rules, err := s.meta(ctx, "terms")
	if err != nil {
		return err
	}
	if anew || rules != fmt.Sprint(text.Version) {
		if err := s.writing(ctx, (*transaction).beginReindex); err != nil {
			return err
		}
	} else if !goOn {
		return nil
	}
	return s.finishFullText(ctx, progress)
}

func (s *Store) reindexState(ctx context.Context) (state string, err error) {
	state, err = s.meta(ctx, reindexKey)
	return state, s.failed(err, "index again")
}

func (t *transaction) beginReindex() {
	ensure(t.ClearText(memory.Everywhere))
	t.note(reindexKey, "-1")
	t.note("terms", fmt.Sprint(text.Version))
}

func (t *transaction) reembed() {
	t.changed.pending = true
	to := t.vectorSet()
	t.exec("UPDATE segment SET " + to.flag + " = 1 WHERE " + to.flag + " <> 1")
	for _, table := range []string{activeSet.table, shadowSet.table} {
		t.exec("DELETE FROM " + table + " WHERE NOT EXISTS (SELECT 1 FROM segment s WHERE s.guild = " + table +
			".guild AND s.id = " + table + ".segment)")
	}
	t.note(reindexKey, reindexed)
}

// Channels whose segments or counts don't match their messages.
const (
	missegmented = `WITH cut AS (SELECT guild, segment, channel, count(*) AS size, min(id) AS first, max(id) AS last
			FROM said WHERE segment <> 0 GROUP BY 1, 2, 3)
		SELECT coalesce(cut.channel, s.channel) FROM cut
			FULL JOIN segment s ON s.guild = cut.guild AND s.id = cut.segment AND s.channel = cut.channel
			WHERE s.id IS NULL OR cut.segment IS NULL OR s.size <> cut.size OR cut.first < s.first OR cut.last > s.last
		UNION SELECT channel FROM said WHERE (segment = 0) = (kind IN (` + recalledKinds + `))`
	miscounted = `SELECT c.no FROM channel c LEFT JOIN (SELECT guild, channel, count(*) AS n FROM said
		WHERE kind IN (` + recalledKinds + `) GROUP BY 1, 2) m
			ON m.guild = c.guild AND m.channel = c.no WHERE c.messages <> coalesce(m.n, 0)
		UNION SELECT coalesce(m.channel, p.channel) FROM (` + presences + ` GROUP BY 1, 2, 3) m
			FULL JOIN presence p ON p.guild = m.guild AND p.channel = m.channel AND p.author = m.author
			WHERE p.messages IS DISTINCT FROM m.messages OR p.last IS DISTINCT FROM m.last
		UNION SELECT c.no FROM star s CROSS JOIN channel c CROSS JOIN message m
			WHERE c.guild = s.guild AND c.id = s.channel AND m.guild = s.guild AND m.channel = c.no AND m.id = s.id
			AND m.starred <> s.starred`
	presences = "SELECT guild, channel, author, count(*) AS messages, max(id) AS last FROM said WHERE kind IN (" +
		recalledKinds + ")"
)

// recount recounts a channel's messages and authors, and marks starred messages.
func (t *transaction) recount(no int64) {
	guild := t.guildOfNo(no)
	t.changed.structure[guild] = true
	t.execAll([]any{guild, no},
		"UPDATE channel SET messages = (SELECT count(*) FROM said WHERE guild = ?1 AND channel = ?2 AND kind IN ("+
			recalledKinds+")) WHERE guild = ?1 AND no = ?2",
		"DELETE FROM presence WHERE guild = ?1 AND channel = ?2",
		"INSERT INTO presence (guild, channel, author, messages, last) "+presences+
			" AND guild = ?1 AND channel = ?2 GROUP BY 1, 2, 3",
		`UPDATE message SET starred = s.starred FROM star s CROSS JOIN channel c
			WHERE s.guild = ?1 AND c.guild = ?1 AND c.id = s.channel AND message.guild = ?1 AND message.channel = c.no
			AND message.id = s.id AND message.starred <> s.starred AND c.no = ?2`)
}

// resegment cuts a channel into segments again, in the order of its messages.
func (t *transaction) resegment(no int64) {
	guild := t.guildOfNo(no)
	// so that no vector of an old segment fits a new one
	newest := value[int64](t, "SELECT coalesce(max(version), 0) FROM segment WHERE guild = ? AND channel = ?", guild, no)
	const ofChannel = " WHERE guild = ?1 AND segment IN (SELECT id FROM segment WHERE guild = ?1 AND channel = ?2)"
	t.execAll([]any{guild, no}, "DELETE FROM vector"+ofChannel, "DELETE FROM vector_next"+ofChannel,
		"DELETE FROM segment WHERE guild = ? AND channel = ?",
		"UPDATE message SET segment = 0 WHERE guild = ? AND channel = ? AND segment <> 0")
	t.changed.space = true
	t.changed.Text = true
	clear(t.store.ingest.segments)
	c := t.knownChannel(value[memory.ChannelID](t, "SELECT id FROM channel WHERE guild = ? AND no = ?", guild, no))
	if c == nil {
		return
	}
	c.tail = nil
	for after := noMessage; ; {
		messages, rows := t.unsegmented(c, after)
		if len(messages) == 0 {
			break
		}
		for i, m := range messages {
			t.exec("UPDATE message SET segment = ? WHERE guild = ? AND row = ?", t.join(c, m), guild, rows[i])
			after = m.ID
		}
	}
	t.flush()
	t.exec("UPDATE segment SET version = max(version, ?) + 1 WHERE guild = ? AND channel = ?", newest, guild, no)
}

// unsegmented returns a channel's next messages that belong in segments, and their rows.
func (t *transaction) unsegmented(c *channel, after memory.MessageID) (messages []memory.Message, rows []int64) {
	t.each(func(scan Scanner) error {
		var row int64
		var m memory.Message
		err := t.store.vault.scanMessage(behind(scan, &row), &m, func() int64 { return c.no })
		messages = append(messages, m)
		rows = append(rows, row)
		return err
	}, "SELECT row, "+storedColumns+" FROM said WHERE guild = ? AND channel = ? AND id > ? AND kind IN ("+recalledKinds+
		") ORDER BY id LIMIT 500", c.guild, c.no, after)
	return messages, rows
}

func (s *Store) finishFullText(ctx context.Context, progress func(done, total int)) error {
	state, err := s.reindexState(ctx)
	if err != nil || state == "" || state == reindexed {
		return err
	}
	var done, total int
	if progress != nil {
		after, _ := strconv.ParseInt(state, 10, 64)
		if err := s.row(ctx, "SELECT count(*) FILTER (WHERE row <= ?), count(*) FROM message",
			after).Scan(&done, &total); err != nil {
			return s.failed(err, "index again")
		}
	}
	_, err = s.inSteps(ctx, done, total, progress, (*transaction).indexMore)
	return err
}

// indexMore adds messages to full text and returns how many it read; 0 at the end.
func (t *transaction) indexMore(limit int) int {
	state := t.meta(reindexKey)
	if state == "" || state == reindexed { // another process finished it
		return 0
	}
	after, err := strconv.ParseInt(state, 10, 64)
	ensure(err)
	rows, terms := t.termsOf("SELECT row, channel, id, kind, content, extra FROM message WHERE row > ? ORDER BY row LIMIT ?+0",
		after, limit)
	if len(rows) == 0 {
		t.exec("DELETE FROM meta WHERE key = ?", reindexKey)
		return 0
	}
	for i, row := range rows {
		if terms[i] != "" && !t.hasText(row) {
			t.addText(row, terms[i])
		}
	}
	t.note(reindexKey, fmt.Sprint(rows[len(rows)-1]))
	return len(rows)
}

// hasText reports whether full text holds a message.
func (t *transaction) hasText(row int64) bool {
	has, err := t.HasText(t.guildOfNo(row>>SequenceBits), row)
	ensure(err)
	return has
}

// Erase implements memory.Store. It finishes full text that a deletion had to begin anew.
func (s *Store) Erase(ctx context.Context, wait bool) error {
	if err := s.finishFullText(ctx, nil); err != nil {
		return err
	}
	if wait { // something was deleted
		s.index.Settle()
	}
	return s.engine.Erase(ctx, wait)
}

// Rewrap wraps the data key of a sealed memory by another key of the operator's, whose fingerprint it returns. Nobody
// else may use the memory.
func Rewrap(ctx context.Context, s *Store, to *seal.Secret) (fingerprint string, err error) {
	err = s.writing(ctx, func(t *transaction) {
		sealing, err := ReadSealing(t.ctx, t)
		ensure(err)
		key, err := sealing.dataKey(s.options.Secret)
		ensure(err)
		next, err := newSealing(key, to)
		ensure(err)
		fingerprint = next.Fingerprint
		t.changed.Text = true // the data key as the old key wrapped it
		t.note(SealKey, t.jsonText(next))
	})
	if err != nil {
		return "", err
	}
	s.options.Secret = to
	err = s.Erase(ctx, true)
	if err == nil {
		err = s.engine.Rewrite(ctx, []string{"meta"})
	}
	return fingerprint, err
}
