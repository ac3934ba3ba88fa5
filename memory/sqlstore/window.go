package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"hark/memory"
)

// readBounds finds the first and last id of the window round each id, from the index alone. Limits are
// written ?+0, because SQLite prepares a statement again if its limit is a bare parameter.
const readBounds = triples + `SELECT j.a, j.b,
	(SELECT id FROM said WHERE guild = ?4 AND channel = j.a AND id < j.b ORDER BY id DESC LIMIT 1 OFFSET ?2+0),
	(SELECT id FROM said WHERE guild = ?4 AND channel = j.a AND id > j.b ORDER BY id LIMIT 1 OFFSET ?3+0)
	FROM j`

const readSpans = triples + "SELECT j.n, " + storedColumns + ` FROM j CROSS JOIN said
	ON guild = ?2 AND channel = j.a AND id BETWEEN j.b AND j.c`

// span is a channel's number and the first and last id of a range in it.
type span [3]int64

// window is how many messages to read before and after one.
type window struct{ before, after int }

type windows map[window]map[int64][]memory.MessageID

// Around implements memory.Store.
func (s *Store) Around(ctx context.Context, channel memory.ChannelID, ids []memory.MessageID,
	before, after int) ([]memory.Message, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	_, no, ok := s.channelNo(channel)
	if !ok || len(ids) == 0 {
		return nil, nil
	}
	if before <= 0 && after <= 0 {
		return s.messages(ctx, channel, "id IN (SELECT value FROM json_each(?)) ORDER BY id", jsonOf(ids))
	}
	round := window{min(max(before, 0), math.MaxInt32), min(max(after, 0), math.MaxInt32)}
	stretches, err := s.stretches(ctx, windows{round: {no: ids}})
	return slices.Concat(stretches...), s.failed(err, "read messages of channel %d", channel)
}

// Windows implements memory.Store.
func (s *Store) Windows(ctx context.Context, reach map[memory.MessageRef]int) ([][]memory.Message, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	w := windows{}
	for spot, n := range reach {
		if _, no, ok := s.channelNo(spot.Channel); ok {
			round := window{n, n}
			if w[round] == nil {
				w[round] = map[int64][]memory.MessageID{}
			}
			w[round][no] = append(w[round][no], spot.Message)
		}
	}
	stretches, err := s.stretches(ctx, w)
	return stretches, s.failed(err, "read messages")
}

// stretches reads the windows, as of one moment.
func (s *Store) stretches(ctx context.Context, w windows) (stretches [][]memory.Message, err error) {
	nos := s.numbers()
	err = s.engine.Snapshot(ctx, func(q Querier) error {
		var spans []span
		for round, ids := range w {
			some, err := round.spans(ctx, q, nos, ids)
			if err != nil {
				return err
			}
			spans = append(spans, some...)
		}
		near := len(spans)
		spans = mergeSpans(spans)
		all := make([]memory.Message, 0, 12*len(spans)+2*near)
		for _, some := range spansByGuild(spans) {
			before := len(all)
			all, err = s.vault.readSpans(ctx, q, nos, some, all)
			if err != nil {
				return err
			}
			stretches = append(stretches, stretchesOf(all[before:], some, nos)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stretches, nil
}

// readSpans appends the messages of spans of one guild, which are ascending, by span and id.
func (v *Vault) readSpans(ctx context.Context, q Querier, nos numbers, spans []span,
	all []memory.Message) ([]memory.Message, error) {
	list, err := jsonText(spans)
	if err != nil {
		return nil, err
	}
	var m memory.Message
	var at, last int64
	columns := append([]any{asInt[int64]{&at}}, v.messageColumns(&m, func() int64 { return spans[at][0] })...)
	before := len(all)
	ordered := true
	err = Each(ctx, q, func(scan Scanner) error {
		m = memory.Message{}
		if err := scan(columns...); err != nil {
			return err
		}
		ordered = ordered && (at > last || at == last && (len(all) == before || all[len(all)-1].ID < m.ID))
		last = at
		no := spans[at][0]
		m.Guild = nos.guildOf(no)
		m.Channel = nos.ids[no]
		all = append(all, m)
		return nil
	}, readSpans, list, nos.guildOf(spans[0][0]))
	if !ordered { // SQLite reads them in order, and would sort them for ORDER BY
		slices.SortFunc(all[before:], func(a, b memory.Message) int {
			return cmp.Or(cmp.Compare(nos.of[a.Channel], nos.of[b.Channel]), cmp.Compare(a.ID, b.ID))
		})
	}
	return all, err
}

// stretchesOf cuts the messages of spans, both ascending, into those of each.
func stretchesOf(all []memory.Message, spans []span, nos numbers) (stretches [][]memory.Message) {
	for _, s := range spans {
		n := 0
		for n < len(all) && nos.of[all[n].Channel] == s[0] && int64(all[n].ID) <= s[2] {
			n++
		}
		if n > 0 {
			stretches = append(stretches, all[:n:n])
			all = all[n:]
		}
	}
	return stretches
}

// spansByGuild splits ascending spans by guild.
func spansByGuild(spans []span) (guilds [][]span) {
	for len(spans) > 0 {
		n := slices.IndexFunc(spans, func(s span) bool { return GuildOf(s[0]) != GuildOf(spans[0][0]) })
		if n < 0 {
			n = len(spans)
		}
		guilds = append(guilds, spans[:n])
		spans = spans[n:]
	}
	return guilds
}

// spans returns the windows round ids. Of many ids in a row it looks up a few: windows that meet include the
// ids between them.
func (round window) spans(ctx context.Context, q Querier, nos numbers,
	ids map[int64][]memory.MessageID) ([]span, error) {
	const pause = memory.MessageID(time.Hour/time.Millisecond) << 22 // between ids; it ends a row
	each := max(1, (round.before+round.after)/2)
	some := map[int64][]memory.MessageID{}
	for no, all := range ids {
		all := slices.Compact(slices.Sorted(slices.Values(all)))
		last := 0
		for i, id := range all {
			if i == 0 || i == len(all)-1 || i-last >= each || id-all[i-1] > pause || all[i+1]-id > pause {
				some[no] = append(some[no], id)
				last = i
			}
		}
	}
	spans, err := round.bounds(ctx, q, nos, some)
	if err != nil {
		return nil, err
	}
	left := map[int64][]memory.MessageID{}
	met := mergeSpans(slices.Clone(spans))
	for no, asked := range some {
		for i := 1; i < len(asked); i++ {
			a := int64(asked[i-1])
			b := int64(asked[i])
			if slices.ContainsFunc(met, func(s span) bool { return s[0] == no && s[1] <= a && b <= s[2] }) {
				continue
			}
			for _, id := range ids[no] {
				if a < int64(id) && int64(id) < b {
					left[no] = append(left[no], id)
				}
			}
		}
	}
	if len(left) == 0 {
		return spans, nil
	}
	more, err := round.bounds(ctx, q, nos, left)
	return append(spans, more...), err
}

func (round window) bounds(ctx context.Context, q Querier, nos numbers,
	ids map[int64][]memory.MessageID) (spans []span, err error) {
	pairs := map[memory.GuildID][][2]int64{}
	for no, some := range ids {
		guild := nos.guildOf(no)
		for _, id := range some {
			pairs[guild] = append(pairs[guild], [2]int64{no, int64(id)})
		}
	}
	for guild, some := range pairs {
		spans, err = round.boundsIn(ctx, q, guild, some, spans)
		if err != nil {
			return nil, err
		}
	}
	return spans, nil
}

func (round window) boundsIn(ctx context.Context, q Querier, guild memory.GuildID, pairs [][2]int64,
	spans []span) ([]span, error) {
	list, err := jsonText(pairs)
	if err != nil {
		return nil, err
	}
	err = Each(ctx, q, func(scan Scanner) error {
		var no, id int64
		var first, last sql.Null[int64]
		err := scan(&no, &id, &first, &last)
		one := span{no, id, id}
		if round.before > 0 {
			one[1] = int64(noMessage)
			if first.Valid {
				one[1] = first.V
			}
		}
		if round.after > 0 {
			one[2] = math.MaxInt64
			if last.Valid {
				one[2] = last.V
			}
		}
		spans = append(spans, one)
		return err
	}, readBounds, list, max(round.before-1, 0), max(round.after-1, 0), guild)
	return spans, err
}

func mergeSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return slices.Compare(a[:], b[:]) })
	all := spans[:0]
	for _, s := range spans {
		if n := len(all); n > 0 && s[0] == all[n-1][0] && s[1] <= all[n-1][2] {
			all[n-1][2] = max(all[n-1][2], s[2])
		} else {
			all = append(all, s)
		}
	}
	return all
}

func (s *Store) messages(ctx context.Context, channel memory.ChannelID, where string,
	args ...any) ([]memory.Message, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, no, ok := s.channelNo(channel)
	if !ok {
		return nil, nil
	}
	read := func(scan Scanner, m *memory.Message) error {
		m.Guild = guild
		m.Channel = channel
		return s.vault.scanMessage(scan, m, func() int64 { return no })
	}
	query := "SELECT " + storedColumns + " FROM said WHERE guild = ? AND channel = ? AND " + where
	messages, err := list(ctx, s.engine, read, query, append([]any{guild, no}, args...)...)
	return messages, s.failed(err, "read messages of channel %d", channel)
}

// SegmentsOf implements memory.Store.
func (s *Store) SegmentsOf(ctx context.Context, channel memory.ChannelID,
	ids []memory.MessageID) (map[memory.MessageID]int64, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, no, ok := s.channelNo(channel)
	if !ok {
		return nil, nil
	}
	segments, err := mapOf[memory.MessageID, int64](ctx, s.engine, `SELECT id, segment FROM said WHERE guild = ?
		AND channel = ? AND id IN (SELECT value FROM json_each(?)) AND segment <> 0`, guild, no, jsonOf(ids))
	return segments, s.failed(err, "read the segments of messages")
}

// Log implements memory.Store.
func (s *Store) Log(ctx context.Context, channel memory.ChannelID, after, until memory.MessageID,
	limit int) ([]memory.Message, error) {
	return s.messages(ctx, channel, "id > ? AND id <= ? ORDER BY id LIMIT ?+0", after, until, max(limit, 0))
}
