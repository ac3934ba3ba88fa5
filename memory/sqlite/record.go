package sqlite

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hark/memory"
)

// preparedRecord is a record with what can be worked out before its turn to be written.
type preparedRecord struct {
	memory.Record
	body   string
	tokens int
}

func (s *Store) prepareRecord(r memory.Record) (preparedRecord, error) {
	r, err := r.Checked()
	if err != nil {
		return preparedRecord{}, err
	}
	body, err := json.Marshal(r)
	return preparedRecord{r, string(body), s.options.Tokens(string(body))}, err
}

// keepRecord keeps a record, unless what it is about is gone.
func (t *transaction) keepRecord(r preparedRecord) error {
	d, err := t.decisions()
	if err != nil || d.out[member{r.Guild, r.Asker}] {
		return err
	}
	c, err := t.channel(r.Guild, r.Channel)
	if err != nil || d.forgotten(c.spot, momentOf(r.Record), r.Asker) {
		return err
	}
	for _, id := range []memory.MessageID{r.Question, r.Answer} {
		if id == 0 {
			continue
		}
		if gone, err := t.isGone(r.Guild, r.Channel, id); gone || err != nil {
			return err
		}
	}
	named := jsonOf(r.Named())
	if gone, err := t.namesForgotten(r.Record, named); gone || err != nil {
		return err
	}
	return t.exec(`INSERT OR IGNORE INTO record (call, guild, channel, question, asker, answer, at, speaker, method, tokens, named, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.CallID, int64(r.Guild), int64(r.Channel), int64(r.Question), int64(r.Asker), int64(r.Answer),
		millis(r.Timestamp), string(r.Speaker), r.Method, r.tokens, named, r.body)
}

// namesForgotten reports whether any of named, ids as JSON, is somebody who has opted out or was forgotten as a whole since
// a record was made. What is asked at the command line may name people of any guild.
func (t *transaction) namesForgotten(r memory.Record, named string) (bool, error) {
	if named == "[]" {
		return false, nil
	}
	return found(t.row(`SELECT 1 FROM opted WHERE out = 1 AND ?1 IN (guild, ?2) AND user IN (SELECT value FROM json_each(?3))
		UNION ALL SELECT 1 FROM forgetting WHERE whole = 1 AND channel = 0 AND before > ?4 AND (guild IN (?1, ?5) OR ?1 = ?2)
		AND user IN (SELECT value FROM json_each(?3)) LIMIT 1`, int64(r.Guild), int64(memory.LocalGuild), named,
		int64(memory.FirstMessageID(r.Timestamp)), int64(memory.Everywhere)).Scan(new(int)))
}

// momentOf is when a record's question was asked, as an id of a message: what falls under an order that ends later.
func momentOf(r memory.Record) memory.MessageID {
	if r.Question != 0 {
		return r.Question
	}
	return memory.FirstMessageID(r.Timestamp)
}

// recordMade is when a row of record was made, as an id of a message, and recordMoment its momentOf.
var (
	recordMade   = fmt.Sprintf("((at - %d) << 22)", memory.MessageID(0).Time().UnixMilli())
	recordMoment = "CASE question WHEN 0 THEN " + recordMade + " ELSE question END"
)

// dropRecords takes the records away that a condition holds for, and tells how many.
func (t *transaction) dropRecords(where string, args ...any) (n int, err error) {
	if err := t.exec("DELETE FROM record WHERE "+where, args...); err != nil {
		return 0, err
	}
	if err := t.row("SELECT changes()").Scan(&n); err != nil {
		return 0, err
	}
	t.changed.text = t.changed.text || n > 0
	return n, nil
}

// countRecords counts those that there are, so that it can be told how many went, with whatever.
func (b *beginning) countRecords() error {
	return b.row("SELECT count(*) FROM record").Scan(&b.records)
}

// dropCoveredRecords takes away the records that fall under the order, those of doomed questions and answers, and those
// that name somebody of whom everything is forgotten. What is asked at the command line may name people of any guild.
func (b *beginning) dropCoveredRecords() error {
	_, err := b.dropRecords("channel IN (SELECT value FROM json_each(?1)) AND ?3 IN (0, asker) AND ("+recordMoment+" < ?2 OR ?3 = 0 AND answer <> 0 AND answer < ?2)", b.args()...)
	if err != nil {
		return err
	}
	if b.of.user != 0 {
		for _, message := range []string{"question", "answer"} {
			if _, err := b.dropRecords("("+message+", channel) IN (SELECT m.id, c.id "+doomedHere+") AND "+message+" <> 0", b.id); err != nil {
				return err
			}
		}
		if b.of.channel == 0 && b.of.whole {
			if _, err := b.dropRecords("(?2 IN (guild, ?3) OR guild = ?4) AND EXISTS (SELECT 1 FROM json_each(named) WHERE value = ?1) AND "+recordMade+" < ?5",
				int64(b.of.user), int64(b.of.guild), int64(memory.Everywhere), int64(memory.LocalGuild), int64(b.of.end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellRecords tells the receipt how many records went.
func (b *beginning) tellRecords() error {
	left := 0
	err := b.row("SELECT count(*) FROM record").Scan(&left)
	b.Records = b.records - left
	return err
}

// Records implements memory.Store.
func (s *Store) Records(ctx context.Context, q memory.RecordQuery) ([]memory.Record, error) {
	direction, limit := "DESC", -1
	if q.Oldest {
		direction = "ASC"
	}
	if q.Limit > 0 {
		limit = q.Limit
	}
	until := int64(1<<63 - 1)
	if !q.Until.IsZero() {
		until = ceilMillis(q.Until)
	}
	since := int64(-1 << 63)
	if !q.Since.IsZero() {
		since = ceilMillis(q.Since)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT body FROM record WHERE channel IN (SELECT value FROM json_each(?1)) AND at >= ?2 AND at < ?3
		AND ?4 IN ('', speaker) AND ?5 IN ('', method) AND ?6 IN (0, asker) ORDER BY at `+direction+`, no `+direction+` LIMIT ?7`,
		jsonOf(q.Channels), since, until, string(q.Speaker), q.Method, int64(q.Asker), limit)
	var all []memory.Record
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var body []byte
			var r memory.Record
			if err := scan(&body); err != nil {
				return err
			}
			err := json.Unmarshal(body, &r)
			all = append(all, r)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read records of calls: %w", explain(err))
	}
	return all, nil
}

// ceilMillis is the first millisecond that isn't before t.
func ceilMillis(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms
}

// ForgetRecords implements memory.Store.
func (s *Store) ForgetRecords(ctx context.Context, l memory.RecordLimits) (int, error) {
	total, err := s.forgetRecords(ctx, l)
	if err == nil && total > 0 {
		err = s.EmptyLog(ctx)
	}
	if err != nil {
		return total, fmt.Errorf("forget old records of calls: %w", explain(err))
	}
	return total, nil
}

// forgetRecords looks up what goes while others write, and takes it away in steps. What comes meanwhile is newer, and stays.
func (s *Store) forgetRecords(ctx context.Context, l memory.RecordLimits) (total int, err error) {
	const without = 1<<63 - 1
	count, tokens := int64(without), int64(without)
	if l.Count > 0 {
		count = int64(l.Count)
	}
	if l.Tokens > 0 {
		tokens = int64(l.Tokens)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT r.call FROM (SELECT no, at, row_number() OVER newest AS nth, sum(tokens) OVER newest AS cost FROM record
		WINDOW newest AS (PARTITION BY channel ORDER BY at DESC, no DESC ROWS UNBOUNDED PRECEDING)) AS k JOIN record r ON r.no = k.no
		WHERE k.at < ? OR k.nth > ? OR k.cost > ?`,
		millis(l.Before), count, tokens)
	if err != nil {
		return 0, err
	}
	var gone []string
	err = eachRow(rows, func(scan func(...any) error) error {
		var call string
		err := scan(&call)
		gone = append(gone, call)
		return err
	})
	for err == nil && len(gone) > 0 {
		step := gone[:min(len(gone), forgetStep)]
		gone = gone[len(step):]
		calls, n := jsonOfTexts(step), 0
		err = s.writing(ctx, func(t *transaction) (err error) {
			n, err = t.dropRecords("call IN (SELECT value FROM json_each(?))", calls)
			return err
		})
		total += n
	}
	return total, err
}

func jsonOfTexts(texts []string) string {
	b, _ := json.Marshal(texts) // texts always have a JSON
	return string(b)
}

// fingerprintKey is where the key of fingerprints stands in meta.
const fingerprintKey = "fingerprints"

// FingerprintKey implements memory.Store.
func (s *Store) FingerprintKey(ctx context.Context) ([]byte, error) {
	key, err := s.fingerprintKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("key of fingerprints: %w", explain(err))
	}
	return key, nil
}

func (s *Store) fingerprintKey(ctx context.Context) ([]byte, error) {
	var stored string
	ok, err := found(s.read.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", fingerprintKey).Scan(&stored))
	if err != nil {
		return nil, err
	}
	if !ok { // or another process is making it now: the first to write it has made it
		fresh := make([]byte, memory.FingerprintKeyBytes)
		_, _ = rand.Read(fresh) // never fails
		if err := s.writing(ctx, func(t *transaction) error {
			if err := t.exec("INSERT OR IGNORE INTO meta VALUES (?, ?)", fingerprintKey, hex.EncodeToString(fresh)); err != nil {
				return err
			}
			return t.row("SELECT value FROM meta WHERE key = ?", fingerprintKey).Scan(&stored)
		}); err != nil {
			return nil, err
		}
	}
	key, err := hex.DecodeString(stored)
	if err == nil && len(key) != memory.FingerprintKeyBytes {
		err = errors.New("it is damaged")
	}
	return key, err
}
