package sqlstore

import (
	"context"
	"strings"
	"sync"

	"hark/memory"
	"hark/memory/seal"
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
	return &transaction{
		Tx:       tx,
		ctx:      ctx,
		store:    s,
		vectors:  map[int64]vectors.Change{},
		changed:  changes{structure: map[memory.GuildID]bool{}, people: map[memory.GuildID]bool{}},
		segments: map[int64]*segmentChange{},
		presence: map[presenceKey]*presenceChange{},
		counts:   map[int64]int{},
		heard:    map[int64]memory.MessageID{},
	}
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

// hear records a live message.
func (t *transaction) hear(channel int64, id memory.MessageID) {
	t.heard[channel] = max(t.heard[channel], id)
}

// nextFlag returns segment.next of a segment that has no vectors: 1 while a next set of vectors is filled.
func (t *transaction) nextFlag() int {
	return value[int](t, "SELECT count(*) FROM meta WHERE key = 'next'")
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

// recalledKinds are the kinds for which memory.Kind.Recalled is true.
const recalledKinds = "0, 1, 2"

// changes is what a transaction changed that readers cache.
type changes struct {
	Changes
	structure map[memory.GuildID]bool // guilds that changed, or their roles or channels; Everywhere: all
	people    map[memory.GuildID]bool // guilds whose people or lore changed
	space     bool                    // the active vectors, or which segments have which numbers
	pending   bool
	newest    memory.MessageID
}

// dropped holds the newest messages that were dropped because of their author, whom edits, stars, names and
// deletions don't name.
type dropped struct{ newer, older map[memory.MessageRef]bool }

func (d *dropped) has(channel memory.ChannelID, id memory.MessageID) bool {
	at := memory.MessageRef{Channel: channel, Message: id}
	return d.newer[at] || d.older[at]
}

// decisionCache holds the opt-outs and forgettings that every message is checked against.
type decisionCache struct {
	out   map[memory.Membership]bool
	rules []rule
	// newest is the greatest end of a rule that isn't endless. Most new messages are past it.
	newest memory.MessageID
}

// channel is what the writer caches of a channel.
type channel struct {
	location
	nameless bool          // known only by its messages
	owner    memory.UserID // of a thread; 0: unknown
	no       int64
	next     int64
	// highest is the greatest id of its messages, early edits, stars, tombstones and sources.
	highest memory.MessageID
	// tail are the last messages in segments, oldest first, at most memory.LookBack; nil: not read.
	tail []memory.Placed
}

// ingest commits in groups: whoever gets the write lock commits all callers' waiting batches in one
// transaction. It has no goroutine of its own.
type ingest struct {
	mu      sync.Mutex
	waiting []*batch

	// Caches, used only by the holder of the write lock.
	channels  map[memory.ChannelID]*channel
	guildNos  map[memory.GuildID]int64
	guildIDs  map[int64]memory.GuildID
	segments  map[int64]int64 // last segment id by guild number
	decisions *decisionCache
	dropped   dropped
}

// numbers maps channels to their numbers, and back.
type numbers struct {
	of     map[memory.ChannelID]int64
	ids    map[int64]memory.ChannelID
	guilds map[int64]memory.GuildID // by their own numbers
}

// Vault seals and opens the values of a sealed memory. A nil one is that of a plain memory: it leaves all as it is.
type Vault struct {
	cipher   *seal.Cipher
	textOnly bool // columns of text hold no other bytes
}

// rule is a forgetting, and what it covers now and later.
type rule struct {
	memory.Forgetting
	end   memory.MessageID // exclusive; or endless
	whole bool             // covers everything up to its own time
}

type rowTerms struct {
	row   int64
	terms string
}

// event is an event that is ready to be applied.
type event struct{ write write }

type batch struct {
	events  []event
	forgets bool       // whether its events begin a forgetting
	decides bool       // whether it has a decision: see memory.Decides
	done    chan error // buffered; gets the outcome
}

// write is an event's change of the database.
type write func(*transaction)

type location struct {
	guild   memory.GuildID
	channel memory.ChannelID
	parent  memory.ChannelID // of a thread
}
