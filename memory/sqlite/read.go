package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"hark/memory"
)

type nullString = sql.NullString

// querier is what can be asked.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each calls f for every row that q answers.
func each(ctx context.Context, q querier, f func(scan func(...any) error) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, f)
}

const messageColumns = "id, author, kind, reply_to, edited, starred, tokens, content, extra"

// scanMessage reads messageColumns.
func scanMessage(scan func(...any) error, m *memory.Message) error {
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

// Messages implements memory.Store.
func (s *Store) Messages(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) ([]memory.Message, error) {
	return s.messages(ctx, channel, "id IN (SELECT value FROM json_each(?)) ORDER BY id", jsonOf(ids))
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
	var messages []memory.Message
	err := each(ctx, s.read, func(scan func(...any) error) error {
		m := memory.Message{Guild: guild, Channel: channel}
		err := scanMessage(scan, &m)
		messages = append(messages, m)
		return err
	}, "SELECT "+messageColumns+" FROM said WHERE channel = ? AND "+where, append([]any{no}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read messages of channel %d: %w", channel, explain(err))
	}
	return messages, nil
}

// MessageNamed implements memory.Store.
func (s *Store) MessageNamed(ctx context.Context, channel memory.ChannelID, name string) (memory.MessageID, error) {
	var id memory.MessageID
	ok, err := found(s.read.QueryRowContext(ctx, "SELECT id FROM called WHERE channel = ? AND name = ?", int64(channel), memory.Clean(name)).Scan(&id))
	if err == nil && !ok {
		err = memory.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("message %q of channel %d: %w", name, channel, explain(err))
	}
	return id, nil
}

// NameOf implements memory.Store.
func (s *Store) NameOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (map[memory.MessageID]string, error) {
	names := map[memory.MessageID]string{}
	err := each(ctx, s.read, func(scan func(...any) error) error {
		var id memory.MessageID
		var name string
		err := scan(&id, &name)
		names[id] = name
		return err
	}, "SELECT id, name FROM called WHERE channel = ? AND id IN (SELECT value FROM json_each(?))", int64(channel), jsonOf(ids))
	if err != nil {
		return nil, fmt.Errorf("read the names of messages: %w", explain(err))
	}
	return names, nil
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
