package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hark/memory"
	"hark/memory/sqlstore"
)

// maxRanked is how many messages are ranked at once. Ranking reads each one's length, which takes most of the
// time.
const maxRanked = 3000

// FindText implements sqlstore.Engine. If too many messages match, it ranks only those with the rarest term or
// with both others, if these suffice.
func (e *engine) FindText(ctx context.Context, q sqlstore.TextQuery) ([]sqlstore.TextMatch, error) {
	if len(q.Terms) == 3 {
		few := q
		few.Limit = maxRanked + 1
		matches, err := e.CountText(ctx, few)
		if err != nil {
			return nil, err
		}
		if matches > maxRanked {
			found, err := e.rank(ctx, q, matchSelective(q.Terms))
			if err != nil || len(found) == q.Limit {
				return found, err
			}
		}
	}
	return e.rank(ctx, q, matchAny(q.Terms))
}

// rank returns the best messages that match within q.
func (e *engine) rank(ctx context.Context, q sqlstore.TextQuery, match string) ([]sqlstore.TextMatch, error) {
	var query strings.Builder
	query.WriteString(`SELECT m.channel, m.id, -f.score
		FROM (SELECT fulltext.rowid AS row, bm25(fulltext) AS score FROM fulltext`)
	if q.Since != nil || q.Until != nil || len(q.Authors) > 0 {
		query.WriteString(" CROSS JOIN message t ON t.row = fulltext.rowid")
	}
	args := matching(&query, q, match)
	if q.Since != nil {
		query.WriteString(" AND t.id >= ?")
		args = append(args, int64(*q.Since))
	}
	if q.Until != nil {
		query.WriteString(" AND t.id < ?")
		args = append(args, int64(*q.Until))
	}
	if len(q.Authors) > 0 {
		query.WriteString(" AND t.author IN (SELECT value FROM json_each(?))")
		args = append(args, jsonList(q.Authors))
	}
	query.WriteString(" ORDER BY bm25(fulltext) LIMIT ?+0) f JOIN message m ON m.row = f.row " +
		"ORDER BY f.score, m.id DESC")
	var found []sqlstore.TextMatch
	err := sqlstore.Each(ctx, e, func(scan sqlstore.Scanner) error {
		var m sqlstore.TextMatch
		err := scan(&m.Channel, &m.ID, &m.Score)
		found = append(found, m)
		return err
	}, query.String(), append(args, q.Limit)...)
	return found, e.ignoreWhileChecking(err)
}

// matchAny matches messages with any of terms; matchSelective those with the first or both of the others.
func matchAny(terms []string) string { return strings.Join(terms, " OR ") }

func matchSelective(terms []string) string {
	return terms[0] + " OR " + strings.Join(terms[1:], " AND ")
}

// CountText implements sqlstore.Engine.
func (e *engine) CountText(ctx context.Context, q sqlstore.TextQuery) (n int, err error) {
	var query strings.Builder
	query.WriteString("SELECT count(*) FROM (SELECT 1 FROM fulltext")
	args := matching(&query, q, matchAny(q.Terms))
	query.WriteString(" LIMIT ?+0)")
	err = sqlstore.Each(ctx, e, func(scan sqlstore.Scanner) error { return scan(&n) }, query.String(),
		append(args, q.Limit)...)
	return n, e.ignoreWhileChecking(err)
}

// matching appends the condition for matching rows of q's channels, except those pending deletion, and returns
// its arguments.
func matching(query *strings.Builder, q sqlstore.TextQuery, match string) []any {
	query.WriteString(" WHERE fulltext MATCH ? AND (NOT EXISTS (SELECT 1 FROM pending_deletion) OR " +
		"fulltext.rowid NOT IN (SELECT row FROM pending_deletion)) AND fulltext.rowid BETWEEN ? AND ?")
	first := q.Channels[0]
	last := q.Channels[len(q.Channels)-1]
	args := []any{match, first << sqlstore.SequenceBits,
		last<<sqlstore.SequenceBits | (1<<sqlstore.SequenceBits - 1)}
	if int64(len(q.Channels)) == last-first+1 { // the channels are consecutive
		return args
	}
	fmt.Fprintf(query, " AND fulltext.rowid >> %d IN (SELECT value FROM json_each(?))", sqlstore.SequenceBits)
	return append(args, jsonList(q.Channels))
}

func jsonList[T ~int64](ids []T) string {
	b, _ := json.Marshal(ids) // never fails
	return string(b)
}

// AddText implements sqlstore.Tx.
func (t *tx) AddText(_ memory.GuildID, row int64, terms string) error {
	return t.exec("INSERT INTO fulltext (rowid, content) VALUES (?, ?)", row, terms)
}

// RemoveText implements sqlstore.Tx. During a rebuild, full text may lack the row.
func (t *tx) RemoveText(guild memory.GuildID, row int64, terms string) error {
	there, err := t.HasText(guild, row)
	if err != nil || !there {
		return err
	}
	return t.exec("INSERT INTO fulltext (fulltext, rowid, content) VALUES ('delete', ?, ?)", row, terms)
}

// unmergedKey is in meta while full text has segments with removed terms. It counts the transactions that left
// them.
const unmergedKey = "unmerged"

const readUnmerged = "SELECT value FROM meta WHERE key = '" + unmergedKey + "'"

func (e *engine) isUnmerged(ctx context.Context) (bool, error) {
	return sqlstore.Found(e.read.QueryRowContext(ctx, readUnmerged).Scan(new(int)))
}

// RemoveInBulk implements sqlstore.Tx. FTS5's secure delete rewrites a page for each term of a message. Without
// it FTS5 only notes that the message is gone, and drops its terms when it merges segments.
func (t *tx) RemoveInBulk() error {
	if t.inBulk {
		return nil
	}
	t.inBulk = true
	return errors.Join(t.setSecureDelete(false), t.exec(`INSERT INTO meta VALUES ('`+unmergedKey+`', 1)
		ON CONFLICT (key) DO UPDATE SET value = meta.value + 1`))
}

// mergeText erases what RemoveInBulk left: it merges all segments of full text into one, in steps
// (https://www.sqlite.org/fts5.html#the_merge_command).
func (e *engine) mergeText(ctx context.Context, write transact) error {
	var begun int64 // removals that the current merge covers; 0: not begun
	more, err := e.isUnmerged(ctx)
	step := 50 // pages merged per transaction
	for err == nil && more {
		err = write(ctx, func(t *tx) error {
			var removed int64
			there, err := sqlstore.Found(t.row(readUnmerged).Scan(&removed))
			more = there
			if err != nil || !there {
				return err
			}
			started := time.Now()
			defer func() {
				if took := time.Since(started); took > e.writer.step {
					step = max(1, step/2)
				} else if took < e.writer.step/2 {
					step *= 2
				}
			}()
			if removed != begun {
				begun = removed
				return t.beginMerge(step)
			}
			if err := t.merge(step); err != nil {
				return err
			}
			more, err = t.isMerging()
			if err != nil || more {
				return err
			}
			for i, terms := range fillers {
				err = errors.Join(err, t.RemoveText(memory.Everywhere, int64(-1-i), terms))
			}
			return errors.Join(err, t.exec("DELETE FROM meta WHERE key = '"+unmergedKey+"'"))
		})
	}
	return err
}

// fillers are the terms of rows that no message has. A merge begins with them.
var fillers = []string{strings.Repeat("a", 2000) + " " + strings.Repeat("b", 2000) + " " + strings.Repeat("c", 2000),
	"a"}

// beginMerge starts to merge all segments of full text. FTS5 drops deleted rows and their terms only in a segment
// that becomes the oldest. If all segments are on one level, FTS5 merges them into the next, and treats any level
// beyond as older, even an empty one. So one segment of a page must be on the lowest level and a larger one on
// another. The first merge, of at least two segments, achieves that.
func (t *tx) beginMerge(pages int) error {
	// lets a merge continue even with two new parts on the lowest level
	err := t.exec("INSERT INTO fulltext (fulltext, rank) VALUES ('usermerge', 2)")
	for i, terms := range fillers {
		row := int64(-1 - i)
		err = errors.Join(err, t.RemoveText(memory.Everywhere, row, terms), t.AddText(memory.Everywhere, row, terms),
			t.merge(-pages))
	}
	return err
}

// merge merges the given number of pages of full text. A negative number restarts with all segments.
func (t *tx) merge(pages int) error {
	return t.exec("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", pages)
}

// isMerging reports whether a level in the structure record has segments being merged
// (https://www.sqlite.org/fts5.html#the_structure_record_format).
func (t *tx) isMerging() (bool, error) {
	var record []byte
	if err := t.row("SELECT block FROM fulltext_data WHERE id = 10").Scan(&record); err != nil {
		return false, err
	}
	record = record[min(4, len(record)):] // a cookie
	next := func() (n uint64) {
		for len(record) > 0 {
			b := record[0]
			record = record[1:]
			n = n<<7 | uint64(b&0x7f)
			if b < 0x80 {
				break
			}
		}
		return n
	}
	levels := next()
	next()
	next()
	for range levels {
		if merging := next(); merging > 0 {
			return true, nil
		}
		for range 3 * next() { // each part's id, first and last page
			next()
		}
	}
	return false, nil
}

// HasText implements sqlstore.Tx.
func (t *tx) HasText(_ memory.GuildID, row int64) (bool, error) {
	return sqlstore.Found(t.row("SELECT 1 FROM fulltext_docsize WHERE id = ?", row).Scan(new(int)))
}

// ClearText implements sqlstore.Tx: it removes all.
func (t *tx) ClearText(memory.GuildID) error {
	return t.exec("INSERT INTO fulltext (fulltext) VALUES ('delete-all')")
}
