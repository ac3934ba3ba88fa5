package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"hark/internal/text"
	"hark/memory"
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
	ensure(t.ClearText())
	t.note(reindexKey, "-1")
	t.note("terms", fmt.Sprint(text.Version))
}

func (t *transaction) reembed() {
	t.changed.pending = true
	to := t.vectorSet()
	t.exec("UPDATE segment SET " + to.flag + " = 1 WHERE " + to.flag + " <> 1")
	const strange = " WHERE segment NOT IN (SELECT id FROM segment)"
	t.execAll(nil, "DELETE FROM "+activeSet.table+strange, "DELETE FROM "+shadowSet.table+strange)
	t.note(reindexKey, reindexed)
}

// Channels whose segments or counts don't match their messages.
const (
	missegmented = `WITH cut AS (SELECT segment, channel, count(*) AS size, min(id) AS first, max(id) AS last
			FROM said WHERE segment <> 0 GROUP BY 1, 2)
		SELECT coalesce(cut.channel, s.channel) FROM cut
			FULL JOIN segment s ON s.id = cut.segment AND s.channel = cut.channel
			WHERE s.id IS NULL OR cut.segment IS NULL OR s.size <> cut.size OR cut.first < s.first OR cut.last > s.last
		UNION SELECT channel FROM said WHERE (segment = 0) = (kind IN (` + recalledKinds + `))`
	miscounted = `SELECT c.no FROM channel c LEFT JOIN (SELECT channel, count(*) AS n FROM said
		WHERE kind IN (` + recalledKinds + `) GROUP BY 1) m
			ON m.channel = c.no WHERE c.messages <> coalesce(m.n, 0)
		UNION SELECT coalesce(m.channel, p.channel) FROM (` + presences + ` GROUP BY 1, 2) m
			FULL JOIN presence p ON p.channel = m.channel AND p.author = m.author
			WHERE p.messages IS DISTINCT FROM m.messages OR p.last IS DISTINCT FROM m.last
		UNION SELECT c.no FROM star s CROSS JOIN channel c ON c.id = s.channel
			CROSS JOIN message m ON m.channel = c.no AND m.id = s.id WHERE m.starred <> s.starred`
	presences = "SELECT channel, author, count(*) AS messages, max(id) AS last FROM said WHERE kind IN (" +
		recalledKinds + ")"
)

// recount recounts a channel's messages and authors, and marks starred messages.
func (t *transaction) recount(no int64) {
	defer t.in(t.guildOfNo(no))()
	t.changed.structure[t.guild] = true
	t.execAll([]any{no},
		"UPDATE channel SET messages = (SELECT count(*) FROM said WHERE channel = ?1 AND kind IN ("+
			recalledKinds+")) WHERE no = ?1",
		"DELETE FROM presence WHERE channel = ?1",
		"INSERT INTO presence (channel, author, messages, last) "+presences+" AND channel = ?1 GROUP BY 1, 2",
		`UPDATE message SET starred = s.starred FROM star s JOIN channel c ON c.id = s.channel
			WHERE message.channel = c.no AND message.id = s.id AND message.starred <> s.starred AND c.no = ?1`)
}

// resegment cuts a channel into segments again, in the order of its messages.
func (t *transaction) resegment(no int64) {
	defer t.in(t.guildOfNo(no))()
	// so that no vector of an old segment fits a new one
	newest := value[int64](t, "SELECT coalesce(max(version), 0) FROM segment WHERE channel = ?", no)
	t.execAll([]any{no},
		"DELETE FROM vector WHERE segment IN (SELECT id FROM segment WHERE channel = ?)",
		"DELETE FROM vector_next WHERE segment IN (SELECT id FROM segment WHERE channel = ?)",
		"DELETE FROM segment WHERE channel = ?", "UPDATE message SET segment = 0 WHERE channel = ? AND segment <> 0")
	t.changed.space = true
	t.changed.Text = true
	clear(t.store.ingest.segments)
	c := t.knownChannel(value[memory.ChannelID](t, "SELECT id FROM channel WHERE no = ?", no))
	if c == nil {
		return
	}
	c.tail = nil
	for after := noMessage; ; {
		messages, rows := t.unsegmented(no, after)
		if len(messages) == 0 {
			break
		}
		for i, m := range messages {
			t.exec("UPDATE message SET segment = ? WHERE row = ?", t.join(c, m), rows[i])
			after = m.ID
		}
	}
	t.flush()
	t.exec("UPDATE segment SET version = max(version, ?1) + 1 WHERE channel = ?2", newest, no)
}

// unsegmented returns a channel's next messages that belong in segments, and their rows.
func (t *transaction) unsegmented(no int64, after memory.MessageID) (messages []memory.Message, rows []int64) {
	t.each(func(scan Scanner) error {
		var row int64
		var m memory.Message
		err := t.store.vault.scanMessage(behind(scan, &row), &m, func() int64 { return no })
		messages = append(messages, m)
		rows = append(rows, row)
		return err
	}, "SELECT row, "+storedColumns+" FROM said WHERE channel = ? AND id > ? AND kind IN ("+recalledKinds+
		") ORDER BY id LIMIT 500", no, after)
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
	defer t.in(t.guild)()
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
	defer t.in(t.guildOfNo(row >> SequenceBits))()
	has, err := t.HasText(row)
	ensure(err)
	return has
}
