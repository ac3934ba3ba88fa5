package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"hark/memory"
)

// Scanner copies a row's columns, like sql.Rows.Scan.
type Scanner = func(dest ...any) error

func Each(ctx context.Context, q Querier, f func(scan Scanner) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list returns a query's rows, each decoded by read.
func list[T any](ctx context.Context, q Querier, read func(scan Scanner, to *T) error, query string,
	args ...any) ([]T, error) {
	var all []T
	err := Each(ctx, q, func(scan Scanner) error {
		all = append(all, *new(T))
		return read(scan, &all[len(all)-1])
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

func column[T any](ctx context.Context, q Querier, query string, args ...any) ([]T, error) {
	return list(ctx, q, func(scan Scanner, to *T) error { return scan(to) }, query, args...)
}

// mapOf maps a query's first column to its second.
func mapOf[K comparable, V any](ctx context.Context, q Querier, query string, args ...any) (map[K]V, error) {
	all := map[K]V{}
	err := Each(ctx, q, func(scan Scanner) error {
		var key K
		var value V
		err := scan(&key, &value)
		all[key] = value
		return err
	}, query, args...)
	return all, err
}

func rowError[I ~int64](err error, kind string, id I) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %d: %w", kind, id, err)
}

// asJSON scans a JSON column. NULL and no text change nothing.
type asJSON struct{ to any }

func (a asJSON) Scan(from any) error {
	switch from := from.(type) {
	case string:
		return a.Scan([]byte(from))
	case []byte:
		if len(from) > 0 {
			return json.Unmarshal(from, a.to)
		}
		return nil
	case nil:
		return nil
	}
	return fmt.Errorf("%T where JSON should be", from)
}

// jsonText returns v as JSON.
func jsonText(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// asTime scans a column of milliseconds.
type asTime struct{ *time.Time }

func (a asTime) Scan(from any) error {
	switch from := from.(type) {
	case int64:
		*a.Time = fromMillis(from)
	case nil:
		*a.Time = time.Time{}
	default:
		return fmt.Errorf("%T where a time should be", from)
	}
	return nil
}

// asInt scans an integer. database/sql converts types other than int64 through text.
type asInt[T ~int | ~int64 | ~uint8] struct{ to *T }

func (a asInt[T]) Scan(from any) error {
	n, ok := from.(int64)
	if !ok {
		return fmt.Errorf("%T where an integer should be", from)
	}
	*a.to = T(n)
	return nil
}

// behind scans the columns that follow some others.
func behind(scan Scanner, others ...any) Scanner {
	return func(dest ...any) error { return scan(append(others, dest...)...) }
}

// Found turns Scan's error into a boolean: false if there was no row.
func Found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// failed adds what failed and advice; nil if err is nil.
func (s *Store) failed(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), s.engine.Explain(err))
}

// Row is the first row of a result, or the error.
type Row struct {
	rows *sql.Rows
	err  error
}

// RowOf returns the first row of a query.
func RowOf(ctx context.Context, q Querier, query string, args ...any) Row {
	rows, err := q.QueryContext(ctx, query, args...)
	return Row{rows, err}
}

func (r Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		return cmp.Or(r.rows.Err(), sql.ErrNoRows)
	}
	return cmp.Or(r.rows.Scan(dest...), r.rows.Close())
}

func (s *Store) row(ctx context.Context, query string, args ...any) Row {
	return RowOf(ctx, s.engine, query, args...)
}

func (s *Store) meta(ctx context.Context, key string) (kept string, err error) {
	_, err = Found(s.row(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&kept))
	return kept, err
}

const storedColumns = "id, author, kind, reply_to, edited, starred, tokens, content, extra"

// scanMessage reads storedColumns. channel is as in messageText.
func (v *Vault) scanMessage(scan Scanner, m *memory.Message, channel func() int64) error {
	return scan(v.messageColumns(m, channel)...)
}

// messageColumns are m's fields for storedColumns.
func (v *Vault) messageColumns(m *memory.Message, channel func() int64) []any {
	content, extra := v.messageText(m, channel)
	return []any{asInt[memory.MessageID]{&m.ID}, asInt[memory.UserID]{&m.Author}, asInt[memory.Kind]{&m.Kind},
		asInt[memory.MessageID]{&m.ReplyTo}, asTime{&m.Edited}, &m.Starred, asInt[int]{&m.Tokens}, content, extra}
}

func (s *Store) channelNo(id memory.ChannelID) (guild memory.GuildID, no int64, ok bool) {
	nos := s.numbers()
	no, ok = nos.of[id]
	return nos.guildOf(no), no, ok
}

// guildOf returns the guild of a channel; memory.Everywhere if the channel is unknown.
func (s *Store) guildOf(id memory.ChannelID) memory.GuildID {
	guild, _, ok := s.channelNo(id)
	if !ok {
		return memory.Everywhere
	}
	return guild
}

func (s *Store) messages(ctx context.Context, channel memory.ChannelID, where string,
	args ...any) ([]memory.Message, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, no, ok := s.channelNo(channel)
	if !ok {
		return nil, nil
	}
	read := func(scan Scanner, m *memory.Message) error {
		m.Guild = guild
		m.Channel = channel
		return s.vault.scanMessage(scan, m, func() int64 { return no })
	}
	query := "SELECT " + storedColumns + " FROM said WHERE guild = ? AND channel = ? AND " + where
	messages, err := list(ctx, s.engine, read, query, append([]any{guild, no}, args...)...)
	return messages, s.failed(err, "read messages of channel %d", channel)
}

// MessagesBy implements memory.Store. do may take long.
func (s *Store) MessagesBy(ctx context.Context, guild memory.GuildID, user memory.UserID,
	do func(memory.Message) error) error {
	err := s.engine.Snapshot(ctx, func(q Querier) error { return s.messagesBy(ctx, q, guild, user, do) })
	return s.failed(err, "read what user %d wrote", user)
}

func (s *Store) messagesBy(ctx context.Context, q Querier, guild memory.GuildID, user memory.UserID,
	do func(memory.Message) error) error {
	read := func(scan Scanner) error {
		var m memory.Message
		var no int64
		err := s.vault.scanMessage(behind(scan, &no, &m.Channel, &m.Guild), &m, func() int64 { return no })
		if err != nil {
			return err
		}
		return do(m)
	}
	const query = `SELECT c.no, c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content,
		m.extra FROM channel c CROSS JOIN said m WHERE (c.guild = ?1 OR ?1 = -1) AND m.guild = c.guild
		AND ` + rowsOfChannel + ` AND m.author = ?2 ORDER BY c.id, m.id`
	return Each(ctx, q, read, query, guild, user)
}

// rowsOfChannel is the condition that a message m is in channel c, for which a channel's rows are read as one range of
// the table.
const rowsOfChannel = "m.row >= c.no << 28 AND m.row < (c.no + 1) << 28" // SequenceBits

// SegmentsOf implements memory.Store.
func (s *Store) SegmentsOf(ctx context.Context, channel memory.ChannelID,
	ids []memory.MessageID) (map[memory.MessageID]int64, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, no, ok := s.channelNo(channel)
	if !ok {
		return nil, nil
	}
	segments, err := mapOf[memory.MessageID, int64](ctx, s.engine, `SELECT id, segment FROM said WHERE guild = ?
		AND channel = ? AND id IN (SELECT value FROM json_each(?)) AND segment <> 0`, guild, no, jsonOf(ids))
	return segments, s.failed(err, "read the segments of messages")
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
