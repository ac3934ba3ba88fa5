package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"hark/memory"
)

// recordEvents are about calls, and what they took.
var recordEvents = []handler{
	prepare(prepareRecord),
	handle((*transaction).spend),
}

// encodedRecord is a record to keep.
type encodedRecord struct {
	memory.Record
	body   string
	tokens int
}

func prepareRecord(p *preparer, e memory.Recorded) (write, error) {
	body, err := json.Marshal(e.Record)
	if err != nil {
		return nil, fmt.Errorf("keep a record: %w: %w", err, memory.ErrRefused)
	}
	r := encodedRecord{e.Record, string(body), p.tokens(string(body))}
	return func(t *transaction) { t.keepRecord(r) }, nil
}

// keepRecord keeps a record, unless its subject is gone.
func (t *transaction) keepRecord(r encodedRecord) {
	d := t.decisions()
	if d.hasOptedOut(r.Guild, r.Asker) || d.forgotten(t.channel(r.Guild, r.Channel).location, askedAt(r.Record), r.Asker) {
		return
	}
	var sources []memory.Source
	for _, id := range []memory.MessageID{r.Question, r.Answer} {
		if id != 0 {
			if t.isGone(r.Guild, r.Channel, id) {
				return
			}
			sources = append(sources, memory.Message{Channel: r.Channel, ID: id}.AsSource(false))
		}
	}
	var named []memory.UserID
	for _, id := range r.Named() {
		named = append(named, memory.UserID(id))
	}
	if t.namesForgotten(r.Guild, named, askedAt(r.Record)) {
		return
	}
	guild := t.guildAt(r.Guild, r.Channel)
	no := value[int64](t, `INSERT INTO record (guild, call, channel, asker, at, speaker, method, tokens, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING no`, guild, r.CallID, r.Channel, r.Asker,
		millis(r.Timestamp), r.Speaker, r.Method, r.tokens, t.seal(recordPlace(r.CallID), r.body))
	if no != 0 {
		t.derive(derived{
			kind:    aRecord,
			guild:   guild,
			channel: r.Channel,
			id:      no,
			author:  r.Asker,
			at:      askedAt(r.Record),
		}, sources, named)
	}
}

// askedAt returns when a record's question was asked, as a message id. Rules that end later cover the record.
func askedAt(r memory.Record) memory.MessageID {
	if r.Question != 0 {
		return r.Question
	}
	return memory.FirstMessageID(r.Timestamp)
}

// Records implements memory.Store.
func (s *Store) Records(ctx context.Context, q memory.RecordQuery) ([]memory.Record, error) {
	direction := "DESC"
	limit := math.MaxInt
	if q.Oldest {
		direction = "ASC"
	}
	if q.Limit > 0 {
		limit = q.Limit
	}
	since := int64(math.MinInt64)
	until := int64(math.MaxInt64)
	if !q.Since.IsZero() {
		since = ceilMillis(q.Since)
	}
	if !q.Until.IsZero() {
		until = ceilMillis(q.Until)
	}
	all, err := list(ctx, s.engine, func(scan Scanner, r *memory.Record) error {
		var call string
		return scan(&call, s.vault.opened(asJSON{r}, func() Place { return recordPlace(call) }))
	}, `SELECT call, body FROM record WHERE channel IN (SELECT value FROM json_each(?1)) AND at >= ?2 AND at < ?3
		AND (speaker = ?4 OR ?4 = '') AND (method = ?5 OR ?5 = '') AND (asker = ?6 OR ?6 = 0)
		ORDER BY at `+direction+`, no `+direction+` LIMIT ?7`,
		jsonOf(q.Channels), since, until, q.Speaker, q.Method, q.Asker, limit)
	return all, s.failed(err, "read records of calls")
}

// ceilMillis rounds t up to milliseconds.
func ceilMillis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// Expire implements memory.Store.
func (s *Store) Expire(ctx context.Context, e memory.Expiry) error {
	prompts, err1 := s.forgetPrompts(ctx, e.Prompts)
	records, err2 := s.forgetRecords(ctx, e.Records)
	err3 := s.writing(ctx, func(t *transaction) {
		t.exec("DELETE FROM spent WHERE question < ?", memory.FirstMessageID(e.Spending)) // of all guilds
	})
	var err4 error
	if prompts+records > 0 {
		err4 = s.engine.Erase(ctx, true)
	}
	return errors.Join(s.failed(err1, "forget old prompts"), s.failed(err2, "forget old records of calls"),
		s.failed(err3, "forget what was spent long ago"), s.failed(err4, "erase what expired"))
}

// forgetRecords deletes expired records in steps, oldest first, so an interrupted run leaves the newer ones.
// Records added meanwhile stay.
func (s *Store) forgetRecords(ctx context.Context, l memory.RecordLimits) (total int, err error) {
	type expired struct {
		guild memory.GuildID
		no    int64
	}
	gone, err := list(ctx, s.engine, func(scan Scanner, e *expired) error { return scan(&e.guild, &e.no) },
		`SELECT guild, no FROM (SELECT guild, no, at, row_number() OVER newest AS nth, sum(tokens) OVER newest AS cost
			FROM record
			WINDOW newest AS (PARTITION BY guild, channel ORDER BY at DESC, no DESC ROWS UNBOUNDED PRECEDING)) AS ranked
		WHERE at < ?1 OR nth > ?2 AND ?2 > 0 OR cost > ?3 AND ?3 > 0
		ORDER BY at, no`, millis(l.Before), l.Count, l.Tokens)
	if err != nil {
		return 0, err
	}
	_, err = s.inSteps(ctx, 0, 0, nil, func(t *transaction, limit int) int {
		step := gone[:min(limit, len(gone))]
		gone = gone[len(step):]
		nos := map[memory.GuildID][]int64{}
		for _, e := range step {
			nos[e.guild] = append(nos[e.guild], e.no)
		}
		for guild, some := range nos {
			t.invalidateRecords(guild, some)
		}
		total += t.deletedCounts.Records
		return len(step)
	})
	return total, err
}

// invalidateRecords deletes a guild's records by their numbers, and what was derived from them.
func (t *transaction) invalidateRecords(guild memory.GuildID, nos []int64) {
	t.invalidate(selects(guild, `SELECT d.guild, d.no AS derived, 0 AS repeats, 1 AS itself
		FROM record r CROSS JOIN derived d WHERE r.guild = ?1 AND r.no IN (SELECT value FROM json_each(?2))
		AND d.guild = ?1 AND d.kind = ?3 AND d.place = r.channel AND d.id = r.no`, guild, jsonOf(nos), aRecord), cause{})
}

// fingerprintKey is the fingerprint key's key in meta.
const fingerprintKey = "fingerprints"

// FingerprintKey implements memory.Store.
func (s *Store) FingerprintKey(ctx context.Context) (key []byte, err error) {
	defer func() { err = s.failed(err, "key of fingerprints") }()
	stored, err := s.meta(ctx, fingerprintKey)
	if err != nil {
		return nil, err
	}
	if stored == "" { // another process may be creating it too; the first write wins
		fresh := make([]byte, memory.FingerprintKeyBytes)
		_, _ = rand.Read(fresh) // never fails
		if err := s.writing(ctx, func(t *transaction) {
			t.exec("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", fingerprintKey, hex.EncodeToString(fresh))
			stored = t.meta(fingerprintKey)
		}); err != nil {
			return nil, err
		}
	}
	key, err = hex.DecodeString(stored)
	if err == nil && len(key) != memory.FingerprintKeyBytes {
		err = errors.New("it is damaged")
	}
	return key, err
}

// spend keeps a question's tokens: without the user if they are forgotten or have opted out, and nothing if
// the guild is forgotten.
func (t *transaction) spend(e memory.Spent) {
	var known bool
	e.User, known = t.remembered(e.Guild, e.User, e.Question)
	if !known {
		return
	}
	t.exec(`INSERT INTO spent (guild, question, user, tokens) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (guild, question)
		DO UPDATE SET tokens = max(spent.tokens, ?4)`, e.Guild, e.Question, e.User, e.Tokens)
}

// remembered returns who did something at a time: 0 if they are forgotten or have opted out. It returns false if the
// guild is forgotten.
func (t *transaction) remembered(guild memory.GuildID, user memory.UserID, at memory.MessageID) (memory.UserID, bool) {
	// The widest rule comes first: user 0 is everybody.
	var of memory.UserID
	gone := t.row(`SELECT user FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?1
		AND guild IN (?2, ?3) AND user IN (0, ?4) ORDER BY user LIMIT 1`, at, guild, memory.Everywhere, user).into(&of)
	if gone || t.decisions().hasOptedOut(guild, user) {
		user = 0
	}
	return user, !gone || of != 0
}

// Spending implements memory.Store.
func (s *Store) Spending(ctx context.Context, guild memory.GuildID, day time.Time) (map[memory.UserID]int, error) {
	from, until := memory.Day(day)
	spent, err := mapOf[memory.UserID, int](ctx, s.engine, `SELECT user, sum(tokens) FROM spent
		WHERE guild = ? AND question >= ? AND question < ? GROUP BY user`,
		guild, memory.FirstMessageID(from), memory.FirstMessageID(until))
	return spent, s.failed(err, "read what was spent in server %d", guild)
}

// chooser is who is kept as the one who chose something.
func (t *transaction) chooser(guild memory.GuildID, user memory.UserID, at time.Time) memory.UserID {
	if user != 0 {
		user, _ = t.remembered(guild, user, memory.FirstMessageID(at))
	}
	return user
}
