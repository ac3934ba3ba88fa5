package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"hark/memory"
)

type nullString = sql.NullString

// scanner puts a row's columns where they belong, as sql.Rows.Scan does.
type scanner = func(dest ...any) error

// querier is what can be asked.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each calls f for every row that q answers.
func each(ctx context.Context, q querier, f func(scan scanner) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}

// eachRow calls f for every row and closes rows.
func eachRow(rows *sql.Rows, f func(scan scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list are the rows that q answers, each as read reads it.
func list[T any](ctx context.Context, q querier, read func(scan scanner, to *T) error, query string, args ...any) ([]T, error) {
	var all []T
	err := each(ctx, q, func(scan scanner) error {
		var one T
		err := read(scan, &one)
		all = append(all, one)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// column are the values of a query's only column.
func column[T any](ctx context.Context, q querier, query string, args ...any) ([]T, error) {
	return list(ctx, q, func(scan scanner, to *T) error { return scan(to) }, query, args...)
}

// scanJSON reads a row of one column of JSON.
func scanJSON[T any](scan scanner, to *T) error {
	var body []byte
	if err := scan(&body); err != nil {
		return err
	}
	return json.Unmarshal(body, to)
}

// behind is a scanner of the columns that follow some others.
func behind(scan scanner, others ...any) scanner {
	return func(dest ...any) error { return scan(append(others, dest...)...) }
}

// found is Scan's error as a boolean: false if there was no row.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// orNotFound is Scan's error, memory.ErrNotFound if there was no row.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return memory.ErrNotFound
	}
	return err
}

// failed says what failed and what to do about it; nil if err is.
func failed(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), explain(err))
}

const messageColumns = "id, author, kind, reply_to, edited, starred, tokens, content, extra"

// scanMessage reads messageColumns.
func scanMessage(scan scanner, m *memory.Message) error {
	var edited int64
	var extra nullString
	if err := scan(&m.ID, &m.Author, &m.Kind, &m.ReplyTo, &edited, &m.Starred, &m.Tokens, &m.Content, &extra); err != nil {
		return err
	}
	m.Edited = fromMillis(edited)
	return decodeExtra(extra, m)
}

// place is a channel's guild and number.
func (s *Store) place(id memory.ChannelID) (guild memory.GuildID, no int64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	no, ok = s.nos.of[id]
	return s.nos.guilds[no], no, ok
}

// messages are those of a channel that a condition holds for.
func (s *Store) messages(ctx context.Context, channel memory.ChannelID, where string, args ...any) ([]memory.Message, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, no, ok := s.place(channel)
	if !ok {
		return nil, nil
	}
	messages, err := list(ctx, s.read, func(scan scanner, m *memory.Message) error {
		m.Guild, m.Channel = guild, channel
		return scanMessage(scan, m)
	}, "SELECT "+messageColumns+" FROM said WHERE channel = ? AND "+where, append([]any{no}, args...)...)
	return messages, failed(err, "read messages of channel %d", channel)
}

// MessageNamed implements memory.Store.
func (s *Store) MessageNamed(ctx context.Context, channel memory.ChannelID, name string) (memory.MessageID, error) {
	var id memory.MessageID
	err := s.read.QueryRowContext(ctx, "SELECT id FROM called WHERE channel = ? AND name = ?", int64(channel), memory.Clean(name)).Scan(&id)
	return id, failed(orNotFound(err), "message %q of channel %d", name, channel)
}

// NameOf implements memory.Store.
func (s *Store) NameOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (map[memory.MessageID]string, error) {
	names := map[memory.MessageID]string{}
	err := each(ctx, s.read, func(scan scanner) error {
		var id memory.MessageID
		var name string
		err := scan(&id, &name)
		names[id] = name
		return err
	}, "SELECT id, name FROM called WHERE channel = ? AND id IN (SELECT value FROM json_each(?))", int64(channel), jsonOf(ids))
	return names, failed(err, "read the names of messages")
}

func jsonOf[T ~int64](ids []T) string {
	b := []byte{'['}
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(append(b, ']'))
}
