package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hark/internal/text"
	"hark/memory"
)

// flaw is something wrong with what is made of the log.
type flaw struct {
	what string
	mend func(*transaction) error
}

// flaws are what doesn't agree with the log, as it is at one moment.
func (s *Store) flaws(ctx context.Context) ([]flaw, error) {
	tx, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", explain(err))
	}
	defer tx.Rollback()
	q := snapshot{ctx, tx}
	var all []flaw
	for _, look := range []func(snapshot) ([]flaw, error){
		logFlaws, segmentFlaws, fullTextFlaws, countFlaws,
	} {
		found, err := look(q)
		if err != nil {
			return nil, fmt.Errorf("check the database: %w", explain(err))
		}
		all = append(all, found...)
	}
	return all, nil
}

// mend makes again what isn't as the log says, and tells how many things that were.
func (s *Store) mend(ctx context.Context) (int, error) {
	s.checked = true
	flaws, err := s.flaws(ctx)
	if err != nil {
		return 0, err
	}
	for _, f := range flaws {
		s.told("%s", f.what)
		if err := s.writing(ctx, f.mend); err != nil {
			return 0, fmt.Errorf("mend %s: %w", f.what, err)
		}
	}
	return len(flaws), nil
}

// logFlaws are contradictions in the log itself: what can't be explained is an error.
func logFlaws(q snapshot) ([]flaw, error) {
	var lost int
	if err := q.row(`SELECT count(*) FROM message WHERE channel <> row >> ? OR channel NOT IN (SELECT no FROM channel)`, sequenceBits).Scan(&lost); err != nil {
		return nil, err
	}
	if lost > 0 {
		return nil, fmt.Errorf("%w (%d messages lie in no channel)", ErrDamaged, lost)
	}
	gone := map[memory.ChannelID][]memory.MessageID{}
	n := 0
	err := q.each(func(scan func(...any) error) error {
		var channel memory.ChannelID
		var id memory.MessageID
		err := scan(&channel, &id)
		gone[channel] = append(gone[channel], id)
		n++
		return err
	}, "SELECT c.id, m.id FROM tombstone d CROSS JOIN channel c ON c.id = d.channel CROSS JOIN said m ON m.channel = c.no AND m.id = d.id")
	if err != nil || n == 0 {
		return nil, err
	}
	return []flaw{{fmt.Sprintf("%d deleted messages", n), func(t *transaction) error {
		for _, channel := range slices.Sorted(maps.Keys(gone)) {
			for _, id := range gone[channel] {
				if err := t.delete(channel, id, hideRepeats); err != nil {
					return err
				}
			}
		}
		return nil
	}}}, nil
}

// segmentFlaws are channels that aren't cut into segments as they should be, and vectors that are nobody's.
func segmentFlaws(q snapshot) ([]flaw, error) {
	var channels []int64
	err := q.each(func(scan func(...any) error) error {
		var no int64
		err := scan(&no)
		channels = append(channels, no)
		return err
	}, `WITH cut AS (SELECT segment, channel, count(*) AS size, min(id) AS first, max(id) AS last FROM said WHERE segment <> 0 GROUP BY 1, 2)
		SELECT coalesce(cut.channel, s.channel) FROM cut FULL JOIN segment s ON s.id = cut.segment AND s.channel = cut.channel
			WHERE s.id IS NULL OR cut.segment IS NULL OR s.size <> cut.size OR s.size > ? OR cut.first < s.first OR cut.last > s.last
		UNION SELECT channel FROM said WHERE (segment = 0) = (kind IN (`+recalledKinds+`))`, memory.MaxSegment)
	if err != nil {
		return nil, err
	}
	var all []flaw
	if len(channels) > 0 {
		all = append(all, flaw{fmt.Sprintf("segments of %d channels", len(channels)), func(t *transaction) error {
			for _, no := range channels {
				if err := t.cutAgain(no); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	vectors, err := vectorFlaws(q)
	return append(all, vectors...), err
}

func vectorFlaws(q snapshot) ([]flaw, error) {
	var use, next string
	if err := q.row("SELECT "+spaceColumns).Scan(&use, &next); err != nil {
		return nil, err
	}
	var all []flaw
	for _, v := range []struct {
		side
		space string
	}{{inUse, use}, {beside, next}} {
		if v.space == "" {
			continue
		}
		// A segment with nothing to embed has no vector and the flag 2, so that it lacks none.
		wrong := fmt.Sprintf(`SELECT v.segment FROM %s v LEFT JOIN segment s ON s.id = v.segment WHERE s.id IS NULL OR length(v.steps) NOT BETWEEN %d AND %d`,
			v.table, (parseSpace(v.space).Dimensions+7)/8, parseSpace(v.space).Dimensions) // as pack makes them
		lacking := fmt.Sprintf("SELECT id FROM segment WHERE %s = 0 AND id NOT IN (SELECT segment FROM %s)", v.flag, v.table)
		var n int
		if err := q.row("SELECT count(*) FROM (" + wrong + " UNION " + lacking + ")").Scan(&n); err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		side := v.side
		all = append(all, flaw{fmt.Sprintf("%d vectors", n), func(t *transaction) error {
			for _, query := range []string{
				"UPDATE segment SET " + side.flag + " = 1 WHERE id IN (" + wrong + " UNION " + lacking + ")",
				"DELETE FROM " + side.table + " WHERE segment IN (" + wrong + ")",
			} {
				if err := t.exec(query); err != nil {
					return err
				}
			}
			t.changed.pending, t.changed.space, t.changed.text = true, true, true
			return nil
		}})
	}
	return all, nil
}

// cutAgain cuts a channel into segments, as if its messages had come in order.
func (t *transaction) cutAgain(no int64) error {
	var newest int64 // version: a vector made for a segment as it was must fit none
	if err := t.row("SELECT coalesce(max(version), 0) FROM segment WHERE channel = ?", no).Scan(&newest); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM vector WHERE segment IN (SELECT id FROM segment WHERE channel = ?)",
		"DELETE FROM vector_next WHERE segment IN (SELECT id FROM segment WHERE channel = ?)",
		"DELETE FROM segment WHERE channel = ?", "UPDATE message SET segment = 0 WHERE channel = ? AND segment <> 0",
	} {
		if err := t.exec(query, no); err != nil {
			return err
		}
	}
	t.changed.space, t.changed.text = true, true
	t.store.writer.segments = nil
	var id memory.ChannelID
	if ok, err := found(t.row("SELECT id FROM channel WHERE no = ?", no).Scan(&id)); !ok || err != nil {
		return err
	}
	c, err := t.knownChannel(id)
	if err != nil {
		return err
	}
	c.tail = nil
	for after := noMessage; ; {
		messages, rows, err := t.uncut(no, after)
		if err == nil && len(messages) == 0 {
			if err = t.flush(); err == nil {
				err = t.exec("UPDATE segment SET version = max(version, ?1) + 1 WHERE channel = ?2", newest, no)
			}
			return err
		}
		if err != nil {
			return err
		}
		for i, m := range messages {
			segment, err := t.join(c, m)
			if err == nil {
				err = t.exec("UPDATE message SET segment = ? WHERE row = ?", segment, rows[i])
			}
			if err != nil {
				return err
			}
			after = m.ID
		}
	}
}

// uncut are some messages of a channel that belong into segments, and their rows.
func (t *transaction) uncut(no int64, after memory.MessageID) (messages []memory.Message, rows []int64, err error) {
	err = t.each(func(scan func(...any) error) error {
		var row int64
		var m memory.Message
		err := scanMessage(func(dest ...any) error { return scan(append([]any{&row}, dest...)...) }, &m)
		messages, rows = append(messages, m), append(rows, row)
		return err
	}, "SELECT row, "+messageColumns+" FROM said WHERE channel = ? AND id > ? AND kind IN ("+recalledKinds+") ORDER BY id LIMIT 500", no, int64(after))
	return messages, rows, err
}

// fullTextFlaws are messages that full text lacks, or holds although they aren't there.
func fullTextFlaws(q snapshot) ([]flaw, error) {
	var n int
	var state string
	if _, err := found(q.row("SELECT value FROM meta WHERE key = ?", reindexKey).Scan(&state)); err != nil || state != "" && state != reindexed {
		return nil, err // it is being made again
	}
	if err := q.row("SELECT count(*) FROM fulltext_docsize WHERE id NOT IN (SELECT row FROM message)").Scan(&n); err != nil {
		return nil, err
	}
	var batch text.Batch
	err := q.each(func(scan func(...any) error) error {
		var m memory.Message
		var extra nullString
		if err := scan(&m.Kind, &m.Content, &extra); err != nil {
			return err
		}
		if err := decodeExtra(extra, &m); err != nil {
			return err
		}
		if indexTerms(&batch, m) != "" {
			n++
		}
		return nil
	}, "SELECT kind, content, extra FROM message WHERE kind IN ("+recalledKinds+") AND row NOT IN (SELECT id FROM fulltext_docsize)")
	if err != nil || n == 0 {
		return nil, err
	}
	return []flaw{{fmt.Sprintf("the full text of %d messages", n), func(t *transaction) error {
		return t.rebuildFullText(t.ctx, t.store.options.Progress)
	}}}, nil
}

// countFlaws are wrong counts of what was said in a channel, by whom, and what is starred.
func countFlaws(q snapshot) ([]flaw, error) {
	var all []flaw
	for _, c := range []struct {
		what, wrong string
		mend        []string
	}{
		{"the counts of %d channels", `SELECT count(*) FROM channel c LEFT JOIN
				(SELECT channel, count(*) AS n FROM said WHERE kind IN (` + recalledKinds + `) GROUP BY 1) m ON m.channel = c.no
				WHERE c.messages <> coalesce(m.n, 0)`,
			[]string{"UPDATE channel SET messages = (SELECT count(*) FROM said WHERE channel = channel.no AND kind IN (" + recalledKinds + "))"}},
		{"who wrote how much, in %d cases", `SELECT count(*) FROM (SELECT channel, author, count(*) AS n, max(id) AS last FROM said
				WHERE kind IN (` + recalledKinds + `) GROUP BY 1, 2) m
				FULL JOIN presence p ON p.channel = m.channel AND p.author = m.author WHERE p.messages IS NOT m.n OR p.last IS NOT m.last`,
			[]string{"DELETE FROM presence", `INSERT INTO presence (channel, author, messages, last) SELECT channel, author, count(*), max(id) FROM said
				WHERE kind IN (` + recalledKinds + `) GROUP BY 1, 2`}},
		{"the stars of %d messages", `SELECT count(*) FROM star s CROSS JOIN channel c ON c.id = s.channel
				CROSS JOIN message m ON m.channel = c.no AND m.id = s.id WHERE m.starred <> s.starred`,
			[]string{`UPDATE message SET starred = s.starred FROM star s JOIN channel c ON c.id = s.channel
				WHERE message.channel = c.no AND message.id = s.id AND message.starred <> s.starred`}},
	} {
		var n int
		if err := q.row(c.wrong).Scan(&n); err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		all = append(all, flaw{fmt.Sprintf(c.what, n), func(t *transaction) error {
			t.changed.structure = true
			for _, query := range c.mend {
				if err := t.exec(query); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return all, nil
}
