package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"hark/memory"
	"hark/memory/vectors"
)

// candidate is a message that a rule covered when it was read.
type candidate struct{ row, segment int64 }

// hide marks the messages of a begun forgetting for deletion, in steps, unless they are marked.
func (s *Store) hide(ctx context.Context, id int64) (r memory.DeletionReport, err error) {
	ctx = context.WithoutCancel(ctx)
	var o rule
	if begun, _, err := o.read(ctx, s.engine, id, &r); err != nil || begun != hasBegun {
		return r, err
	}
	var channels string
	if o.Channel != 0 { // threads may have joined the channel since
		err = s.writing(ctx, func(t *transaction) { channels = t.begin(id, o) })
	} else {
		channels, err = o.channels(ctx, s.engine)
	}
	if err != nil {
		return r, err
	}
	var found []candidate
	if err := s.engine.Snapshot(ctx, func(q Querier) (err error) {
		found, err = list(ctx, q, func(scan Scanner, c *candidate) error { return scan(&c.row, &c.segment) },
			"SELECT m.row, m.segment FROM "+o.messages(), o.args(channels)...)
		return err
	}); err != nil {
		return r, err
	}
	slices.SortFunc(found, func(a, b candidate) int { // writes each page of segments and vectors once
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.row, b.row))
	})
	_, err = s.inSteps(ctx, 0, 0, nil, func(t *transaction, limit int) int {
		n := min(limit, len(found))
		for 0 < n && n < len(found) && found[n].segment != 0 && found[n].segment == found[n-1].segment {
			n++ // a segment's messages stay in one step
		}
		r = t.markForDeletion(id, channels, found[:n])
		found = found[n:]
		return n
	})
	return r, err
}

// HideForgotten hides the messages of every begun forgetting, whoever began it.
func HideForgotten(ctx context.Context, s *Store) error {
	ctx = context.WithoutCancel(ctx)
	begun, err := column[int64](ctx, s.engine, "SELECT id FROM forgetting WHERE done = 0 AND begun = ?", hasBegun)
	if err != nil {
		return s.failed(err, "read what is being forgotten")
	}
	for _, id := range begun {
		if _, err := s.hide(ctx, id); err != nil {
			return s.failed(err, "hide what forgetting %d is about", id)
		}
	}
	return nil
}

type pendingDeletion struct {
	rows     []int64
	ids      map[memory.ChannelID][]memory.MessageID
	counted  map[presenceKey]int
	segments map[int64]int // messages by segment
}

// Messages m of some, in channels c, that a rule covers.
const (
	someMessages = "json_each(?7) j CROSS JOIN said m CROSS JOIN channel c"
	thatFall     = ` WHERE (m.guild = ?4 OR ?4 = -1) AND m.row = j.value AND c.guild = m.guild AND c.no = m.channel
		AND c.id IN (SELECT value FROM json_each(?1)) AND m.id < ?2 AND (m.author = ?3 OR ?3 = 0)`
)

// markForDeletion marks the messages of some that a rule covers. It takes them out of counts, segments and
// messageTables, and deletes what was derived from them since the forgetting began. With no messages, it
// records that all are marked.
func (t *transaction) markForDeletion(id int64, channels string, some []candidate) memory.DeletionReport {
	o, _, _, r := t.forgetting(id)
	if len(some) == 0 {
		t.exec("UPDATE forgetting SET begun = ? WHERE id = ?", isHidden, id)
		return r
	}
	rows := make([]int64, len(some))
	for i, c := range some {
		rows[i] = c.row
	}
	args := o.args(channels, jsonOf(rows))
	d := t.fallen(args)
	deleted := t.invalidate(t.madeFromThese(o.Guild, d.ids), cause{hide: o.hides()})
	t.flush()
	t.addDeleted(&r)
	if deleted > 0 { // perhaps some of them
		d = t.fallen(args)
	}
	slices.Sort(d.rows)
	for _, rows := range byGuild(d.rows, SequenceBits+ChannelBits) {
		r.Messages += t.exec(`INSERT INTO pending_deletion (guild, row, forgetting) SELECT ?, value, ? FROM json_each(?)`,
			t.guildOfNo(rows[0]>>SequenceBits), id, jsonOf(rows))
	}
	t.dropMessageRowsOf(o.Guild, d.ids, o.User != 0)
	t.uncount(d.counted)
	segments, embedded := t.shrinkSegments(d.segments)
	r.Segments += segments
	r.Vectors += embedded
	t.changed.Text = true // again, because Erase may have run since begin
	t.exec("UPDATE forgetting SET receipt = ? WHERE id = ?", t.jsonText(r), id)
	return r
}

// fallen returns the messages of some that a rule covers.
func (t *transaction) fallen(args []any) *pendingDeletion {
	d := &pendingDeletion{
		ids:      map[memory.ChannelID][]memory.MessageID{},
		counted:  map[presenceKey]int{},
		segments: map[int64]int{},
	}
	t.each(d.add, "SELECT m.row, c.id, m.id, m.author, m.segment FROM "+someMessages+thatFall, args...)
	return d
}

// madeFromThese selects what is made from messages of a guild, or of memory.Everywhere.
func (t *transaction) madeFromThese(guild memory.GuildID, of map[memory.ChannelID][]memory.MessageID) selection {
	keys := [][2]int64{}
	for channel, ids := range of {
		for _, id := range ids {
			keys = append(keys, [2]int64{int64(channel), int64(id)})
		}
	}
	list := t.jsonText(keys)
	made := selection{guilds: citing(guild)}
	for _, in := range made.guilds {
		made.queries = append(made.queries, selecting{triples + `SELECT s.guild, s.derived, s.repeats, 0 AS itself
			FROM j CROSS JOIN source s WHERE (s.guild = ?2 OR ?2 = -1) AND s.kind = 0 AND s.place = j.a AND s.id = j.b`,
			[]any{list, in}})
	}
	return made
}

func (d *pendingDeletion) add(scan Scanner) error {
	var row, segment int64
	var channel memory.ChannelID
	var id memory.MessageID
	var author memory.UserID
	if err := scan(&row, &channel, &id, &author, &segment); err != nil {
		return err
	}
	d.rows = append(d.rows, row)
	d.ids[channel] = append(d.ids[channel], id)
	if segment != 0 { // counted messages are those in segments
		d.counted[presenceKey{row >> SequenceBits, author}]++
		d.segments[segment]++
	}
	return nil
}

// dropMessageRowsOf deletes the messages' rows in messageTables. A person's rule needs tombstones as well,
// because an id alone doesn't tell whether the rule covers it.
func (t *transaction) dropMessageRowsOf(in memory.GuildID, messages map[memory.ChannelID][]memory.MessageID,
	tombstones bool) {
	for channel, ids := range messages {
		guild := t.guildAt(in, channel)
		for _, table := range messageTables {
			if table != "taken" && t.has("SELECT 1 FROM "+table+" WHERE guild = ? AND channel = ?", guild, channel) {
				t.exec("DELETE FROM "+table+" WHERE guild = ? AND channel = ? AND id IN (SELECT value FROM json_each(?))",
					guild, channel, jsonOf(ids))
			}
		}
		if tombstones {
			t.exec(`INSERT INTO tombstone (guild, channel, id) SELECT ?, ?, value FROM json_each(?) WHERE true
				ON CONFLICT DO NOTHING`, guild, channel, jsonOf(ids))
		}
	}
}

// uncount subtracts messages from the counts of channels and people. presence.last stays: what a forgetting
// leaves is newer.
func (t *transaction) uncount(counted map[presenceKey]int) {
	for of, n := range counted {
		guild := t.guildOfNo(of.channel)
		t.counts[of.channel] -= n
		const whose = " WHERE guild = ? AND channel = ? AND author = ?"
		t.exec("UPDATE presence SET messages = messages - ?"+whose, n, guild, of.channel, of.author)
		t.exec("DELETE FROM presence"+whose+" AND messages <= 0", guild, of.channel, of.author)
	}
}

// shrinkSegments takes so many messages out of each segment and deletes the segments' vectors.
func (t *transaction) shrinkSegments(out map[int64]int) (segments, embedded int) {
	for _, ids := range byGuild(slices.Sorted(maps.Keys(out)), SegmentBits) {
		embedded += t.shrinkInGuild(t.guildOfSegment(ids[0]), ids, out)
	}
	for _, c := range t.store.ingest.channels {
		c.tail = nil // nothing may continue a deleted segment, whose number may be reused
	}
	return len(out), embedded
}

// shrinkInGuild returns how many of a guild's segments had a vector.
func (t *transaction) shrinkInGuild(guild memory.GuildID, shrunk []int64, out map[int64]int) (embedded int) {
	by := map[int][]int64{}
	for _, id := range shrunk {
		by[out[id]] = append(by[out[id]], id)
	}
	next := t.nextFlag()
	for n, ids := range by {
		t.exec(`UPDATE segment SET size = size - ?, version = version + 1, pending = 1, next = ?
			WHERE guild = ? AND id IN (SELECT value FROM json_each(?))`, n, next, guild, jsonOf(ids))
	}
	t.changed.pending = true
	for _, segment := range shrunk {
		t.noteVector(segment, vectors.Row{})
	}
	ids := jsonOf(shrunk)
	for _, set := range []vectorSet{activeSet, shadowSet} {
		embedded = max(embedded,
			t.exec("DELETE FROM "+set.table+" WHERE guild = ? AND segment IN (SELECT value FROM json_each(?))", guild, ids))
	}
	t.exec("DELETE FROM segment WHERE guild = ? AND size <= 0 AND id IN (SELECT value FROM json_each(?))", guild, ids)
	return embedded
}
