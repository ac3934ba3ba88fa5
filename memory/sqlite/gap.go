package sqlite

import (
	"context"
	"fmt"

	"hark/memory"
)

func (t *transaction) findGap(g memory.Gap) error {
	if g.After >= g.Until {
		return nil
	}
	return t.exec("INSERT OR IGNORE INTO gap (channel, until, guild, after, past, fetched) VALUES (?, ?, ?, ?, ?, ?)",
		int64(g.Channel), int64(g.Until), int64(g.Guild), int64(g.After), g.Past, g.Fetched)
}

func (t *transaction) fillGap(e memory.GapFilled) error {
	if err := t.exec("UPDATE gap SET after = max(after, ?), fetched = max(fetched, ?) WHERE channel = ? AND until = ?",
		int64(e.Through), e.Gap.Fetched, int64(e.Gap.Channel), int64(e.Gap.Until)); err != nil {
		return err
	}
	return t.exec("DELETE FROM gap WHERE channel = ? AND until = ? AND after >= until", int64(e.Gap.Channel), int64(e.Gap.Until))
}

// Gaps implements memory.Store.
func (s *Store) Gaps(ctx context.Context) ([]memory.Gap, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT guild, channel, after, until, past, fetched FROM gap ORDER BY past, channel, until")
	var gaps []memory.Gap
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var g memory.Gap
			err := scan(&g.Guild, &g.Channel, &g.After, &g.Until, &g.Past, &g.Fetched)
			gaps = append(gaps, g)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read what is missing: %w", explain(err))
	}
	return gaps, nil
}

// Questions implements memory.Store.
func (s *Store) Questions(ctx context.Context) ([]memory.OpenQuestion, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT guild, channel, id FROM question ORDER BY id, channel")
	var open []memory.OpenQuestion
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var q memory.OpenQuestion
			err := scan(&q.Guild, &q.Channel, &q.ID)
			open = append(open, q)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read which questions are open: %w", explain(err))
	}
	return open, nil
}

// HeardUntil implements memory.Store.
func (s *Store) HeardUntil(ctx context.Context, guild memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	heard := map[memory.ChannelID]memory.MessageID{}
	rows, err := s.read.QueryContext(ctx, `SELECT c.id, max(c.heard, g.since) AS until FROM guild g JOIN channel c ON c.guild = g.id
		WHERE g.id = ? AND until <> 0`, int64(guild))
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var channel memory.ChannelID
			var until memory.MessageID
			err := scan(&channel, &until)
			heard[channel] = until
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read what was heard in guild %d: %w", guild, explain(err))
	}
	return heard, nil
}

// Log implements memory.Store.
func (s *Store) Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID, limit int) ([]memory.Message, error) {
	return s.messages(ctx, channel, "id > ? AND id <= ? ORDER BY id LIMIT ?", int64(after), int64(until), max(limit, 0))
}
