package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hark/internal/text"
	"hark/memory"
)

// FullText implements memory.Store.
func (s *Store) FullText(ctx context.Context, scope memory.Scope, terms []string, limit int) ([]memory.TextHit, error) {
	if len(terms) == 0 || limit <= 0 {
		return nil, nil
	}
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	q := TextQuery{Terms: terms, Authors: scope.Authors, Limit: limit}
	q.Since, q.Until = s.bounds(ctx, scope)
	ids := s.channelIDs()
	var hits []memory.TextHit
	for _, q.Channels = range byGuild(s.channelNos(scope)) {
		found, err := s.engine.FindText(ctx, q)
		if err != nil {
			return nil, s.failed(err, "search the full text")
		}
		for _, m := range found {
			hits = append(hits, memory.TextHit{Channel: ids[m.Channel], ID: m.ID, Score: m.Score})
		}
	}
	slices.SortStableFunc(hits, func(a, b memory.TextHit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(limit, len(hits))], nil
}

// Frequencies implements memory.Store.
func (s *Store) Frequencies(ctx context.Context, scope memory.Scope, terms []string, limit int) (messages int,
	counts []int, err error) {
	if err := s.engine.Notice(ctx); err != nil {
		return 0, nil, err
	}
	counts = make([]int, len(terms))
	limit = max(limit, 0)
	nos := s.channelNos(scope)
	if err := s.row(ctx, `SELECT coalesce(sum(messages), 0) FROM channel
		WHERE no IN (SELECT value FROM json_each(?))`, jsonOf(nos)).Scan(&messages); err != nil {
		return 0, nil, s.failed(err, "count messages")
	}
	for _, channels := range byGuild(nos) {
		for i, term := range terms {
			n, err := s.engine.CountText(ctx, TextQuery{Channels: channels, Terms: []string{term}, Limit: limit})
			if err != nil {
				return 0, nil, s.failed(err, "count a term")
			}
			counts[i] = min(limit, counts[i]+n)
		}
	}
	return messages, counts, nil
}

func byGuild(nos []int64) (guilds [][]int64) {
	for len(nos) > 0 {
		n := slices.IndexFunc(nos, func(no int64) bool { return GuildOf(no) != GuildOf(nos[0]) })
		if n < 0 {
			n = len(nos)
		}
		guilds, nos = append(guilds, nos[:n]), nos[n:]
	}
	return guilds
}

// bounds returns scope's times as ids; nil if they exclude nothing.
func (s *Store) bounds(ctx context.Context, scope memory.Scope) (since, until *memory.MessageID) {
	if !scope.Since.IsZero() {
		id := FirstAt(scope.Since)
		since = &id
	}
	if !scope.Until.IsZero() {
		if id := FirstAt(scope.Until); id <= s.newestMessage(ctx) {
			until = &id
		}
	}
	return since, until
}

// newestMessage returns an upper bound of all message ids. The first call reads it; on failure it is the
// greatest possible id.
func (s *Store) newestMessage(ctx context.Context) memory.MessageID {
	s.mu.RLock()
	newest, read, version := s.newest, s.newestRead, s.peopleVersion
	s.mu.RUnlock()
	if read {
		return newest
	}
	// The index gives each channel's maximum at once.
	err := s.row(ctx, `SELECT coalesce(max((SELECT max(id) FROM message WHERE channel = no)), 0)
		FROM channel`).Scan(&newest)
	if err != nil {
		return 1<<63 - 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = max(s.newest, newest)
	s.newestRead = version == s.peopleVersion // else another process's writes may be missing
	return s.newest
}

// FirstAt returns the smallest message id at or after t, rounded up to milliseconds, the unit of ids.
func FirstAt(t time.Time) memory.MessageID {
	return memory.FirstMessageID(t.Add(time.Millisecond - 1).Truncate(time.Millisecond))
}

func inScope(scope memory.Scope, id memory.MessageID, author memory.UserID) bool {
	return (len(scope.Authors) == 0 || slices.Contains(scope.Authors, author)) &&
		(scope.Since.IsZero() || id >= FirstAt(scope.Since)) && (scope.Until.IsZero() || id < FirstAt(scope.Until))
}

// termsOf returns the rows of the messages that a query finds, and their full-text entries.
func (t *transaction) termsOf(query string, args ...any) (rows []int64, terms []string) {
	var batch text.Batch
	t.each(func(scan Scanner) error {
		var m memory.Message
		var row int64
		err := scan(&row, &m.Kind, &m.Content, asExtra{&m})
		rows, terms = append(rows, row), append(terms, indexTerms(&batch, m))
		return err
	}, query, args...)
	return rows, terms
}

type rowTerms struct {
	row   int64
	terms string
}

// index queues a message's full-text entry for flushTerms.
func (t *transaction) index(row int64, terms string) {
	if terms != "" {
		t.terms = append(t.terms, rowTerms{row, terms})
	}
}

// flushTerms writes the queued entries in ascending order of rows. A smaller row after a greater one makes
// FTS5 flush its buffer, which takes most of the time for messages of many channels.
func (t *transaction) flushTerms() {
	slices.SortFunc(t.terms, func(a, b rowTerms) int { return cmp.Compare(a.row, b.row) })
	for _, r := range t.terms {
		ensure(t.AddText(r.row, r.terms))
	}
	t.terms = nil
}
