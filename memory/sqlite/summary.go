package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"hark/memory"
)

// checkSummary is e with its summary as it can be stored.
func checkSummary(e memory.Summarised) (memory.Event, error) {
	if e.Channel == 0 {
		return e, errors.New("no channel is named")
	}
	if e.Summary == nil {
		return e, nil
	}
	s, err := e.Summary.Checked()
	if err == nil && (s.Channel != e.Channel || s.ID != e.Until) {
		err = errors.New("it isn't of the stretch that it is told of")
	}
	e.Summary = &s
	return e, err
}

// summarise notes how far a channel is summed up, and keeps the summary if all of its sources are as they were. Else the
// stretch is to be summed up again.
func (t *transaction) summarise(e memory.Summarised) error {
	c, err := t.knownChannel(e.Channel)
	if c == nil || err != nil {
		return err // forgotten with its guild
	}
	if err := t.exec("UPDATE channel SET summarised = max(summarised, ?) WHERE no = ?", int64(e.Until), c.no); err != nil {
		return err
	}
	gone, err := t.isTaken(e.Summary)
	if err != nil {
		return err
	}
	if e.Summary == nil || gone {
		if err := t.makeRoom(e); err != nil {
			return err
		}
		return t.exec("DELETE FROM summary WHERE channel = ? AND id = ? AND again = 1", int64(e.Channel), int64(e.Until))
	}
	var made int64
	known, err := found(t.row("SELECT made FROM summary WHERE channel = ? AND id = ?", int64(e.Channel), int64(e.Until)).Scan(&made))
	if err != nil || known && made >= millis(e.Summary.Made) {
		return err
	}
	for _, source := range e.Summary.Sources {
		m, row, err := t.stored(c, source.Message)
		if err != nil {
			return err
		}
		if row == 0 || m.doomed || millis(m.Edited) != source.Edited {
			return t.exec("INSERT OR IGNORE INTO summary (channel, id, after, made, model, kind, topics, again) VALUES (?, ?, ?, 0, '', '', '', 1)",
				int64(e.Channel), int64(e.Until), int64(e.After))
		}
	}
	if err := t.makeRoom(e); err != nil {
		return err
	}
	return t.putSummary(*e.Summary, e.After)
}

// makeRoom takes away the summaries that another has taken the place of, or that the channel has no room for.
func (t *transaction) makeRoom(e memory.Summarised) error {
	for _, id := range e.Evicted {
		if err := t.eraseSummary(e.Channel, id); err != nil {
			return err
		}
	}
	return nil
}

// isTaken reports whether a summary tells of a message of which one did that was taken away for good.
func (t *transaction) isTaken(s *memory.Summary) (bool, error) {
	if s == nil {
		return false, nil
	}
	ids := make([]memory.MessageID, len(s.Sources))
	for i, source := range s.Sources {
		ids[i] = source.Message
	}
	return found(t.row(`SELECT 1 FROM summary s WHERE s.channel = ?1 AND s.text IS NULL AND s.again = 0
		AND (s.id = ?2 OR EXISTS (SELECT 1 FROM json_each(?3) o WHERE o.value > s.after AND o.value <= s.id)) LIMIT 1`,
		int64(s.Channel), int64(s.ID), jsonOf(ids)).Scan(new(int)))
}

// putSummary writes a summary in the place of its older version.
func (t *transaction) putSummary(s memory.Summary, after memory.MessageID) error {
	topics, err := json.Marshal(s.Topics)
	if err != nil {
		return err
	}
	if err := t.exec("DELETE FROM summary_source WHERE channel = ? AND summary = ?", int64(s.Channel), int64(s.ID)); err != nil {
		return err
	}
	t.changed.text = true // what it said before
	if err := t.exec("INSERT OR REPLACE INTO summary (channel, id, after, made, model, kind, topics, text, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
		int64(s.Channel), int64(s.ID), int64(after), millis(s.Made), s.Model, string(s.Kind), string(topics), s.Text); err != nil {
		return err
	}
	for _, source := range s.Sources {
		if err := t.exec("INSERT INTO summary_source (channel, message, summary, edited) VALUES (?, ?, ?, ?)",
			int64(s.Channel), int64(source.Message), int64(s.ID), source.Edited); err != nil {
			return err
		}
	}
	return nil
}

// eraseSummary leaves nothing of a summary that is there.
func (t *transaction) eraseSummary(channel memory.ChannelID, id memory.MessageID) error {
	t.changed.text = true
	if err := t.exec("DELETE FROM summary_source WHERE channel = ? AND summary = ?", int64(channel), int64(id)); err != nil {
		return err
	}
	return t.exec("DELETE FROM summary WHERE channel = ? AND id = ? AND text IS NOT NULL", int64(channel), int64(id))
}

// takeSummary takes a summary away for good, with the answers that used it: of it only its ends stay, so that it doesn't come
// back with another id once its last message is gone. after is its beginning, where the caller knows it, or else 0.
func (t *transaction) takeSummary(channel memory.ChannelID, id, after memory.MessageID) error {
	if after == 0 {
		after = id - 1
		if _, err := found(t.row("SELECT after FROM summary WHERE channel = ? AND id = ?", int64(channel), int64(id)).Scan(&after)); err != nil {
			return err
		}
	}
	if _, err := t.deleteAnswers(`SELECT t.body FROM trace t WHERE t.channel = ?1 AND t.body LIKE '%"summaries":[%'
		AND EXISTS (SELECT 1 FROM json_each(t.body, '$.summaries') s WHERE s.value = ?2)`, int64(channel), int64(id)); err != nil {
		return err
	}
	if err := t.eraseSummary(channel, id); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO summary (channel, id, after, made, model, kind, topics, again) VALUES (?, ?, ?, 0, '', '', '', 0)",
		int64(channel), int64(id), int64(after))
}

// dropSummaries takes away the summaries that a message is a source of, and what its session was condensed to, if that is. The answers that used them have it for a source as
// well.
func (t *transaction) dropSummaries(channel memory.ChannelID, id memory.MessageID) error {
	_, err := t.dropSummariesWhere("(channel, id) IN (SELECT channel, summary FROM summary_source WHERE channel = ? AND message = ?)", int64(channel), int64(id))
	if err != nil {
		return err
	}
	return t.dropCondensed(channel, id)
}

// dropSummariesWhere takes away the summaries that a condition holds for, and tells how many. What is left of what they told of is
// to be summed up again.
func (t *transaction) dropSummariesWhere(where string, args ...any) (int, error) {
	type key struct {
		channel memory.ChannelID
		id      memory.MessageID
	}
	var dropped []key
	err := t.each(func(scan func(...any) error) error {
		var k key
		err := scan(&k.channel, &k.id)
		dropped = append(dropped, k)
		return err
	}, "UPDATE summary SET made = 0, model = '', kind = '', topics = '', text = NULL, again = 1 WHERE text IS NOT NULL AND "+where+" RETURNING channel, id", args...)
	if err != nil {
		return 0, err
	}
	for _, k := range dropped {
		t.changed.text = true
		if err := t.exec("DELETE FROM summary_source WHERE channel = ? AND summary = ?", int64(k.channel), int64(k.id)); err != nil {
			return 0, err
		}
	}
	return len(dropped), nil
}

// summaryCovered is the condition for summaries of which a source falls under an order. The arguments are the ids of the
// channels that the order is about, as JSON, its end and its user.
const summaryCovered = `(channel, id) IN (SELECT s.channel, s.summary FROM summary_source s WHERE s.channel IN (SELECT value FROM json_each(?1)) AND s.message < ?2
	AND (?3 = 0 OR EXISTS (SELECT 1 FROM channel c CROSS JOIN said m ON m.channel = c.no AND m.id = s.message WHERE c.id = s.channel AND m.author = ?3)))`

// dropCoveredSummaries takes away the summaries that fall under the order. It comes before the messages are doomed, which
// it asks for their authors.
func (b *beginning) dropCoveredSummaries() (err error) {
	b.Summaries, err = b.dropSummariesWhere(summaryCovered, b.args()...)
	return err
}

// hasSummary reports whether a channel has the summary that an answer used, made when that was.
func (t *transaction) hasSummary(channel memory.ChannelID, id memory.MessageID, made int64) (bool, error) {
	return found(t.row("SELECT 1 FROM summary WHERE channel = ? AND id = ? AND text IS NOT NULL AND made = ?", int64(channel), int64(id), made).Scan(new(int)))
}

// Summaries implements memory.Store.
func (s *Store) Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	all, err := s.summaries(ctx, channel)
	if err != nil {
		return nil, fmt.Errorf("read the summaries of channel %d: %w", channel, explain(err))
	}
	return all, nil
}

func (s *Store) summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	if err := s.notice(ctx); err != nil {
		return nil, err
	}
	guild, _, ok := s.place(channel)
	if !ok {
		return nil, nil
	}
	rows, err := s.read.QueryContext(ctx, `SELECT s.id, s.made, s.model, s.kind, s.topics, s.text, o.message, o.edited FROM summary s
		JOIN summary_source o ON o.channel = s.channel AND o.summary = s.id WHERE s.channel = ? AND s.text IS NOT NULL ORDER BY s.id, o.message`, int64(channel))
	if err != nil {
		return nil, err
	}
	var all []memory.Summary
	return all, eachRow(rows, func(scan func(...any) error) error {
		next := memory.Summary{Guild: guild, Channel: channel}
		var made int64
		var topics sql.RawBytes
		var source memory.SummarySource
		if err := scan(&next.ID, &made, &next.Model, &next.Kind, &topics, &next.Text, &source.Message, &source.Edited); err != nil {
			return err
		}
		if n := len(all); n == 0 || all[n-1].ID != next.ID {
			next.Made = fromMillis(made)
			if err := json.Unmarshal(topics, &next.Topics); err != nil {
				return fmt.Errorf("the topics of summary %d: %w", next.ID, err)
			}
			all = append(all, next)
		}
		last := &all[len(all)-1]
		last.Sources = append(last.Sources, source)
		return nil
	})
}

// Unsummarised implements memory.Store.
func (s *Store) Unsummarised(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT c.guild, c.id, s.after, s.id, 1 AS again FROM summary s JOIN channel c ON c.id = s.channel
		WHERE s.again = 1
		UNION ALL SELECT * FROM (SELECT c.guild, c.id, iif(c.summarised > 0, c.summarised, ?1) AS after, (SELECT m.id FROM said m
			WHERE m.channel = c.no AND m.id > iif(c.summarised > 0, c.summarised, ?1) AND m.kind IN (`+recalledKinds+`) ORDER BY m.id DESC LIMIT 1) AS last, 0 FROM channel c)
		WHERE last IS NOT NULL ORDER BY 5 DESC, 4, 2`, max(int64(since)-1, 0))
	var all []memory.Stretch
	if err == nil {
		err = eachRow(rows, func(scan func(...any) error) error {
			var next memory.Stretch
			err := scan(&next.Guild, &next.Channel, &next.After, &next.Until, &next.Again)
			all = append(all, next)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read what is to be summed up: %w", explain(err))
	}
	return all, nil
}

// takeOldSummaries takes away the summaries that the database that is replaced knows to be gone for good.
func (t *transaction) takeOldSummaries(r *Restored) error {
	type key struct {
		channel   memory.ChannelID
		id, after memory.MessageID
	}
	var gone []key
	err := t.each(func(scan func(...any) error) error {
		var k key
		err := scan(&k.channel, &k.id, &k.after)
		gone = append(gone, k)
		return err
	}, `SELECT channel, id, after FROM old.summary o WHERE o.text IS NULL AND o.again = 0 AND NOT EXISTS
		(SELECT 1 FROM main.summary s WHERE s.channel = o.channel AND s.id = o.id AND s.text IS NULL AND s.again = 0)`)
	if err != nil {
		return err
	}
	for _, k := range gone {
		if err := t.takeSummary(k.channel, k.id, k.after); err != nil {
			return err
		}
	}
	r.Summaries += len(gone)
	return nil
}
