package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hark/memory"
)

// Extent implements memory.Store.
func (s *Store) Extent(ctx context.Context, q memory.ExtentQuery) (memory.Extent, error) {
	if q.Messages != nil {
		return s.extentOf(ctx, q.Channel, q.Messages)
	}
	f := q.Forgetting
	var e memory.Extent
	if f.At.IsZero() {
		f.At = time.Now()
	}
	o := orderOf(f)
	list := jsonOf(q.Within)
	only := func(condition string, param int) string { // of what isn't everywhere
		if q.Within == nil {
			return ""
		}
		return " AND " + strings.ReplaceAll(condition, "LIST", fmt.Sprintf("(SELECT value FROM json_each(?%d))", param))
	}
	where, args := under(f)
	from := "channel c CROSS JOIN said m ON m.channel = c.no" // of which the index tells all
	if f.User != 0 {
		from = "said m CROSS JOIN channel c ON c.no = m.channel"
	}
	err := s.row(ctx, "SELECT count(*), count(DISTINCT m.channel) FROM "+from+" WHERE "+where+
		only("c.id IN LIST", len(args)+1), append(args, list)...).
		Scan(&e.Messages, &e.Channels)
	var channels []memory.ChannelID
	if err == nil {
		channels, err = column[memory.ChannelID](ctx, s.engine, "SELECT id FROM channel WHERE "+concerned+
			only("id IN LIST", 3), int64(o.guild), int64(o.channel), list)
	}
	if err == nil {
		goes := o.selects(jsonOf(channels))
		goes.args = append(goes.args, list)
		err = s.countGoing(ctx, goes, only(
			`(channel = 0 OR channel IN LIST) AND NOT EXISTS (SELECT 1 FROM source s WHERE s.derived = no AND s.kind = 0 AND s.place NOT IN LIST)`, len(goes.args)), &e)
	}
	return e, s.failed(err, "count what would be forgotten")
}

// countGoing counts what invalidate would take away, as far as a further condition holds for it.
func (s *Store) countGoing(ctx context.Context, goes selection, only string, e *memory.Extent) error {
	return s.row(ctx, goes.closure(hideNone)+
		fmt.Sprintf(` SELECT count(*) FILTER (WHERE kind = %d), count(*) FILTER (WHERE kind = %d),
		count(*) FILTER (WHERE kind IN (%d, %d)), count(*) FILTER (WHERE kind = %d) FROM derived WHERE no IN (SELECT derived FROM gone)`,
			aFact, aLore, aSummary, aCondensed, anAnswer)+only, goes.args...).Scan(&e.Facts, &e.Lore,
		&e.Summaries, &e.Answers)
}

// under is the condition for messages m in channels c that fall under f.
func under(f memory.Forgetting) (where string, args []any) {
	conditions := []string{"true"}
	if f.Guild != memory.Everywhere {
		conditions, args = append(conditions, "c.guild = ?"), append(args, int64(f.Guild))
	}
	if f.Channel != 0 {
		conditions = append(conditions, fmt.Sprintf("(c.id = ? OR c.parent = ? AND c.kind IN (%d, %d))",
			memory.PublicThread, memory.PrivateThread))
		args = append(args, int64(f.Channel), int64(f.Channel))
	}
	if f.User != 0 {
		conditions, args = append(conditions, "m.author = ?"), append(args, int64(f.User))
	}
	if !f.Before.IsZero() {
		conditions, args = append(conditions, "m.id < ?"), append(args, int64(FirstAt(f.Before)))
	}
	return strings.Join(conditions, " AND "), args
}

// extentOf tells how much would go if messages of a channel were deleted. Answers that are among them aren't counted as
// made from them.
func (s *Store) extentOf(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID) (memory.Extent, error) {
	var e memory.Extent
	list := jsonOf(ids)
	err := s.row(ctx, `SELECT count(*) FROM channel c CROSS JOIN said m ON m.channel = c.no
		AND m.id IN (SELECT value FROM json_each(?2)) WHERE c.id = ?1`,
		int64(channel), list).Scan(&e.Messages)
	if err == nil {
		err = s.countGoing(ctx, selection{`SELECT derived, repeats, 0 AS itself FROM source
			WHERE kind = 0 AND place = ?1 AND id IN (SELECT value FROM json_each(?2))`,
			[]any{int64(channel), list}}, fmt.Sprintf(
			" AND NOT (kind = %d AND place = ?1 AND id IN (SELECT value FROM json_each(?2)))", anAnswer), &e)
	}
	e.Channels = min(1, e.Messages)
	return e, s.failed(err, "count what goes with messages of channel %d", channel)
}

// Written implements memory.Store.
func (s *Store) Written(ctx context.Context, guild memory.GuildID, user memory.UserID,
	do func(memory.Message) error) error {
	from, args := "said m JOIN channel c ON c.no = m.channel WHERE m.author = ?", []any{int64(user)}
	if guild != memory.Everywhere { // a channel's rows are one range of the table
		from = fmt.Sprintf(`channel c CROSS JOIN said m ON m.row >= c.no << %[1]d AND m.row < (c.no + 1) << %[1]d
			WHERE m.author = ? AND c.guild = ?`, SequenceBits)
		args = append(args, int64(guild))
	}
	err := Each(ctx, s.engine, func(scan Scanner) error {
		var m memory.Message
		if err := ScanMessage(behind(scan, &m.Channel, &m.Guild), &m); err != nil {
			return err
		}
		return do(m)
	}, `SELECT c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content, m.extra
		FROM `+from+" ORDER BY c.id, m.id", args...)
	return s.failed(err, "read what user %d wrote", user)
}
