package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hark/memory"
)

// gapEvents are about what Hark didn't hear, and what it still has to answer.
var gapEvents = []handler{
	handle((*transaction).findGap),
	handle((*transaction).fillGap),
	handle((*transaction).sweep),
	handle((*transaction).shutOut),
	handle((*transaction).openQuestion),
	handle((*transaction).closeQuestion),
}

func (t *transaction) findGap(e memory.GapFound) {
	g := e.Gap
	if g.After < g.Until && !g.Sweep { // Absent says what to sweep
		t.exec(`INSERT INTO gap (guild, channel, until, after, past, sweep, fetched)
			VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
			g.Guild, g.Channel, g.Until, g.After, g.Past, g.Fetched)
	}
}

func (t *transaction) fillGap(e memory.GapFilled) {
	g := e.Gap
	const gap = " WHERE guild = ? AND channel = ? AND sweep = ? AND until = ?"
	if t.exec("UPDATE gap SET after = max(after, ?), fetched = max(fetched, ?)"+gap,
		e.Through, g.Fetched, g.Guild, g.Channel, g.Sweep, g.Until) == 0 {
		return // shutOut may have ended the comparison
	}
	t.exec("DELETE FROM gap"+gap+" AND after >= until", g.Guild, g.Channel, g.Sweep, g.Until)
	if g.Sweep {
		t.reopenSwept("guild = ?1 AND id = ?2", g.Guild, g.Channel)
	}
}

// reopenSwept reopens the shut channels of a guild that meet a condition and are fully compared.
func (t *transaction) reopenSwept(condition string, guild memory.GuildID, channel memory.ChannelID) {
	if t.exec("UPDATE channel SET shut = 0 WHERE shut <> 0 AND "+condition+` AND NOT EXISTS (SELECT 1 FROM gap
		WHERE gap.guild = ?1 AND gap.channel = channel.id AND sweep <> 0)`, guild, channel) > 0 {
		t.changed.structure[guild] = true
	}
}

// within is the condition for the channels of guild ?1 or, if ?2 isn't 0, for channel or category ?2 with its
// content.
const within = `guild = ?1 AND (id = ?2 OR parent = ?2 OR ?2 = 0
	OR parent IN (SELECT id FROM channel WHERE guild = ?1 AND parent = ?2))`

// sweep schedules the comparison of all that is remembered of a guild or channel with Discord. It continues
// where an earlier sweep stopped and then covers the beginning, so that it ends despite restarts. Discord's
// clock may be ahead of e's.
func (t *transaction) sweep(e memory.Absent) {
	until := memory.FirstMessageID(e.At.Add(time.Millisecond))
	from := memory.FirstMessageID(e.At.Add(-memory.SweptFirst))
	const begin = `INSERT INTO gap (guild, channel, until, after, past, sweep, fetched)
		SELECT guild, id, %[1]s, %[2]s, 0, 1, 0 FROM (SELECT guild, id, no,
			coalesce((SELECT max(after) FROM gap WHERE gap.guild = ?1 AND gap.channel = c.id AND sweep = 2), ?3) AS at,
			max(?4, coalesce((SELECT max(id) FROM said WHERE said.guild = ?1 AND said.channel = c.no), 0)) AS newest
			FROM channel c WHERE ` + within + `) AS begun
		WHERE EXISTS (SELECT 1 FROM said WHERE said.guild = ?1 AND said.channel = no AND said.id > %[2]s
			AND said.id <= %[1]s)`
	t.execAll([]any{e.Guild, e.Channel, from, until}, `UPDATE gap SET sweep = 2
			WHERE guild = ?1 AND sweep <> 0 AND channel IN (SELECT id FROM channel WHERE `+within+")",
		fmt.Sprintf(begin, "newest", "at"), fmt.Sprintf(begin, "at", "0"), "DELETE FROM gap WHERE guild = ?1 AND sweep = 2")
	t.reopenSwept(within, e.Guild, e.Channel)
}

func (t *transaction) shutOut(e memory.ShutOut) {
	guild := t.channel(e.Guild, e.Channel).guild
	t.changed.structure[guild] = true
	t.execAll([]any{guild, e.Channel}, "DELETE FROM gap WHERE guild = ? AND sweep <> 0 AND channel = ?",
		"UPDATE channel SET shut = 1 WHERE guild = ? AND id = ?")
}

func (t *transaction) openQuestion(e memory.QuestionOpened) {
	t.exec("INSERT INTO question (guild, channel, id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		e.Question.Guild, e.Question.Channel, e.Question.ID)
}

func (t *transaction) closeQuestion(e memory.QuestionClosed) {
	t.exec("DELETE FROM question WHERE (guild = ?1 OR ?1 = -1) AND channel = ?2 AND id = ?3",
		t.guildAt(memory.Everywhere, e.Channel), e.Channel, e.ID)
}

// Gaps implements memory.Store.
func (s *Store) Gaps(ctx context.Context, guild memory.GuildID, sweep bool) ([]memory.Gap, error) {
	which := "sweep = 0"
	order := " ORDER BY past, channel, until"
	args := []any(nil)
	if sweep {
		which = "sweep <> 0"
		order = " ORDER BY until DESC, channel"
	}
	if guild != memory.Everywhere {
		which += " AND guild = ?"
		args = []any{guild}
	}
	query := "SELECT guild, channel, after, until, past, sweep, fetched FROM gap WHERE " + which + order
	gaps, err := list(ctx, s.engine, scanGap, query, args...)
	return gaps, s.failed(err, "read what is missing")
}

func scanGap(scan Scanner, g *memory.Gap) error {
	return scan(&g.Guild, &g.Channel, &g.After, &g.Until, &g.Past, &g.Sweep, &g.Fetched)
}

// Questions implements memory.Store.
func (s *Store) Questions(ctx context.Context) ([]memory.OpenQuestion, error) {
	read := func(scan Scanner, q *memory.OpenQuestion) error {
		return scan(&q.Guild, &q.Channel, &q.ID)
	}
	open, err := list(ctx, s.engine, read, "SELECT guild, channel, id FROM question ORDER BY id, channel")
	return open, s.failed(err, "read which questions are open")
}

// HeardUntil implements memory.Store.
func (s *Store) HeardUntil(ctx context.Context, guild memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	const query = `SELECT c.id, max(c.heard, g.since) AS until
		FROM guild g CROSS JOIN channel c WHERE g.id = ?1 AND c.guild = ?1 AND max(c.heard, g.since) <> 0`
	heard, err := mapOf[memory.ChannelID, memory.MessageID](ctx, s.engine, query, guild)
	return heard, s.failed(err, "read what was heard in server %d", guild)
}
