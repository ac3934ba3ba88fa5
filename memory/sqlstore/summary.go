package sqlstore

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

// summarise notes how far a channel is summed up, and keeps the summary if all of its sources are as they
// were. Else the stretch is to be summed up again.
func (t *transaction) summarise(e memory.Summarised) error {
	c, err := t.knownChannel(e.Channel)
	if c == nil || err != nil {
		return err // forgotten with its guild
	}
	if err := t.exec("UPDATE channel SET summarised = max(summarised, ?) WHERE no = ?", int64(e.Until),
		c.no); err != nil {
		return err
	}
	if e.Summary == nil {
		if err := t.makeRoom(e); err != nil {
			return err
		}
		return t.exec("DELETE FROM summary WHERE channel = ? AND id = ? AND text IS NULL", int64(e.Channel),
			int64(e.Until))
	}
	var made int64
	known, err := Found(t.row("SELECT made FROM summary WHERE channel = ? AND id = ?", int64(e.Channel),
		int64(e.Until)).Scan(&made))
	if err != nil || known && made >= millis(e.Summary.Made) {
		return err
	}
	sources := summarySources(e.Channel, e.Summary.Sources)
	if same, err := t.areSame(c.guild, sources); err != nil {
		return err
	} else if !same {
		return t.exec(`INSERT INTO summary (channel, id, after, made, model, kind, topics)
			VALUES (?, ?, ?, 0, '', '', '') ON CONFLICT DO NOTHING`,
			int64(e.Channel), int64(e.Until), int64(e.After))
	}
	if err := t.makeRoom(e); err != nil {
		return err
	}
	if err := t.putSummary(*e.Summary, e.After); err != nil {
		return err
	}
	return t.derive(derived{kind: aSummary, guild: c.guild, channel: c.channel, id: int64(e.Until)}, sources, nil)
}

// summarySources are the messages that something was made from.
func summarySources(channel memory.ChannelID, from []memory.SummarySource) []memory.Source {
	all := make([]memory.Source, len(from))
	for i, s := range from {
		all[i] = memory.Source{Kind: memory.SourceMessage, Channel: channel, ID: int64(s.Message),
			Version: s.Edited, Repeats: true}
	}
	return all
}

// inChannel are the sources of a summary as it tells them.
func (l sourceList) inChannel() []memory.SummarySource {
	all := make([]memory.SummarySource, len(l))
	for i, s := range l {
		all[i] = memory.SummarySource{Message: memory.MessageID(s[1]), Edited: s[2]}
	}
	return all
}

// makeRoom takes away the summaries that another has taken the place of, or that the channel has no room for.
func (t *transaction) makeRoom(e memory.Summarised) error {
	for _, id := range e.Evicted {
		t.changed.Text = true
		if _, err := t.underive(derived{kind: aSummary, channel: e.Channel, id: int64(id)}); err != nil {
			return err
		}
		if err := t.exec("DELETE FROM summary WHERE channel = ? AND id = ? AND text IS NOT NULL",
			int64(e.Channel), int64(id)); err != nil {
			return err
		}
	}
	return nil
}

// putSummary writes a summary in the place of its older version.
func (t *transaction) putSummary(s memory.Summary, after memory.MessageID) error {
	topics, err := json.Marshal(s.Topics)
	if err != nil {
		return err
	}
	t.changed.Text = true // what it said before
	return t.put("summary", 2, "channel, id, after, made, model, kind, topics, text",
		int64(s.Channel), int64(s.ID), int64(after), millis(s.Made), s.Model, string(s.Kind), string(topics), s.Text)
}

// Summaries implements memory.Store.
func (s *Store) Summaries(ctx context.Context, channel memory.ChannelID) ([]memory.Summary, error) {
	if err := s.engine.Notice(ctx); err != nil {
		return nil, err
	}
	guild, _, ok := s.place(channel)
	if !ok {
		return nil, nil
	}
	all, err := list(ctx, s.engine, func(scan Scanner, next *memory.Summary) error {
		var made int64
		var topics sql.RawBytes
		var sources sourceList
		if err := scan(&next.ID, &made, &next.Model, &next.Kind, &topics, &next.Text, &sources); err != nil {
			return err
		}
		if err := json.Unmarshal(topics, &next.Topics); err != nil {
			return fmt.Errorf("the topics of summary %d: %w", next.ID, err)
		}
		next.Guild, next.Channel, next.Made, next.Sources = guild, channel, FromMillis(made), sources.inChannel()
		return nil
	}, "SELECT s.id, s.made, s.model, s.kind, s.topics, s.text, "+sourcesColumn+` FROM summary s
		JOIN derived d ON d.kind = ? AND d.place = s.channel AND d.id = s.id WHERE s.channel = ? AND s.text IS NOT NULL ORDER BY s.id`, int(aSummary), int64(channel))
	return all, s.failed(err, "read the summaries of channel %d", channel)
}

// SummaryBacklog implements memory.Store.
func (s *Store) SummaryBacklog(ctx context.Context, since memory.MessageID) ([]memory.Stretch, error) {
	all, err := list(ctx, s.engine, func(scan Scanner, next *memory.Stretch) error {
		return scan(&next.Guild, &next.Channel, &next.After, &next.Until, &next.Again)
	}, `SELECT c.guild, c.id, s.after, s.id, 1 AS again FROM summary s JOIN channel c ON c.id = s.channel
		WHERE s.text IS NULL
		UNION ALL SELECT * FROM (SELECT c.guild, c.id, iif(c.summarised > 0, c.summarised, ?1) AS after, (SELECT m.id FROM said m
			WHERE m.channel = c.no AND m.id > iif(c.summarised > 0, c.summarised, ?1) AND m.kind IN (`+
		recalledKinds+`) ORDER BY m.id DESC LIMIT 1) AS last, 0 FROM channel c) AS fresh
		WHERE last IS NOT NULL ORDER BY 5 DESC, 4, 2`, max(int64(since)-1, 0))
	return all, s.failed(err, "read what is to be summed up")
}
