package sqlstore

import (
	"context"
	"fmt"

	"hark/memory"
)

// failed adds what failed and advice; nil if err is nil.
func (s *Store) failed(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), s.engine.Explain(err))
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
	const query = `SELECT c.no, c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens,
		m.content, m.extra FROM channel c CROSS JOIN said m ON m.guild = c.guild AND ` + rowsOfChannel + `
		WHERE (c.guild = ?1 OR ?1 = -1) AND m.author = ?2 ORDER BY c.id, m.id`
	return Each(ctx, q, read, query, guild, user)
}

// rowsOfChannel is the condition that a message m is in channel c, for which a channel's rows are read as one range of
// the table.
const rowsOfChannel = "m.row >= c.no << 28 AND m.row < (c.no + 1) << 28" // SequenceBits
