package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"hark/memory"
	"hark/memory/vectors"
)

// transaction is a running write. It collects what a batch of events changes, and flush writes it once.
//
// A failure undoes all of it, and no caller on the way up can help. So its methods panic instead of returning
// errors (ensure), and Store.transact, which begins every transaction, returns the cause.
type transaction struct {
	Tx
	ctx           context.Context
	store         *Store
	changed       changes
	deletedCounts memory.DeletionReport    // derived things deleted
	hideNext      bool                     // whether the caller must hide a forgetting next
	vectors       map[int64]vectors.Change // of the active vectors, by the guild's number

	terms    []rowTerms // not yet written to full text
	segments map[int64]*segmentChange
	presence map[presenceKey]*presenceChange
	counts   map[int64]int              // change of channel.messages by channel.no
	heard    map[int64]memory.MessageID // newest live message by channel.no
}

func (s *Store) newTransaction(ctx context.Context, tx Tx) *transaction {
	return &transaction{Tx: tx, ctx: ctx, store: s,
		vectors:  map[int64]vectors.Change{},
		changed:  changes{structure: map[memory.GuildID]bool{}, people: map[memory.GuildID]bool{}},
		segments: map[int64]*segmentChange{}, presence: map[presenceKey]*presenceChange{},
		counts: map[int64]int{}, heard: map[int64]memory.MessageID{}}
}

type failure struct{ error }

// ensure stops the running transaction if err isn't nil.
func ensure(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// recoverFailure, deferred, sets err to what stopped a transaction.
func recoverFailure(err *error) {
	switch reason := recover().(type) {
	case nil:
	case failure:
		*err = reason.error
	default:
		panic(reason)
	}
}

type segmentChange struct {
	channel     int64
	first, last memory.MessageID // of messages added
	size        int              // added minus removed
	isNew       bool             // it isn't stored yet
	invalid     bool             // its vector must go: something in it was removed or changed
}

type presenceKey struct {
	channel int64
	author  memory.UserID
}

// presenceChange is the change in a person's messages in a channel.
type presenceChange struct {
	messages int              // added minus removed
	newest   memory.MessageID // of those added
	removed  bool
}

func (t *transaction) exec(query string, args ...any) int {
	n, err := t.Exec(query, args...)
	ensure(err)
	return n
}

func (t *transaction) later(query string, args ...any) { ensure(t.Later(query, args...)) }

func (t *transaction) execAll(args []any, queries ...string) {
	for _, query := range queries {
		t.exec(query, args...)
	}
}

// table is a table whose first columns are its key.
type table struct {
	name    string
	key     int
	columns string
}

func (to table) upsert(rows string) string {
	names := strings.Split(to.columns, ", ")
	changed := make([]string, 0, len(names)-to.key)
	for _, name := range names[to.key:] {
		changed = append(changed, name+" = excluded."+name)
	}
	return "INSERT INTO " + to.name + " (" + to.columns + ") " + rows + " ON CONFLICT (" +
		strings.Join(names[:to.key], ", ") + ") DO UPDATE SET " + strings.Join(changed, ", ")
}

func values(n int) string { return "VALUES (?" + strings.Repeat(", ?", n-1) + ")" }

func (t *transaction) put(to table, row ...any) { t.exec(to.upsert(values(len(row))), row...) }

// Tables of decisions: the latest by at wins.
var (
	optedTable      = table{"opted", 2, "guild, user, out, at"}
	learnTable      = table{"learn", 2, "guild, user, allow, at"}
	connectionTable = table{"connection", 2, "guild, user, hash, at, uses, used"}
	settingTable    = table{"setting", 3, "guild, channel, key, value, at, chooser"}
	limitTable      = table{"role_limit", 2, "guild, role, messages, tokens, at, chooser"}
	starTable       = table{"star", 3, "channel, id, guild, starred, at"}
)

func (to table) upsertNewer(rows string) string {
	return to.upsert(rows) + " WHERE excluded.at > " + to.name + ".at"
}

// putNewer is put unless the existing row is at least as new. It reports whether it wrote.
func (t *transaction) putNewer(to table, row ...any) bool {
	return t.exec(to.upsertNewer(values(len(row))), row...) > 0
}

// note sets a key in meta.
func (t *transaction) note(key, value string) { t.put(table{"meta", 1, "key, value"}, key, value) }

func (t *transaction) meta(key string) string {
	return value[string](t, "SELECT value FROM meta WHERE key = ?", key)
}

func (t *transaction) row(query string, args ...any) answer {
	return answer{RowOf(t.ctx, t, query, args...)}
}

type answer struct{ Row }

// into scans a row and reports whether there is one.
func (a answer) into(dest ...any) bool {
	found, err := Found(a.Scan(dest...))
	ensure(err)
	return found
}

func (t *transaction) has(query string, args ...any) bool {
	return t.row(query, args...).into(new(any))
}

// value returns the only column of a query's first row, or zero.
func value[T any](t *transaction, query string, args ...any) (v T) {
	t.row(query, args...).into(&v)
	return v
}

func (t *transaction) each(f func(scan Scanner) error, query string, args ...any) {
	ensure(Each(t.ctx, t, f, query, args...))
}

// listIn returns the rows of a query, each as read fills it.
func listIn[T any](t *transaction, read func(scan Scanner, to *T) error, query string, args ...any) []T {
	all, err := list(t.ctx, t, read, query, args...)
	ensure(err)
	return all
}

// columnIn returns the only column of a query.
func columnIn[T any](t *transaction, query string, args ...any) []T {
	all, err := column[T](t.ctx, t, query, args...)
	ensure(err)
	return all
}

// jsonText returns v as JSON.
func (t *transaction) jsonText(v any) string {
	text, err := jsonText(v)
	ensure(err)
	return text
}

// eachKey calls f for every row of two numbers. f may write.
func eachKey[P, I ~int64](t *transaction, f func(place P, id I), query string, args ...any) {
	type key struct {
		place P
		id    I
	}
	for _, k := range listIn(t, func(scan Scanner, k *key) error { return scan(&k.place, &k.id) },
		query, args...) {
		f(k.place, k.id)
	}
}

func (t *transaction) segment(id, channel int64) *segmentChange {
	c, ok := t.segments[id]
	if !ok {
		c = &segmentChange{channel: channel}
		t.segments[id] = c
	}
	return c
}

// count counts a message in full text as added (1) or removed (-1).
func (t *transaction) count(m memory.Message, channel int64, change int) {
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

const noMessage memory.MessageID = -1 << 63

func (t *transaction) flush() {
	t.flushTerms()
	t.flushSegments()
	for key, change := range t.presence {
		t.flushPresence(key, change)
	}
	for channel, id := range t.heard {
		if _, ok := t.counts[channel]; !ok {
			guild := t.guildOfNo(channel)
			t.later("UPDATE channel SET heard = max(heard, ?) WHERE guild = ? AND no = ?", id, guild, channel)
		}
	}
	for channel, change := range t.counts {
		guild := t.guildOfNo(channel)
		t.later("UPDATE channel SET messages = messages + ?, heard = max(heard, ?) WHERE guild = ? AND no = ?",
			change, t.heard[channel], guild, channel)
	}
	clear(t.segments)
	clear(t.presence)
	clear(t.counts)
	clear(t.heard)
}

// hear records a live message.
func (t *transaction) hear(channel int64, id memory.MessageID) {
	t.heard[channel] = max(t.heard[channel], id)
}

func (t *transaction) flushSegments() {
	if len(t.segments) == 0 {
		return
	}
	t.changed.pending = true
	next := t.nextFlag()
	for _, id := range slices.Sorted(maps.Keys(t.segments)) {
		t.flushSegment(id, t.segments[id], next)
	}
}

// nextFlag returns segment.next of a segment that has no vectors: 1 while a next set of vectors is filled.
func (t *transaction) nextFlag() int {
	return value[int](t, "SELECT count(*) FROM meta WHERE key = 'next'")
}

func (t *transaction) flushSegment(id int64, c *segmentChange, next int) {
	guild := t.guildOfNo(c.channel)
	if c.isNew {
		// A version starts at the first message's id, so a vector of a deleted segment never fits one that
		// reuses its id.
		t.later(`INSERT INTO segment (guild, id, channel, first, last, size, version, pending, next)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?4, 1, ?7)`, guild, id, c.channel, c.first, c.last, c.size, next)
	} else {
		t.growSegment(guild, id, c, next)
	}
	if c.invalid {
		t.deleteVectors(guild, id)
		t.exec("DELETE FROM segment WHERE guild = ? AND id = ? AND size <= 0", guild, id)
	}
}

// growSegment writes the change of a stored segment.
func (t *transaction) growSegment(guild memory.GuildID, id int64, c *segmentChange, next int) {
	first := c.first
	last := c.last
	if first == 0 && last == 0 { // only removals or edits: the span stays
		first = 1 << 62
		last = -1 << 62
	}
	t.later(`UPDATE segment SET first = min(first, ?), last = max(last, ?), size = size + ?, version = version + 1,
		pending = 1, next = ? WHERE guild = ? AND id = ?`, first, last, c.size, next, guild, id)
}

func (t *transaction) flushPresence(key presenceKey, c *presenceChange) {
	guild := t.guildOfNo(key.channel)
	t.later(`INSERT INTO presence (guild, channel, author, messages, last) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (channel, author, guild) DO UPDATE SET messages = presence.messages + ?4,
		last = max(presence.last, ?5)`, guild, key.channel, key.author, c.messages, c.newest)
	if !c.removed {
		return
	}
	t.exec("DELETE FROM presence WHERE guild = ? AND channel = ? AND author = ? AND messages <= 0", guild, key.channel,
		key.author)
	t.exec(`UPDATE presence SET last = (SELECT id FROM said WHERE guild = ?1 AND channel = ?2 AND author = ?3
			AND kind IN (`+recalledKinds+`) ORDER BY id DESC LIMIT 1) WHERE guild = ?1 AND channel = ?2 AND author = ?3`,
		guild, key.channel, key.author)
}

// recalledKinds are the kinds for which memory.Kind.Recalled is true.
const recalledKinds = "0, 1, 2"
