package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"hark/memory"
)

const (
	day     = 24 * time.Hour
	idsADay = memory.MessageID(day/time.Millisecond) << 22

	between = "FROM said WHERE guild = ?6 AND channel = j.value AND id >= ?2 AND id < ?3"
	// readActive finds the first and last id to count in each channel of guild ?6. If ?4, the first has at most ?5 after
	// it.
	readActive = `SELECT j.value, coalesce((SELECT id ` + between + ` AND ?4 ORDER BY id DESC LIMIT 1 OFFSET ?5+0),
		(SELECT id ` + between + ` ORDER BY id LIMIT 1)), (SELECT id ` + between + ` ORDER BY id DESC LIMIT 1)
		FROM json_each(?1) j`
)

// countActive counts the messages of the spans ?1 of guild ?3 on each day of ?2, by authors ?4 if some is set. To group
// messages, SQLite sorts them all: counting each day's by the index takes a tenth of the time.
func countActive(byAuthor, some bool) string {
	onDay := fmt.Sprintf(`s CROSS JOIN said m ON m.guild = ?3 AND m.channel = s.a
		AND m.id >= max(s.b, d.value) AND m.id <= min(s.c, d.value + %[1]d)
		WHERE s.b <= d.value + %[1]d AND s.c >= d.value`, idsADay-1)
	if some {
		onDay += " AND m.author IN (SELECT value FROM json_each(?4))"
	}
	const spans = "WITH s AS MATERIALIZED (SELECT a, b, c FROM " + Triples + " j) "
	if byAuthor {
		return spans + "SELECT d.value, m.author, count(*) FROM json_each(?2) d CROSS JOIN " + onDay +
			" GROUP BY d.value, m.author"
	}
	return spans + "SELECT d.value, 0, (SELECT count(*) FROM " + onDay + ") FROM json_each(?2) d"
}

// Activity implements memory.Store.
func (s *Store) Activity(ctx context.Context, scope memory.Scope, byAuthor bool, limit int) ([]memory.Activity, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	counts := map[memory.Activity]int{} // by day and author
	nos := s.numbers()
	err := s.engine.Snapshot(ctx, func(q Querier) error {
		for _, channels := range byGuild(s.channelNos(scope), ChannelBits) {
			guild := nos.guildOf(channels[0])
			spans, err := activeSpans(ctx, q, guild, channels, scope, limit)
			if err == nil && len(spans) > 0 {
				err = countActivity(ctx, q, guild, spans, scope.Authors, byAuthor, counts)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.failed(err, "count messages by day")
	}
	all := make([]memory.Activity, 0, len(counts))
	for of, n := range counts {
		of.Messages = n
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b memory.Activity) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Author, b.Author))
	})
	return all, nil
}

// activeSpans returns the ranges of the messages to count in channels of one guild, where there are some.
func activeSpans(ctx context.Context, q Querier, guild memory.GuildID, channels []int64, scope memory.Scope,
	limit int) (spans []span, err error) {
	since := noMessage
	until := endless
	if !scope.Since.IsZero() {
		since = FirstAt(scope.Since)
	}
	if !scope.Until.IsZero() {
		until = FirstAt(scope.Until)
	}
	err = Each(ctx, q, func(scan Scanner) error {
		var no int64
		var first, last sql.Null[int64]
		err := scan(&no, &first, &last)
		if first.Valid {
			spans = append(spans, span{no, first.V, last.V})
		}
		return err
	}, readActive, jsonOf(channels), since, until, limit > 0, max(limit-1, 0), guild)
	return spans, err
}

// countActivity adds the messages of spans in one guild to counts.
func countActivity(ctx context.Context, q Querier, guild memory.GuildID, spans []span, authors []memory.UserID,
	byAuthor bool, counts map[memory.Activity]int) error {
	list, err := jsonText(spans)
	if err != nil {
		return err
	}
	args := []any{list, jsonOf(daysOf(spans)), guild}
	if len(authors) > 0 {
		args = append(args, jsonOf(authors))
	}
	return Each(ctx, q, func(scan Scanner) error {
		var on memory.MessageID
		var of memory.Activity
		var n int
		err := scan(asInt[memory.MessageID]{&on}, asInt[memory.UserID]{&of.Author}, asInt[int]{&n})
		of.Day = on.Time()
		if n > 0 {
			counts[of] += n
		}
		return err
	}, countActive(byAuthor, len(authors) > 0), args...)
}

// daysOf returns the first id of each day from the first to the last message of spans. The days on which ids begin and
// end, in 1945 and 2084, are left out: they aren't whole.
func daysOf(spans []span) (days []memory.MessageID) {
	first := int64(math.MaxInt64)
	last := int64(math.MinInt64)
	for _, s := range spans {
		first = min(first, s[1])
		last = max(last, s[2])
	}
	for at := memory.MessageID(first).Time().Truncate(day); !at.After(memory.MessageID(last).Time()); at = at.Add(day) {
		if id := memory.FirstMessageID(at); id > math.MinInt64 && id <= math.MaxInt64-idsADay {
			days = append(days, id)
		}
	}
	return days
}
