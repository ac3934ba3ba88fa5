package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hark/memory"
)

func (t *transaction) findGap(g memory.Gap) error {
	if g.After >= g.Until || g.Sweep {
		return nil // Absent tells what is to be swept
	}
	return t.exec(`INSERT INTO gap (channel, until, guild, after, past, sweep, fetched)
		VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
		int64(g.Channel), int64(g.Until), int64(g.Guild), int64(g.After), g.Past, g.Fetched)
}

func (t *transaction) fillGap(e memory.GapFilled) error {
	known, err := Found(t.row(`UPDATE gap SET after = max(after, ?), fetched = max(fetched, ?)
		WHERE channel = ? AND sweep = ? AND until = ? RETURNING 1`,
		int64(e.Through), e.Gap.Fetched, int64(e.Gap.Channel), e.Gap.Sweep, int64(e.Gap.Until)).Scan(new(int)))
	if !known || err != nil {
		return err // the channel may have been shut meanwhile, and isn't compared then
	}
	if err := t.exec("DELETE FROM gap WHERE channel = ? AND sweep = ? AND until = ? AND after >= until",
		int64(e.Gap.Channel), e.Gap.Sweep, int64(e.Gap.Until)); err != nil || !e.Gap.Sweep {
		return err
	}
	return t.openSwept("id = ?", int64(e.Gap.Channel))
}

// openSwept opens the channels, of those that fit a condition, that were shut and of which all is compared.
func (t *transaction) openSwept(condition string, args ...any) error {
	var opened bool
	if _, err := Found(t.row("SELECT 1 FROM channel WHERE shut <> 0 AND "+condition+
		" AND NOT EXISTS (SELECT 1 FROM gap WHERE gap.channel = channel.id AND sweep <> 0) LIMIT 1", args...).Scan(&opened)); err != nil || !opened {
		return err
	}
	t.changed.structure = true
	return t.exec("UPDATE channel SET shut = 0 WHERE shut <> 0 AND "+condition+
		" AND NOT EXISTS (SELECT 1 FROM gap WHERE gap.channel = channel.id AND sweep <> 0)", args...)
}

// within is the condition for the channels of a guild ?1, or, if it isn't 0, for the channel or category ?2
// with what lies in it.
const within = "guild = ?1 AND (id = ?2 OR parent = ?2 OR ?2 = 0 OR parent IN (SELECT id FROM channel WHERE guild = ?1 AND parent = ?2))"

// sweep has all that is remembered of a guild or a channel compared. It goes on where an earlier sweep was,
// and then from the beginning up to there, so that it comes round however often it is begun. Discord's clock
// may be ahead of e's.
func (t *transaction) sweep(e memory.Absent) error {
	until := memory.FirstMessageID(e.At.Add(time.Millisecond))
	guild, channel := int64(e.Guild), int64(e.Channel)
	from := int64(memory.FirstMessageID(e.At.Add(-memory.SweptFirst)))
	const begin = `INSERT INTO gap (channel, until, guild, after, past, sweep, fetched) SELECT id, %[1]s, guild, %[2]s, 0, 1, 0
		FROM (SELECT id, no, guild, coalesce((SELECT max(after) FROM gap WHERE gap.channel = c.id AND sweep = 2), ?3) AS at,
			max(?4, coalesce((SELECT max(id) FROM said WHERE said.channel = c.no), 0)) AS newest FROM channel c WHERE ` + within + `) AS begun
		WHERE EXISTS (SELECT 1 FROM said WHERE said.channel = no AND said.id > %[2]s AND said.id <= %[1]s)`
	if err := t.exec(`UPDATE gap SET sweep = 2 WHERE sweep <> 0 AND channel IN (SELECT id FROM channel
		WHERE `+within+")", guild, channel); err != nil {
		return err
	}
	if err := t.execAll([]any{guild, channel, from, int64(until)}, fmt.Sprintf(begin, "newest", "at"),
		fmt.Sprintf(begin, "at", "0")); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM gap WHERE sweep = 2"); err != nil {
		return err
	}
	return t.openSwept(within, guild, channel)
}

func (t *transaction) shutOut(e memory.ShutOut) error {
	if _, err := t.channel(e.Guild, e.Channel); err != nil {
		return err
	}
	t.changed.structure = true
	if err := t.exec("DELETE FROM gap WHERE sweep <> 0 AND channel = ?", int64(e.Channel)); err != nil {
		return err
	}
	return t.exec("UPDATE channel SET shut = 1 WHERE id = ?", int64(e.Channel))
}

// Gaps implements memory.Store.
func (s *Store) Gaps(ctx context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error) {
	which, order, args := "sweep = 0", " ORDER BY past, channel, until", []any(nil)
	if sweep {
		which, order = "sweep <> 0", " ORDER BY until DESC, channel"
	}
	if guild != memory.Everywhere {
		which, args = which+" AND guild = ?", []any{int64(guild)}
	}
	gaps, err := list(ctx, s.engine, func(scan Scanner, g *memory.Gap) error {
		return scan(&g.Guild, &g.Channel, &g.After, &g.Until, &g.Past, &g.Sweep, &g.Fetched)
	}, "SELECT guild, channel, after, until, past, sweep, fetched FROM gap WHERE "+which+order, args...)
	return gaps, s.failed(err, "read what is missing")
}

// Questions implements memory.Store.
func (s *Store) Questions(ctx context.Context) ([]memory.OpenQuestion, error) {
	open, err := list(ctx, s.engine, func(scan Scanner, q *memory.OpenQuestion) error {
		return scan(&q.Guild, &q.Channel, &q.ID)
	},
		"SELECT guild, channel, id FROM question ORDER BY id, channel")
	return open, s.failed(err, "read which questions are open")
}

// HeardUntil implements memory.Store.
func (s *Store) HeardUntil(ctx context.Context, guild memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	heard := map[memory.ChannelID]memory.MessageID{}
	err := Each(ctx, s.engine, func(scan Scanner) error {
		var channel memory.ChannelID
		var until memory.MessageID
		err := scan(&channel, &until)
		heard[channel] = until
		return err
	}, `SELECT c.id, max(c.heard, g.since) AS until FROM guild g JOIN channel c ON c.guild = g.id
		WHERE g.id = ? AND max(c.heard, g.since) <> 0`, int64(guild))
	return heard, s.failed(err, "read what was heard in guild %d", guild)
}

// Log implements memory.Store.
func (s *Store) Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID,
	limit int) ([]memory.Message, error) {
	return s.messages(ctx, channel, "id > ? AND id <= ? ORDER BY id LIMIT ?+0", int64(after), int64(until), max(limit, 0))
}
