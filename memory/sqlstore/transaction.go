package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"hark/memory"
)

// transaction is a write under way. What many events of a batch change together is collected and written
// once, by flush.
type transaction struct {
	Tx
	ctx     context.Context
	store   *Store
	changed changes
	lost    memory.Receipt // derived things that went

	terms    []rowTerms // that full text doesn't hold yet
	segments map[int64]*segmentChange
	presence map[presenceKey]*presenceChange
	counts   map[int64]int              // change of channel.messages by channel.no
	heard    map[int64]memory.MessageID // newest told of live by channel.no
}

// segmentChange is what happened to a segment in the transaction.
type segmentChange struct {
	channel     int64
	first, last memory.MessageID // of messages added
	size        int              // added less removed
	torn        bool             // something in it was removed or changed, so that its vector must go
}

type presenceKey struct {
	channel int64
	author  memory.UserID
}

// presenceChange is what happened to what somebody wrote in a channel.
type presenceChange struct {
	messages int              // added less removed
	newest   memory.MessageID // of those added
	removed  bool             // so that the last may be another now
}

func (t *transaction) exec(query string, args ...any) error {
	_, err := t.Exec(query, args...)
	return err
}

// execAll runs several statements with the same arguments.
func (t *transaction) execAll(args []any, queries ...string) error {
	for _, query := range queries {
		if err := t.exec(query, args...); err != nil {
			return err
		}
	}
	return nil
}

// put writes a row in the place of the one with the same key, which are the first of its columns.
func (t *transaction) put(table string, key int, columns string, values ...any) error {
	names := strings.Split(columns, ", ")
	changed := make([]string, 0, len(names)-key)
	for _, name := range names[key:] {
		changed = append(changed, name+" = excluded."+name)
	}
	return t.exec("INSERT INTO "+table+" ("+columns+") VALUES (?"+strings.Repeat(", ?", len(names)-1)+") ON CONFLICT ("+
		strings.Join(names[:key], ", ")+") DO UPDATE SET "+strings.Join(changed, ", "), values...)
}

// note keeps something about the whole database.
func (t *transaction) note(key, value string) error {
	return t.put("meta", 1, "key, value", key, value)
}

func (t *transaction) row(query string, args ...any) Row {
	return RowOf(t.ctx, t, query, args...)
}

// each calls f for every row.
func (t *transaction) each(f func(scan Scanner) error, query string, args ...any) error {
	return Each(t.ctx, t, f, query, args...)
}

// eachKey calls f for every row of two numbers, once all are read, so that it may write.
func (t *transaction) eachKey(f func(place, id int64) error, query string, args ...any) error {
	keys, err := list(t.ctx, t, func(scan Scanner, k *[2]int64) error { return scan(&k[0], &k[1]) }, query, args...)
	for _, k := range keys {
		if err == nil {
			err = f(k[0], k[1])
		}
	}
	return err
}

// segment is the change of a segment, to be added to.
func (t *transaction) segment(id, channel int64) *segmentChange {
	c, ok := t.segments[id]
	if !ok {
		if t.segments == nil {
			t.segments = map[int64]*segmentChange{}
		}
		c = &segmentChange{channel: channel}
		t.segments[id] = c
	}
	return c
}

// count notes that a message that full text holds came (1) or went (-1).
func (t *transaction) count(m memory.Message, channel int64, change int) {
	if t.counts == nil {
		t.counts = map[int64]int{}
		t.presence = map[presenceKey]*presenceChange{}
	}
	t.counts[channel] += change
	key := presenceKey{channel, m.Author}
	p, ok := t.presence[key]
	if !ok {
		p = &presenceChange{newest: noMessage}
		t.presence[key] = p
	}
	p.messages += change
	if change > 0 {
		p.newest = max(p.newest, m.ID)
	} else {
		p.removed = true
	}
}

// noMessage is smaller than every id.
const noMessage memory.MessageID = -1 << 63

// flush writes what was collected.
func (t *transaction) flush() error {
	if err := t.flushTerms(); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(t.segments)) {
		if err := t.flushSegment(id, t.segments[id]); err != nil {
			return err
		}
	}
	for key, change := range t.presence {
		if err := t.flushPresence(key, change); err != nil {
			return err
		}
	}
	for channel, id := range t.heard {
		if _, ok := t.counts[channel]; !ok {
			if err := t.exec("UPDATE channel SET heard = max(heard, ?) WHERE no = ?", int64(id), channel); err != nil {
				return err
			}
		}
	}
	for channel, change := range t.counts {
		if err := t.exec("UPDATE channel SET messages = messages + ?, heard = max(heard, ?) WHERE no = ?",
			change, int64(t.heard[channel]), channel); err != nil {
			return err
		}
	}
	t.segments, t.presence, t.counts, t.heard = nil, nil, nil, nil
	return nil
}

// hear notes that a message was told of live.
func (t *transaction) hear(channel int64, id memory.MessageID) {
	if t.heard == nil {
		t.heard = map[int64]memory.MessageID{}
	}
	t.heard[channel] = max(t.heard[channel], id)
}

func (t *transaction) flushSegment(id int64, c *segmentChange) error {
	t.changed.pending = true
	first, last := c.first, c.last
	if first == 0 && last == 0 { // only removals or edits: the span stays
		first, last = 1<<62, -1<<62
	}
	// Versions begin at a number of the segment's own, so that a vector made for one that is gone never fits
	// another that was given its id.
	err := t.exec(`INSERT INTO segment (id, channel, first, last, size, version, pending, next)
		VALUES (?1, ?2, ?3, ?4, ?5, ?3, 1, (SELECT count(*) FROM meta WHERE key = 'next'))
		ON CONFLICT (id) DO UPDATE SET first = min(segment.first, ?3), last = max(segment.last, ?4), size = segment.size + ?5,
		version = segment.version + 1, pending = 1, next = excluded.next`, id, c.channel, first, last, c.size)
	if err != nil || !c.torn {
		return err
	}
	if err := t.tear(id); err != nil {
		return err
	}
	return t.exec("DELETE FROM segment WHERE id = ? AND size <= 0", id)
}

func (t *transaction) flushPresence(key presenceKey, c *presenceChange) error {
	err := t.exec(`INSERT INTO presence (channel, author, messages, last) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (channel, author) DO UPDATE SET messages = presence.messages + ?3, last = max(presence.last, ?4)`,
		key.channel, key.author, c.messages, c.newest)
	if err != nil || !c.removed {
		return err
	}
	if err := t.exec("DELETE FROM presence WHERE channel = ? AND author = ? AND messages <= 0", key.channel,
		key.author); err != nil {
		return err
	}
	// Reading back through the channel is slow for somebody who hasn't written for long, but only deleting does it.
	return t.exec(`UPDATE presence SET last = (SELECT id FROM said WHERE channel = ?1 AND author = ?2
			AND kind IN (`+recalledKinds+`) ORDER BY id DESC LIMIT 1) WHERE channel = ?1 AND author = ?2`,
		key.channel, key.author)
}

// recalledKinds are the kinds that memory.Kind.Recalled reports true for.
const recalledKinds = "0, 1, 2"
