package sqlite

import (
	"context"
	"fmt"

	"hark/memory"
)

// answersCovered selects the answers, of trace t, that were made from what falls under an order, or that somebody asked for of whom
// everything does. The arguments are those of loreCovered, and whether everything of somebody does.
const answersCovered = `(t.channel, t.answer) IN (SELECT s.answer_channel, s.answer FROM trace_source s WHERE s.channel IN (SELECT value FROM json_each(?1)) AND s.id < ?2
		AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id = s.id WHERE c.id = s.channel AND m.author = ?3)))
	OR ?6 AND ?4 IN (t.body ->> '$.guild', -1) AND (t.body ->> '$.asker' = ?3 OR EXISTS (SELECT 1 FROM json_each(t.body, '$.facts') f
		WHERE f.value IN (SELECT id FROM fact WHERE user = ?3 AND text IS NOT NULL AND guild = t.body ->> '$.guild')))
	OR EXISTS (SELECT 1 FROM json_each(t.body, '$.lore') l WHERE l.value IN (SELECT id FROM lore WHERE text IS NOT NULL AND (` + loreCovered + ` OR ` + loreSourceCovered + `)))`

// ExtentOf tells how much would go if messages of a channel were deleted now. Answers that are among them aren't counted as
// made from them.
func (s *Store) ExtentOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (memory.Extent, error) {
	var e memory.Extent
	err := s.read.QueryRowContext(ctx, `WITH ids AS (SELECT value FROM json_each(?2)) SELECT
		(SELECT count(*) FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id IN ids WHERE c.id = ?1),
		(SELECT count(*) FROM fact WHERE channel = ?1 AND message IN ids AND message <> 0 AND text IS NOT NULL),
		(SELECT count(*) FROM lore WHERE text IS NOT NULL AND (guild, id) IN (SELECT guild, lore FROM lore_source WHERE channel = ?1 AND message IN ids)),
		(SELECT count(*) FROM summary WHERE text IS NOT NULL AND (channel, id) IN (SELECT channel, summary FROM summary_source WHERE channel = ?1 AND message IN ids))
			+ (SELECT count(*) FROM condensed WHERE channel IN (SELECT channel FROM condensed_source WHERE channel = ?1 AND message IN ids)),
		(SELECT count(*) FROM trace t WHERE NOT (t.channel = ?1 AND t.answer IN ids)
			AND (t.channel, t.answer) IN (SELECT answer_channel, answer FROM trace_source WHERE channel = ?1 AND id IN ids))`,
		int64(channel), jsonOf(ids)).Scan(&e.Messages, &e.Facts, &e.Lore, &e.Summaries, &e.Answers)
	if err != nil {
		return e, fmt.Errorf("count what goes with messages of channel %d: %w", channel, explain(err))
	}
	if e.Messages > 0 {
		e.Channels = 1
	}
	return e, nil
}

// Wrote is how much somebody wrote in each channel of a guild where they wrote anything, by channel.
func (s *Store) Wrote(ctx context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Wrote, error) {
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT c.id, count(*), sum(m.starred), min(m.id), max(m.id)
		FROM channel c CROSS JOIN said m ON m.row >= c.no << %[1]d AND m.row < (c.no + 1) << %[1]d AND m.author = ?2
		WHERE c.guild = ?1 GROUP BY c.id ORDER BY c.id`, sequenceBits), int64(guild), int64(user))
	var all []memory.Wrote
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var w memory.Wrote
			err := scan(&w.Channel, &w.Messages, &w.Starred, &w.First, &w.Last)
			all = append(all, w)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("count what user %d wrote in guild %d: %w", user, guild, explain(err))
	}
	return all, nil
}

// Forgotten are the receipts of what is forgotten of all that somebody wrote in a guild, the newest first. Of several for
// one reason there may be the newest only.
func (s *Store) Forgotten(ctx context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Receipt, error) {
	rows, err := s.read.QueryContext(ctx, "SELECT "+forgettingColumns+", receipt FROM forgetting WHERE done = 1 AND guild = ? AND user = ? AND channel = 0 ORDER BY id DESC",
		int64(guild), int64(user))
	var all []memory.Receipt
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var r memory.Receipt
			var body []byte
			err := scanForgetting(scan, &r.Forgetting, new(order), &body)
			if err == nil {
				err = readReceipt(body, &r)
			}
			all = append(all, r)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read what user %d had forgotten: %w", user, explain(err))
	}
	return all, nil
}
