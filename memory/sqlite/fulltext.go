package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// FullText implements memory.Store.
func (s *Store) FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	match := matchAny(terms)
	var hits []memory.TextHit
	if match == "" || limit <= 0 {
		return nil, nil
	}
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	for _, r := range s.ranges(scope) {
		found, err := s.fullText(ctx, r, scope, match, limit)
		if err != nil {
			return nil, failed(err, "search the full text")
		}
		hits = append(hits, found...)
	}
	slices.SortStableFunc(hits, func(a, b memory.TextHit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))], nil
}

func (s *Store) fullText(ctx context.Context, r rowRange, scope memory.Scope, match string, limit int) ([]memory.TextHit, error) {
	since, until := s.bounds(scope)
	var query strings.Builder
	query.WriteString("SELECT m.channel, m.id, -f.score FROM (SELECT fulltext.rowid AS row, bm25(fulltext) AS score FROM fulltext")
	if since != nil || until != nil || len(scope.Authors) > 0 {
		query.WriteString(" CROSS JOIN message t ON t.row = fulltext.rowid")
	}
	query.WriteString(" WHERE fulltext MATCH ? AND (NOT EXISTS (SELECT 1 FROM doomed) OR fulltext.rowid NOT IN (SELECT row FROM doomed))")
	args := append([]any{match}, r.where(&query, "fulltext.rowid")...)
	if since != nil {
		query.WriteString(" AND t.id >= ?")
		args = append(args, int64(*since))
	}
	if until != nil {
		query.WriteString(" AND t.id < ?")
		args = append(args, int64(*until))
	}
	if len(scope.Authors) > 0 {
		query.WriteString(" AND t.author IN (SELECT value FROM json_each(?))")
		args = append(args, jsonOf(scope.Authors))
	}
	query.WriteString(" ORDER BY bm25(fulltext) LIMIT ?) f JOIN message m ON m.row = f.row ORDER BY f.score, m.id DESC")
	ids := s.channelIDs()
	return list(ctx, prepared{s, nil}, func(scan scanner, hit *memory.TextHit) error {
		var no int64
		err := scan(&no, &hit.ID, &hit.Score)
		hit.Channel = ids[no]
		return err
	}, query.String(), append(args, limit)...)
}

// Frequencies implements memory.Store.
func (s *Store) Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (messages int, counts []int, err error) {
	if err := s.notice(ctx); err != nil {
		return 0, nil, err
	}
	counts = make([]int, len(terms))
	limit = max(limit, 0)
	for _, r := range s.ranges(scope) {
		var n int
		if err := s.read.QueryRowContext(ctx, "SELECT coalesce(sum(messages), 0) FROM channel WHERE no IN (SELECT value FROM json_each(?))", jsonOf(r.only)).Scan(&n); err != nil {
			return 0, nil, failed(err, "count messages")
		}
		messages += n
		if err := s.count(ctx, r, terms, counts, limit); err != nil {
			return 0, nil, failed(err, "count a term")
		}
	}
	return messages, counts, nil
}

// count adds to counts in how many messages of a range each of terms is.
func (s *Store) count(ctx context.Context, r rowRange, terms []string, counts []int, limit int) error {
	var query strings.Builder
	query.WriteString("SELECT count(*) FROM (SELECT 1 FROM fulltext WHERE fulltext MATCH ? AND (NOT EXISTS (SELECT 1 FROM doomed) OR rowid NOT IN (SELECT row FROM doomed))")
	bounds := r.where(&query, "rowid")
	query.WriteString(" LIMIT ?)")
	for i, term := range terms {
		n, err := column[int](ctx, prepared{s, nil}, query.String(), append(append([]any{matchAny([]string{term})}, bounds...), limit)...)
		if err != nil {
			return err
		}
		counts[i] = min(limit, counts[i]+n[0])
	}
	return nil
}

// prepared answers by statements over the readers' connections that are prepared once: that takes as long as many of them run.
// Whoever asks keeps what differs between searches in the arguments, so that there are few.
type prepared struct {
	*Store
	tx *sql.Tx // that they run in, if not nil
}

func (p prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if p.tx != nil {
		statement = p.tx.StmtContext(ctx, statement)
	}
	return statement.QueryContext(ctx, args...)
}

func (p prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	p.statements.Lock()
	defer p.statements.Unlock()
	if statement, ok := p.statements.by[query]; ok {
		return statement, nil
	}
	statement, err := p.read.PrepareContext(ctx, query)
	if err == nil {
		if p.statements.by == nil {
			p.statements.by = map[string]*sql.Stmt{}
		}
		p.statements.by[query] = statement
	}
	return statement, err
}

// matchAny is the FTS5 expression for messages with at least one of terms.
func matchAny(terms []string) string {
	var b []byte
	for i, term := range terms {
		if i > 0 {
			b = append(b, " OR "...)
		}
		b = appendHash(b, term)
	}
	return string(b)
}

// rowRange is the part of a scope that lies in one guild.
type rowRange struct {
	first, last int64   // channel numbers
	only        []int64 // of them; nil if all
}

// where appends the condition that column is the row of a message in the range, and gives its arguments.
func (r rowRange) where(query *strings.Builder, column string) []any {
	query.WriteString(" AND " + column + " BETWEEN ? AND ?")
	args := []any{r.first << sequenceBits, r.last<<sequenceBits | (1<<sequenceBits - 1)}
	if int64(len(r.only)) == r.last-r.first+1 { // no other channel lies between
		return args
	}
	fmt.Fprintf(query, " AND %s >> %d IN (SELECT value FROM json_each(?))", column, sequenceBits)
	return append(args, jsonOf(r.only))
}

// ranges is scope as ranges of rows, one for each guild.
func (s *Store) ranges(scope memory.Scope) []rowRange {
	var ranges []rowRange
	for _, no := range s.channelNos(scope) {
		if n := len(ranges); n > 0 && guildOf(ranges[n-1].first) == guildOf(no) {
			ranges[n-1].last = no
			ranges[n-1].only = append(ranges[n-1].only, no)
			continue
		}
		ranges = append(ranges, rowRange{first: no, last: no, only: []int64{no}})
	}
	return ranges
}

// bounds are scope's times as ids, nil where they exclude nothing.
func (s *Store) bounds(scope memory.Scope) (since, until *memory.MessageID) {
	if !scope.Since.IsZero() {
		id := firstAt(scope.Since)
		since = &id
	}
	if !scope.Until.IsZero() {
		if id := firstAt(scope.Until); id <= s.newestMessage() {
			until = &id
		}
	}
	return since, until
}

// newestMessage is an id that no message's is greater than. It is read when it is first asked for, and where it can't be
// read, it is beyond all.
func (s *Store) newestMessage() memory.MessageID {
	s.mu.RLock()
	newest, read, version := s.newest, s.newestRead, s.peopleVersion
	s.mu.RUnlock()
	if read {
		return newest
	}
	// Of each channel the index gives it at once.
	err := s.read.QueryRow("SELECT coalesce(max((SELECT max(id) FROM message WHERE channel = no)), 0) FROM channel").Scan(&newest)
	if err != nil {
		return 1<<63 - 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = max(s.newest, newest)
	s.newestRead = version == s.peopleVersion // or what others wrote meanwhile may be missing
	return s.newest
}

// firstAt is the smallest id of a message that isn't before t: ids count whole milliseconds.
func firstAt(t time.Time) memory.MessageID {
	return memory.FirstMessageID(t.Add(time.Millisecond - 1).Truncate(time.Millisecond))
}

// inScope reports whether a message's time and author lie within scope.
func inScope(scope memory.Scope, id memory.MessageID, author memory.UserID) bool {
	return (len(scope.Authors) == 0 || slices.Contains(scope.Authors, author)) && (scope.Since.IsZero() || id >= firstAt(scope.Since)) && (scope.Until.IsZero() || id < firstAt(scope.Until))
}

// termsOf are the rows of the messages that a query finds, and what full text is to hold of each.
func (t *transaction) termsOf(query string, args ...any) (rows []int64, terms []string, err error) {
	var batch text.Batch
	err = t.each(func(scan scanner) error {
		var m memory.Message
		var row int64
		var extra nullString
		if err := scan(&row, &m.Kind, &m.Content, &extra); err != nil {
			return err
		}
		err := decodeExtra(extra, &m)
		rows, terms = append(rows, row), append(terms, indexTerms(&batch, m))
		return err
	}, query, args...)
	return rows, terms, err
}
