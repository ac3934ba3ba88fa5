package sqlite

import (
	"context"
	"fmt"

	"hark/memory"
)

// ExtentOf tells how much would go if messages of a channel were deleted now. Answers that are among them aren't counted as
// made from them.
func (s *Store) ExtentOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (memory.Extent, error) {
	var e memory.Extent
	list := jsonOf(ids)
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id IN (SELECT value FROM json_each(?2)) WHERE c.id = ?1`,
		int64(channel), list).Scan(&e.Messages)
	if err == nil {
		err = s.countGoing(ctx, selection{`SELECT derived, repeats, 0 AS itself FROM source WHERE kind = 0 AND place = ?1 AND id IN (SELECT value FROM json_each(?2))`,
			[]any{int64(channel), list}}, fmt.Sprintf(" AND NOT (kind = %d AND place = ?1 AND id IN (SELECT value FROM json_each(?2)))", anAnswer), &e)
	}
	e.Channels = min(1, e.Messages)
	return e, failed(err, "count what goes with messages of channel %d", channel)
}

// Wrote is how much somebody wrote in each channel of a guild where they wrote anything, by channel.
func (s *Store) Wrote(ctx context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Wrote, error) {
	all, err := list(ctx, s.read, func(scan scanner, w *memory.Wrote) error {
		return scan(&w.Channel, &w.Messages, &w.Starred, &w.First, &w.Last)
	}, fmt.Sprintf(`SELECT c.id, count(*), sum(m.starred), min(m.id), max(m.id)
		FROM channel c CROSS JOIN said m ON m.row >= c.no << %[1]d AND m.row < (c.no + 1) << %[1]d AND m.author = ?2
		WHERE c.guild = ?1 GROUP BY c.id ORDER BY c.id`, sequenceBits), int64(guild), int64(user))
	return all, failed(err, "count what user %d wrote in guild %d", user, guild)
}

// Forgotten are the receipts of what is forgotten of all that somebody wrote in a guild, the newest first. Of several for
// one reason there may be the newest only.
func (s *Store) Forgotten(ctx context.Context, guild memory.GuildID, user memory.UserID) ([]memory.Receipt, error) {
	all, err := list(ctx, s.read, func(scan scanner, r *memory.Receipt) error {
		var body []byte
		if err := scanForgetting(scan, &r.Forgetting, new(order), &body); err != nil {
			return err
		}
		return readReceipt(body, r)
	}, "SELECT "+forgettingColumns+", receipt FROM forgetting WHERE done = 1 AND guild = ? AND user = ? AND channel = 0 ORDER BY id DESC",
		int64(guild), int64(user))
	return all, failed(err, "read what user %d had forgotten", user)
}
