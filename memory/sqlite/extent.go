package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hark/memory"
)

// Extent implements memory.Forgetter.
func (s *Store) Extent(ctx context.Context, f memory.Forgetting) (memory.Extent, error) {
	return s.extent(ctx, f, nil)
}

// ExtentIn is Extent of what is told in channels alone: nothing is counted that lies or is from elsewhere.
func (s *Store) ExtentIn(ctx context.Context, f memory.Forgetting, channels []memory.ChannelID) (memory.Extent, error) {
	in := jsonOf(channels)
	return s.extent(ctx, f, &in)
}

// in is a list of channels, as JSON, or nil for all.
func (s *Store) extent(ctx context.Context, f memory.Forgetting, in *string) (memory.Extent, error) {
	var e memory.Extent
	if f.At.IsZero() {
		f.At = time.Now()
	}
	o := orderOf(f)
	list := "[]"
	if in != nil {
		list = *in
	}
	only := func(condition string, param int) string { // of what isn't everywhere
		if in == nil {
			return ""
		}
		return " AND " + strings.ReplaceAll(condition, "LIST", fmt.Sprintf("(SELECT value FROM json_each(?%d))", param))
	}
	where, args := under(f)
	from := "channel c CROSS JOIN said m ON m.channel = c.no" // of which the index tells all
	if f.User != 0 {
		from = "said m CROSS JOIN channel c ON c.no = m.channel"
	}
	err := s.read.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT m.channel) FROM "+from+" WHERE "+where+only("c.id IN LIST", len(args)+1), append(args, list)...).
		Scan(&e.Messages, &e.Channels)
	var channels string
	if err == nil {
		err = s.read.QueryRowContext(ctx, "SELECT json_group_array(id) FROM channel WHERE "+concerned+only("id IN LIST", 3), int64(o.guild), int64(o.channel), list).Scan(&channels)
	}
	if err == nil {
		goes := o.selects(channels)
		goes.args = append(goes.args, list)
		err = s.countGoing(ctx, goes, only(`(channel = 0 OR channel IN LIST) AND NOT EXISTS (SELECT 1 FROM source s WHERE s.derived = no AND s.kind = 0 AND s.place NOT IN LIST)`, len(goes.args)), &e)
	}
	return e, failed(err, "count what would be forgotten")
}

// countGoing counts what invalidate would take away, as far as a further condition holds for it.
func (s *Store) countGoing(ctx context.Context, goes selection, only string, e *memory.Extent) error {
	return s.read.QueryRowContext(ctx, goes.closure(hideNone)+fmt.Sprintf(` SELECT count(*) FILTER (WHERE kind = %d), count(*) FILTER (WHERE kind = %d),
		count(*) FILTER (WHERE kind IN (%d, %d)), count(*) FILTER (WHERE kind = %d) FROM derived WHERE no IN (SELECT derived FROM gone)`,
		aFact, aLore, aSummary, aCondensed, anAnswer)+only, goes.args...).Scan(&e.Facts, &e.Lore, &e.Summaries, &e.Answers)
}

// Later are the messages that fall under a Forgetting without Before by all but their ids, which say that they are of later
// than At: those of a file with wrong dates, or of a clock that is ahead. Deleting them completes it.
func (s *Store) Later(ctx context.Context, f memory.Forgetting) ([]memory.Event, error) {
	where, args := under(f)
	later, err := list(ctx, s.read, func(scan scanner, e *memory.Event) error {
		d := memory.Deleted{IDs: make([]memory.MessageID, 1)}
		err := scan(&d.Guild, &d.Channel, &d.IDs[0])
		*e = d
		return err
	}, "SELECT c.guild, c.id, m.id FROM said m CROSS JOIN channel c ON c.no = m.channel WHERE "+where+" AND m.id >= ?", append(args, int64(firstAt(f.At)))...)
	return later, failed(err, "read what is dated later")
}

// under is the condition for messages m in channels c that fall under f.
func under(f memory.Forgetting) (where string, args []any) {
	conditions := []string{"1"}
	if f.Guild != memory.Everywhere {
		conditions, args = append(conditions, "c.guild = ?"), append(args, int64(f.Guild))
	}
	if f.Channel != 0 {
		conditions = append(conditions, fmt.Sprintf("(c.id = ? OR c.parent = ? AND c.kind IN (%d, %d))", memory.PublicThread, memory.PrivateThread))
		args = append(args, int64(f.Channel), int64(f.Channel))
	}
	if f.User != 0 {
		conditions, args = append(conditions, "m.author = ?"), append(args, int64(f.User))
	}
	if !f.Before.IsZero() {
		conditions, args = append(conditions, "m.id < ?"), append(args, int64(firstAt(f.Before)))
	}
	return strings.Join(conditions, " AND "), args
}

// Written calls do for every message that somebody wrote, by channel and id, as they are at one moment.
func (s *Store) Written(ctx context.Context, user memory.UserID, do func(memory.Message) error) error {
	err := each(ctx, s.read, func(scan scanner) error {
		var m memory.Message
		if err := scanMessage(behind(scan, &m.Channel, &m.Guild), &m); err != nil {
			return err
		}
		return do(m)
	}, `SELECT c.id, c.guild, m.id, m.author, m.kind, m.reply_to, m.edited, m.starred, m.tokens, m.content, m.extra
		FROM said m JOIN channel c ON c.no = m.channel WHERE m.author = ? ORDER BY m.channel, m.id`, int64(user))
	return failed(err, "read what user %d wrote", user)
}

// tracesAsked selects the traces of the answers to somebody's questions.
var tracesAsked = fmt.Sprintf(`SELECT t.body FROM named n CROSS JOIN derived d ON d.no = n.derived AND d.kind = %d CROSS JOIN trace t ON t.channel = d.place AND t.answer = d.id
	WHERE n.user = ?1 AND t.body ->> '$.asker' = ?1 ORDER BY t.channel, t.answer`, anAnswer)

// Asked calls do for the trace of every answer to somebody's questions, as they are at one moment.
func (s *Store) Asked(ctx context.Context, user memory.UserID, do func(memory.Trace) error) error {
	err := each(ctx, s.read, func(scan scanner) error {
		var trace memory.Trace
		if err := scanJSON(scan, &trace); err != nil {
			return err
		}
		return do(trace)
	}, tracesAsked, int64(user))
	return failed(err, "read what user %d asked", user)
}
