package sqlstore

import (
	"context"
	"fmt"
	"time"

	"hark/memory"
)

// DryRun implements memory.Store.
func (s *Store) DryRun(ctx context.Context, q memory.DryRunQuery) (memory.DryRun, error) {
	if q.Messages != nil {
		return s.extentOf(ctx, q.Channel, q.Messages)
	}
	if q.At.IsZero() {
		q.At = time.Now()
	}
	o := ruleOf(q.Forgetting)
	var e memory.DryRun
	var within any
	if q.Within != nil {
		within = jsonOf(q.Within)
	}
	channels, err := column[memory.ChannelID](ctx, s.engine, "SELECT id FROM channel WHERE "+concerned+
		" AND (?7 IS NULL OR id IN (SELECT value FROM json_each(?7)))", o.args("", within)...)
	goes, all := o.selects(jsonOf(channels), within), o
	if q.Before.IsZero() {
		all.end = endless // includes what is said until the order is given
	}
	if err == nil {
		err = s.row(ctx, "SELECT count(*), count(DISTINCT m.channel) FROM "+o.messages(),
			all.args(jsonOf(channels))...).
			Scan(&e.Messages, &e.Channels)
	}
	if err == nil {
		err = s.countGoing(ctx, goes, `?7 IS NULL OR (channel = 0 OR channel IN (SELECT value FROM json_each(?7)))
			AND NOT EXISTS (SELECT 1 FROM source s WHERE s.derived = no AND s.kind = 0
				AND s.place NOT IN (SELECT value FROM json_each(?7)))`, &e)
	}
	return e, s.failed(err, "count what would be forgotten")
}

// countGoing counts the derived things that invalidate would delete and that meet condition.
func (s *Store) countGoing(ctx context.Context, goes selection, condition string, e *memory.DryRun) error {
	all, err := goes.closure(ctx, s.engine, hideNone)
	if err != nil {
		return err
	}
	nos := make([]int64, len(all))
	for i, g := range all {
		nos[i] = g.no
	}
	return s.row(ctx, fmt.Sprintf(`SELECT count(*) FILTER (WHERE kind = %d), count(*) FILTER (WHERE kind = %d),
		count(*) FILTER (WHERE kind IN (%d, %d)), count(*) FILTER (WHERE kind = %d)
		FROM derived WHERE no IN (SELECT value FROM json_each(?%d)) AND (`, aFact, aLore, aSummary, aCondensed, anAnswer,
		len(goes.args)+1)+condition+")", append(goes.args, jsonOf(nos))...).Scan(&e.Facts, &e.Lore, &e.Summaries, &e.Answers)
}

// extentOf counts what deleting messages of a channel would take with it, except answers among these
// messages.
func (s *Store) extentOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (memory.DryRun, error) {
	var e memory.DryRun
	args := []any{channel, jsonOf(ids)}
	err := s.row(ctx, `SELECT count(*) FROM channel c CROSS JOIN said m ON m.channel = c.no
		AND m.id IN (SELECT value FROM json_each(?2)) WHERE c.id = ?1`, args...).Scan(&e.Messages)
	if err == nil {
		const these = "place = ?1 AND id IN (SELECT value FROM json_each(?2))"
		err = s.countGoing(ctx, selection{`SELECT derived, repeats, 0 AS itself FROM source
			WHERE kind = 0 AND ` + these,
			args}, fmt.Sprintf("NOT (kind = %d AND %s)", anAnswer, these), &e)
	}
	e.Channels = min(1, e.Messages)
	return e, s.failed(err, "count what goes with messages of channel %d", channel)
}

// MessagesBy implements memory.Store.
func (s *Store) MessagesBy(ctx context.Context, guild memory.GuildID, user memory.UserID,
	do func(memory.Message) error) error {
	err := Each(ctx, s.engine, func(scan Scanner) error {
		var m memory.Message
		if err := ScanMessage(behind(scan, &m.Channel, &m.Guild), &m); err != nil {
			return err
		}
		return do(m)
	}, fmt.Sprintf(`SELECT c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content,
		m.extra FROM channel c CROSS JOIN said m ON m.row >= c.no << %[1]d AND m.row < (c.no + 1) << %[1]d
		WHERE m.author = ? AND ? IN (c.guild, %[2]d)
		ORDER BY c.id, m.id`, // a channel's rows are one range of the table
		SequenceBits, memory.Everywhere), user, guild)
	return s.failed(err, "read what user %d wrote", user)
}
